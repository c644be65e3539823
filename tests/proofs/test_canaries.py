"""Strings that must stay where they are: put everywhere into a call, looked for in all that a program could log.

Each ending is brought about once with and once without a watcher. Then every public object that the call left behind is
written out in every way, exceptions with their traces, and all logs down to DEBUG.
"""

import logging
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
from pydantic import BaseModel, field_validator

from commitgate import Client, Contract, EffectRejected, RuleViolation, Timeouts
from commitgate.backends.base import Message
from commitgate.effect import EffectContext
from commitgate.errors import CommitgateError, EndingError
from commitgate.gate.check_context import CheckContext
from commitgate.ledger import MemoryLedger
from commitgate.limits import Limits
from commitgate.outcome import Committed, Failed
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

CANARIES = {
    place: f"canary-{place}-4711"
    for place in ("prompt", "system", "operation", "fingerprint", "principal", "key", "value", "refusal", "result")
}
KEY, VALUE, REFUSAL = CANARIES["key"], CANARIES["value"], CANARIES["refusal"]


class Secret(BaseModel):
    amount: int
    notes: dict[str, str]

    @field_validator("amount")
    @classmethod
    def small(cls, amount: int) -> int:
        if amount > 1_000:
            raise ValueError(f"too much beside {VALUE}")
        return amount


TEXT = f'{{"amount":1,"notes":{{"{KEY}":"{VALUE}"}}}}'
STOP: Step = {"finish": "stop"}
GOOD: list[Step] = [{"text": TEXT}, STOP]


async def store(value: Secret, context: EffectContext) -> str:
    SEEN.append(context)
    return CANARIES["result"]


async def reject(value: Secret, context: EffectContext) -> str:
    raise EffectRejected(CANARIES["result"])


async def break_down(value: Secret, context: EffectContext) -> str:
    raise RuntimeError("downstream broke")


SEEN: list[object] = []


def refuse(value: Secret) -> RuleViolation:
    return RuleViolation("no", "refused", data={"found": value.notes})


def break_rule(value: Secret) -> None:
    raise KeyError(VALUE)


def deny(value: Secret, context: CheckContext) -> bool:
    SEEN.append(context)
    return False


def unproven(value: Secret, context: CheckContext) -> RuleViolation:
    SEEN.append(context)
    return RuleViolation("unproven", "no such record", data=VALUE)


def needs_person(value: Secret, context: CheckContext) -> bool:
    SEEN.append(context)
    return True


@dataclass(frozen=True)
class Case:
    """Say what a call does, and which ending it has."""

    wanted: str
    script: list[Step] = field(default_factory=lambda: GOOD)
    options: dict[str, Any] = field(default_factory=dict)
    schema: Any = Secret
    cancels: bool = False


CASES = {
    "committed": Case("committed"),
    "committed, no effect": Case("committed", options={"effect": None, "operation_key": None}),
    "bare end": Case("disconnected", [{"text": TEXT}]),
    "line lost": Case("disconnected", [{"text": TEXT[:-2]}, {"close": "rst"}]),
    "length": Case("truncated", [{"text": TEXT}, {"finish": "length"}]),
    "filter": Case("filtered", [{"text": TEXT}, {"finish": "content_filter"}]),
    "refusing words": Case("refused", [{"text": TEXT}, {"refusal": REFUSAL}, STOP]),
    "refusing prose": Case("refused", [{"text": REFUSAL}, {"finish": "refusal"}]),
    "unfinished": Case("violated", [{"text": TEXT[:-2]}, STOP]),
    "prose": Case("violated", [{"text": VALUE}, STOP]),
    "more behind it": Case("violated", [{"text": TEXT + VALUE}, STOP]),
    "not the schema's": Case("violated", [{"text": TEXT.replace(":1", f':"{VALUE}"')}]),
    "too long": Case("violated", schema=Contract.of(Secret, limits=Limits(text_bytes=40))),
    "equal keys": Case("invalid", [{"text": TEXT.replace("}}", f',"{KEY}":"x"}}}}')}, STOP]),
    "schema": Case("invalid", [{"text": TEXT.replace(":1", f':"{VALUE}"')}, STOP]),
    "schema inside": Case("invalid", [{"text": TEXT.replace(f'"{VALUE}"', "1")}, STOP]),
    "type": Case("invalid", [{"text": TEXT.replace(":1", ":1001")}, STOP]),
    "rule": Case("invalid", options={"rules": [refuse]}),
    "broken rule": Case("invalid", options={"rules": [break_rule]}),
    "content": Case("invalid", options={"content": [refuse]}),
    "evidence": Case("invalid", options={"evidence": [unproven]}),
    "authorize": Case("invalid", options={"authorize": deny}),
    "approve": Case("needs_approval", options={"approve": needs_person}),
    "effect rejects": Case("effect_failed", options={"effect": reject}),
    "effect breaks": Case("in_doubt", options={"effect": break_down}),
    "fault": Case("unavailable", [{"text": TEXT}, {"fault": "server", "message": "HTTP 500", "status": 500}]),
    "unknown word": Case("unavailable", [{"text": TEXT}, {"finish": "eos_maybe"}]),
    "late text": Case("unavailable", [*GOOD, {"text": VALUE}]),
    "dead end": Case("dead_end", [{"text": TEXT}, {"dead_end": "tokenizer"}]),
    "silence": Case("timed_out", [{"text": TEXT}, {"wait": None}], {"timeouts": Timeouts(idle_s=0.02)}),
    "cancelled": Case("cancelled", [{"text": TEXT}, {"wait": None}], cancels=True),
    "unsupported": Case("unsupported", schema={"type": "string", "pattern": r"(a)\1"}),
    "unbuildable": Case("compile_failed", schema={"type": "string", "minLength": -1}),
}


def written(thing: object) -> Iterator[str]:
    """Yield a thing in every way in which it may be written."""
    yield repr(thing)
    yield str(thing)
    yield f"{thing}"
    if isinstance(thing, BaseException):
        yield "".join(traceback.format_exception(thing))
        yield "".join(traceback.TracebackException.from_exception(thing).format(chain=True))
    summary = getattr(thing, "summary", None)
    if callable(summary):
        yield str(summary())
    for name in ("receipt", "outcome"):
        if not isinstance(thing, type) and (inner := getattr(thing, name, None)) is not None and not callable(inner):
            yield repr(inner)


def test_every_ending_there_is_has_a_case() -> None:
    assert {case.wanted for case in CASES.values()} == {kind.name for kind in (Committed, *get_args(Failed))}


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "unwatched"])
@pytest.mark.parametrize("name", CASES)
async def test_nothing_that_a_call_leaves_behind_shows_what_went_through_it(
    name: str, is_watched: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    caplog.set_level(logging.DEBUG)
    SEEN.clear()
    backend, ledger = ScriptedBackend(case.script), MemoryLedger()
    options: dict[str, Any] = {
        "messages": [Message("user", CANARIES["prompt"])],
        "system": CANARIES["system"],
        "principal": CANARIES["principal"],
        "effect": store,
        "operation_key": CANARIES["operation"],
        "input_fingerprint": CANARIES["fingerprint"],
        **case.options,
    }
    if options["operation_key"] is None:
        del options["input_fingerprint"]
    things: list[object] = [backend, ledger]
    async with Client(backends={"scripted": backend}, ledger=ledger) as client:
        things.append(client)
        if is_watched or case.cancels:
            async with client.stream_structured("scripted", case.schema, **options) as run:
                things.append(run)
                async for item in run:
                    things.append(item)
                    if case.cancels:
                        run.cancel()
                outcome = await run.outcome()
                things.append(run)
        else:
            outcome = await client.generate_structured("scripted", case.schema, **options)
        things += [Contract.of(Secret), CheckContext(principal=CANARIES["principal"])]
        if outcome.name == "committed" and options["operation_key"] is not None:
            with pytest.raises(CommitgateError) as conflict:
                await client.generate_structured("scripted", {"type": "integer"}, **options)
            replayed = await client.generate_structured("scripted", case.schema, **options)
            things += [conflict.value, replayed, replayed.receipt]
    assert outcome.name == case.wanted
    things += [outcome, outcome.receipt, *outcome.receipt.layers, *backend.requests, *SEEN]
    things += [failure for record in outcome.receipt.layers for failure in record.failures]
    if not isinstance(outcome, Committed):
        with pytest.raises(EndingError) as ending:
            outcome.unwrap()
        things.append(ending.value)
    streams = capfd.readouterr()
    texts = [text for thing in things for text in written(thing)] + [caplog.text, streams.out, streams.err]
    hits = {(place, text[:300]) for place, canary in CANARIES.items() for text in texts if canary in text}
    assert hits == set()


def test_canary_would_be_found_where_it_is_shown() -> None:
    with pytest.raises(ValueError, match="canary") as raised:
        raise ValueError(VALUE)
    assert all(VALUE in text for text in written(raised.value))
