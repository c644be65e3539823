"""Turns of tools that were reported from the field, sent over a real line: which tools run on each, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from backends.remote.given_calls import DONE, EOF, RST, STOP, asking
from backends.remote.wire_script import Script, playing
from client.ending_words import is_named
from tools.till import Till

from commitgate import Committed, Retry
from commitgate.outcome import Invalid
from commitgate.tools import tool

pytestmark = pytest.mark.anyio


def call(args: str, *, i: int = 0, id: str | None = "c1", name: str | None = "pay") -> dict[str, Any]:
    return {"tool": {"i": i, "id": id, "name": name, "args": args}}


CALLS = {"finish": "tool_calls"}
PARALLEL: Script = [call('{"amount":5}'), call('{"amount":7', i=1, id="c2"), {"finish": "max_tokens"}, DONE]
EAGER: Script = [
    call('{"amount":5}'),
    {"event": {"type": "content_block_stop", "index": 0}},
    {"finish": "refusal"},
    DONE,
]
# A strict server writes every argument: null stands for one that is left out.
PAID = '{"amount":100,"to":null}'
TURNS: dict[str, tuple[str, Script, str, list[tuple[int, str]]]] = {
    "ends in a number": ("anthropic_messages", [call('{"amount": 1'), EOF], "truncated_stream", []),
    "ends after whole arguments": ("openai_chat", [call(PAID), EOF], "truncated_stream", []),
    "line breaks in a call": ("openai_chat", [call(PAID), RST], "connection_lost", []),
    "cut after whole arguments": ("openai_chat", [call(PAID), {"finish": "length"}, DONE], "truncated_length", []),
    "whole": (
        "openai_chat",
        [call(PAID[:11]), call(PAID[11:], id=None, name=None), CALLS, DONE],
        "committed",
        [(100, "me")],
    ),
    "second of two is cut": ("anthropic_messages", PARALLEL, "truncated_length", []),
    "refused after a whole call": ("anthropic_messages", EAGER, "refused", []),
    "two calls on one index": ("openai_chat", [call(PAID), call(PAID, id="c2"), CALLS, DONE], "protocol_error", []),
    "name in two pieces": (
        "openai_chat",
        [call("", name="pa"), call(PAID, id=None, name="y"), CALLS, DONE],
        "committed",
        [(100, "me")],
    ),
    "name sent again": ("openai_chat", [call(PAID[:9]), call(PAID[9:]), CALLS, DONE], "committed", [(100, "me")]),
    "number that no double holds": (
        "openai_chat",
        [call('{"amount":9007199254740993,"to":null}'), CALLS, DONE],
        "committed",
        [(9007199254740993, "me")],
    ),
    "whole on another wire": (
        "anthropic_messages",
        [call('{"amount":1'), call("00}"), {"finish": "tool_use"}, DONE],
        "committed",
        [(100, "me")],
    ),
}


@pytest.mark.parametrize(("dialect", "script", "word", "paid"), TURNS.values(), ids=TURNS)
async def test_turn_runs_what_it_must_and_has_its_ending(
    dialect: str, script: Script, word: str, paid: Sequence[tuple[int, str]]
) -> None:
    till = Till()
    answer: Script = [{"text": "Done."}, STOP, DONE]
    async with asking(playing(dialect, script, answer), dialect=dialect) as (client, server):
        with anyio.fail_after(30):
            outcome = await client.run_tools(
                "far/m", tools=[till.tool()], prompt="pay", operation_key="k", retry=Retry(attempts=1)
            )
    assert is_named(outcome, word), outcome
    assert till.paid == list(paid)
    assert len(server.asked) == (2 if paid else 1)


@pytest.mark.parametrize(
    ("piece", "code", "pointer"),
    [
        (call("{}", name="rm_rf"), "unknown_tool", "/calls/0/name"),
        (call('{"amount":"ten","to":"bob"}'), "type", "/calls/0/arguments/amount"),
    ],
    ids=["tool that does not exist", "argument of another type"],
)
@pytest.mark.parametrize(("dialect", "word"), [("openai_chat", "tool_calls"), ("anthropic_messages", "tool_use")])
async def test_call_that_was_not_offered_runs_nothing(
    dialect: str, word: str, piece: dict[str, Any], code: str, pointer: str
) -> None:
    paid: list[int] = []

    def pay(amount: int, to: str) -> None:
        del to
        paid.append(amount)

    async with asking(playing(dialect, [piece, {"finish": word}, DONE]), dialect=dialect) as (client, server):
        outcome = await client.run_tools(
            "far/m", tools=[tool(effect="once")(pay)], prompt="pay", operation_key="k", retry=Retry(attempts=1)
        )
    assert is_named(outcome, "schema_invalid"), outcome
    assert isinstance(outcome, Invalid)
    assert [(each.code, each.pointer) for each in outcome.failures] == [(code, pointer)]
    assert (paid, len(server.asked)) == ([], 1)


async def test_call_of_a_dropped_attempt_is_not_joined_to_the_next() -> None:
    till = Till()
    answer: Script = [{"text": "nothing to pay"}, STOP, DONE]
    async with asking(playing("openai_chat", [call('{"amount":5'), RST], answer)) as (client, server):
        outcome = await client.run_tools(
            "far/m", tools=[till.tool()], prompt="pay", operation_key="k", retry=Retry(restarts=1)
        )
    assert isinstance(outcome, Committed)
    assert (outcome.result, till.paid, len(server.asked)) == ((), [], 2)
