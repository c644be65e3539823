"""Streams that were reported from the field, and the ending that each must have."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ending_words import is_named, kind_of
from scripts import PAY, client_with

from commitgate.backends.base import Sampling
from commitgate.contract import Contract
from commitgate.effect import EffectContext
from commitgate.errors import UnsupportedError
from commitgate.gate.rules import RuleViolation
from commitgate.limits import Limits
from commitgate.outcome import Committed, Invalid, Outcome, Unavailable, Unsupported, Violated
from commitgate.preview import Preview
from commitgate.testing import Chunking, FaultPoint, ScriptedBackend, Step, fake_time
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

GIVEN: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("given_cases.json").read_text("utf-8"))
PLENTY = 10_000
"""Most bytes of an answer here: endless text ends soon."""


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


class Counted:
    """An effect that counts its runs."""

    effect_name = "counted"

    def __init__(self) -> None:
        self.runs = 0

    async def __call__(self, value: object, context: EffectContext) -> None:
        self.runs += 1


class Checked:
    """A rule of one of three sorts that counts its calls."""

    def __init__(self, sort: str) -> None:
        self.calls = 0
        self._sort = sort

    async def __call__(self, payment: Any) -> RuleViolation | None:
        self.calls += 1
        if self._sort == "crash":
            raise ZeroDivisionError
        if self._sort == "limit" or payment["amount"] <= 0:
            return RuleViolation("limit", "the amount is out of bounds", "/amount")
        return None


async def play(case: dict[str, Any], chunking: Chunking) -> tuple[Outcome[Any, Any], dict[str, object]]:
    """Make the call of one case; return how it ended and what was seen of it."""
    script: list[Step] = case.get("script") or [{"text": case["text"]}, {"finish": "stop"}]
    backend, previews, effect = ScriptedBackend(script, chunking=chunking), list[object](), Counted()
    schema = case.get("schema", PAY)
    rule = Checked(case.get("rule", "positive"))
    async with (
        client_with(backend) as client,
        client.stream_structured(
            "scripted",
            Contract.of(schema, limits=Limits(text_bytes=PLENTY)),
            prompt="x",
            effect=effect,
            operation_key="k",
            rules=[rule] if schema is PAY else None,
            sampling=Sampling(max_tokens=case.get("max_tokens", 512)),
            timeouts=Timeouts(**case.get("timeouts", {})),
        ) as run,
    ):
        async for item in run:
            assert isinstance(item, Preview)
            previews.append([item.value] if item.has_value else [])
        outcome = await run.outcome()
    assert backend.open_streams == 0
    seen = {"commits": effect.runs, "requests": len(backend.requests), "rule_calls": rule.calls}
    return outcome, {**seen, **facts(outcome), "last_preview": previews[-1] if previews else None}


def facts(outcome: Outcome[Any, Any]) -> dict[str, object]:
    """Return what an ending tells, by the names that the cases use."""
    return {
        "accept_state": outcome.receipt.is_accept_state,
        "warnings": list(outcome.receipt.warnings),
        "kind": kind_of(outcome),
        "phase": kind_of(outcome),
        "value": outcome.value if isinstance(outcome, Committed) else None,
        "pointers": [each.pointer for each in outcome.failures] if isinstance(outcome, Invalid) else None,
        "position": outcome.position if isinstance(outcome, Violated) else None,
        "code": outcome.code if isinstance(outcome, Unavailable) else None,
    }


CASES = [*GIVEN["endings"], *GIVEN["validations"]]


@pytest.mark.parametrize("chunking", ["whole", "bytes", Random(3)], ids=["whole", "bytes", "random"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_stream_has_its_ending(case: dict[str, Any], chunking: Chunking) -> None:
    outcome, seen = await play(case, chunking)
    wanted = dict(case["wanted"])
    assert is_named(outcome, wanted.pop("word")), outcome
    assert {key: seen[key] for key in wanted} == wanted


async def test_pings_do_not_hide_that_nothing_is_written() -> None:
    pings: Step = {"repeat": {"ping": True, "every_s": 15, "for_s": 3_000}}
    outcome, seen = await play({"script": [pings], "timeouts": {"idle_s": 60, "progress_s": 100}}, "whole")
    assert is_named(outcome, "timeout")
    assert seen["phase"] == "progress"


async def test_preview_shows_no_default_in_place_of_what_is_being_written() -> None:
    schema = {"properties": {"to": {"type": "string"}, "dry_run": {"type": "boolean", "default": False}}}
    outcome, seen = await play({"schema": schema, "script": [{"text": '{"to":"bob","dry_run":tr'}]}, "whole")
    assert seen["last_preview"] == [{"to": "bob"}]
    assert is_named(outcome, "interrupted")


async def test_preview_that_is_changed_changes_no_value() -> None:
    backend = ScriptedBackend([{"text": '{"amount":100,"to":"bob"}'}, {"finish": "stop"}])
    async with client_with(backend) as client, client.stream_structured("scripted", PAY, prompt="x") as run:
        async for item in run:
            assert isinstance(item, Preview)
            value: Any = item.value
            change: Callable[[str, int], None] = value.__setitem__
            with pytest.raises(TypeError):
                change("amount", 1)
        outcome = await run.outcome()
    assert isinstance(outcome, Committed)
    assert outcome.value == {"amount": 100, "to": "bob"}


async def test_backend_that_cannot_enforce_the_schema_sends_nothing() -> None:
    recursive = {"$ref": "#/$defs/N", "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}}}}}
    reason = "references to themselves are not enforced here"
    error = UnsupportedError(reason, pointer="/$ref", keyword="$ref", reason=reason)
    backend = ScriptedBackend([], fault_at={FaultPoint.BEFORE_OPEN: error})
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", recursive, prompt="x")
    assert isinstance(outcome, Unsupported)
    assert backend.requests == []
