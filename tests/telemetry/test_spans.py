"""What OpenTelemetry's SDK is told of calls: one span a call, its requests under it, whatever the ending."""

import asyncio
from typing import Any, get_args

import anyio
import pytest
from opentelemetry.trace import SpanKind, StatusCode, get_current_span
from told_calls import (
    BY_NAME,
    CANARY,
    ENDINGS,
    GOOD,
    STOP,
    TEXT,
    Ending,
    Pay,
    Telemetry,
    client_of,
    pay,
    told,
)

from commitgate.backends.base import Sampling
from commitgate.contract import Contract
from commitgate.effect import EffectContext
from commitgate.errors import KeyConflictError
from commitgate.gate.check_context import CheckContext
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed, Failed
from commitgate.retry import Retry
from commitgate.telemetry.content import MAX_CONTENT_CHARACTERS

pytestmark = pytest.mark.anyio


def test_endings_of_these_tests_are_all_there_are() -> None:
    assert {each.outcome for each in ENDINGS} == {each.name for each in (Committed, *get_args(Failed))}


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.outcome)
async def test_every_ending_ends_its_span_with_its_name(ending: Ending) -> None:
    telemetry, outcome, _ = await told(ending)
    assert outcome.name == ending.outcome
    span = telemetry.call
    attributes = dict(span.attributes or {})
    assert span.end_time is not None
    assert attributes["commitgate.outcome"] == ending.outcome
    assert (span.status.status_code is StatusCode.ERROR) == ending.is_error
    assert attributes.get("error.type") == (ending.outcome if ending.is_error else None)
    assert span.status.description is None
    assert attributes["commitgate.contract.name"] == "Pay" if ending.outcome != "compile_failed" else True
    requests = telemetry.named("commitgate request")
    assert len(requests) == (0 if ending.outcome == "compile_failed" else 1)
    assert all(each.parent is not None and each.parent.span_id == span.context.span_id for each in requests)


async def test_span_of_a_call_carries_the_words_of_the_conventions() -> None:
    telemetry, ledger = Telemetry(), MemoryLedger()
    sampling = Sampling(temperature=0.5, top_k=4, top_p=0.9, seed=7, max_tokens=99)
    contract = Contract.of(Pay, version="3")
    async with client_of(GOOD, telemetry.observers, ledger) as client:
        await client.generate_structured("scripted/model", contract, prompt="x", sampling=sampling, operation_key="k")
    span = telemetry.call
    assert (span.name, span.kind) == ("chat model", SpanKind.CLIENT)
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "model",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_k": 4,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.seed": 7,
        "gen_ai.request.max_tokens": 99,
        "gen_ai.output.type": "json",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 12,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "commitgate.contract.version": "3",
        "commitgate.contract.digest": contract.full_digest,
        "commitgate.contract.language_digest": contract.language_digest,
        "commitgate.legal_mass.min": 0.5,
        "commitgate.compile.result": "compiled",
        "commitgate.ledger.state": "committed",
        "commitgate.replayed": False,
    }
    assert expected.items() <= dict(span.attributes or {}).items()


async def test_failed_layer_is_named() -> None:
    telemetry, _, _ = await told(BY_NAME["invalid"])
    attributes = telemetry.call.attributes or {}
    assert attributes["commitgate.layer"] == attributes["commitgate.outcome.detail"] == "rules"
    assert "rules" not in attributes["commitgate.layers.passed"]  # type: ignore[operator]


async def test_span_hangs_under_the_one_that_was_current_where_the_call_was_made() -> None:
    telemetry = Telemetry()
    async with client_of(GOOD, telemetry.observers) as client:
        with telemetry.tracer.start_as_current_span("shop") as shop:
            await client.generate_structured("scripted", Pay, prompt="x")
            assert get_current_span() is shop
    assert telemetry.call.parent is not None
    assert telemetry.call.parent.span_id == shop.get_span_context().span_id


async def test_spans_of_checks_hang_under_the_request_and_those_of_the_effect_under_the_call() -> None:
    telemetry = Telemetry()

    def rule(value: Pay) -> None:
        with telemetry.tracer.start_as_current_span("rule"):
            del value

    async def allow(value: Pay, context: CheckContext) -> bool:
        del value, context
        with telemetry.tracer.start_as_current_span("authorize"):
            return True

    async def send(value: Pay, context: EffectContext) -> None:
        del value, context
        with telemetry.tracer.start_as_current_span("effect"):
            await anyio.lowlevel.checkpoint()

    async with client_of(GOOD, telemetry.observers) as client:
        await client.generate_structured(
            "scripted", Pay, prompt="x", rules=[rule], authorize=allow, effect=send, operation_key="k"
        )
    (request,) = telemetry.named("commitgate request")
    parents = {span.name: span.parent.span_id for span in telemetry.spans if span.parent is not None}
    assert parents["rule"] == parents["authorize"] == request.context.span_id
    assert parents["effect"] == telemetry.call.context.span_id


async def test_each_retry_has_a_span_of_its_own_and_none_fails_the_call() -> None:
    telemetry = Telemetry()
    busy: Any = [{"fault": "overload", "status": 503, "request_id": "req-1"}]
    async with client_of(busy, telemetry.observers, then=[GOOD]) as client:
        retry = Retry(backoff_s=0.001, backoff_most_s=0.001)
        await client.generate_structured("scripted", Pay, prompt="x", retry=retry)
    first, second = telemetry.named("commitgate request")
    assert (
        dict(first.attributes or {}).items()
        >= {
            "commitgate.request.number": 1,
            "commitgate.request.ending": "unavailable",
            "commitgate.request.detail": "overload",
            "commitgate.request.status": 503,
            "commitgate.request.id": "req-1",
            "error.type": "unavailable",
        }.items()
    )
    assert first.status.status_code is StatusCode.ERROR
    assert (second.attributes or {})["commitgate.request.number"] == 2
    assert second.status.status_code is telemetry.call.status.status_code is StatusCode.UNSET
    assert (telemetry.call.attributes or {})["commitgate.attempts"] == 2


async def test_calls_at_once_do_not_mix_their_spans() -> None:
    telemetry = Telemetry()
    async with client_of(GOOD, telemetry.observers, then=[GOOD] * 4) as client, anyio.create_task_group() as tasks:

        async def one(number: int) -> None:
            with telemetry.tracer.start_as_current_span(f"task {number}"):
                await client.generate_structured("scripted", Pay, prompt="x")

        for number in range(4):
            tasks.start_soon(one, number)
    calls = [span for span in telemetry.spans if "commitgate.call.id" in (span.attributes or {})]
    assert len({span.context.trace_id for span in calls}) == 4
    by_id = {span.context.span_id: span for span in telemetry.spans}
    for request in telemetry.named("commitgate request"):
        assert request.parent is not None
        assert by_id[request.parent.span_id].context.trace_id == request.context.trace_id


async def test_replay_makes_no_request_and_repeats_no_usage() -> None:
    telemetry, ledger = Telemetry(), MemoryLedger()
    async with client_of(GOOD, telemetry.observers, ledger) as client:
        for _ in range(2):
            await BY_NAME["committed"].run(client)
    first, again = (span for span in telemetry.spans if "commitgate.call.id" in (span.attributes or {}))
    assert len(telemetry.named("commitgate request")) == 1
    attributes = dict(again.attributes or {})
    assert attributes["commitgate.replayed"] is True
    assert attributes["commitgate.ledger.state"] == "committed"
    assert not any(name.startswith(("gen_ai.usage", "gen_ai.response")) for name in attributes)
    measured = {"commitgate.attempts", "commitgate.compile.time", "commitgate.layers.passed"}
    assert measured <= (first.attributes or {}).keys()
    assert not measured & attributes.keys()
    same = "commitgate.operation_key.digest"
    assert attributes[same] == (first.attributes or {})[same]


async def test_approved_value_goes_on_in_a_span_of_its_own() -> None:
    telemetry, ledger = Telemetry(), MemoryLedger()
    async with client_of(GOOD, telemetry.observers, ledger) as client:
        await BY_NAME["needs_approval"].run(client, effect=pay)
        await client.approve(f"key {CANARY}", by="ann")
    asked, went_on = (span for span in telemetry.spans if "commitgate.call.id" in (span.attributes or {}))
    assert (asked.attributes or {})["commitgate.ledger.state"] == "awaiting_approval"
    assert (went_on.name, went_on.kind) == ("commitgate call", SpanKind.INTERNAL)
    attributes = went_on.attributes or {}
    assert (attributes["commitgate.outcome"], attributes["commitgate.ledger.state"]) == ("committed", "committed")
    assert (attributes["commitgate.call.kind"], attributes["commitgate.effect.name"]) == ("stored", "told_calls.pay")


async def test_call_that_raises_tells_the_type_alone() -> None:
    telemetry, ledger = Telemetry(), MemoryLedger()
    async with client_of(GOOD, telemetry.observers, ledger, then=[GOOD]) as client:
        await client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
        with pytest.raises(KeyConflictError):
            await client.generate_structured("scripted", Pay, prompt="y", operation_key="k")
    raised = telemetry.spans[-1]
    attributes = raised.attributes or {}
    assert (attributes["commitgate.outcome"], attributes["error.type"]) == ("raised", "KeyConflictError")
    assert raised.status.status_code is StatusCode.ERROR
    assert raised.events == ()


async def test_backend_that_breaks_leaves_no_span_open() -> None:
    telemetry = Telemetry()
    script: Any = [{"text": TEXT[:14]}, {"raise": RuntimeError(CANARY)}]
    async with client_of(script, telemetry.observers) as client:
        with pytest.raises(RuntimeError):
            await client.generate_structured("scripted", Pay, prompt="x")
    (request,) = telemetry.named("commitgate request")
    assert (request.attributes or {})["error.type"] == "RuntimeError"
    assert (telemetry.call.attributes or {})["error.type"] == "RuntimeError"
    assert CANARY not in telemetry.everything()


async def test_scope_that_is_cancelled_ends_the_span() -> None:
    telemetry = Telemetry()
    async with client_of([{"text": TEXT[:14]}, {"wait": None}], telemetry.observers) as client:
        with anyio.CancelScope() as scope:
            async with client.stream_structured("scripted", Pay, prompt="x") as run:
                async for _ in run:
                    scope.cancel()
                await run.outcome()
    assert (telemetry.call.attributes or {})["commitgate.outcome"] == "cancelled"
    assert telemetry.call.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_task_that_is_cancelled_natively_ends_the_span() -> None:
    telemetry = Telemetry()
    async with client_of([{"text": TEXT[:14]}, {"wait": None}], telemetry.observers) as client:
        call = asyncio.ensure_future(client.generate_structured("scripted", Pay, prompt="x"))
        await anyio.wait_all_tasks_blocked()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert (telemetry.call.attributes or {})["commitgate.outcome"] == "cancelled"


@pytest.mark.parametrize("which", ["name", "digest"])
async def test_content_is_told_of_the_contracts_that_were_named_and_of_no_other(which: str) -> None:
    digest = Contract.of(Pay).full_digest
    telemetry = Telemetry(content_of=["Pay" if which == "name" else digest])
    other = {"type": "object", "title": "Other", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    script: Any = [{"text": '{"to": "' + CANARY + '"}'}, STOP]
    async with client_of(GOOD, telemetry.observers, then=[script]) as client:
        await client.generate_structured("scripted", Pay, prompt=f"give {CANARY}")
        await client.generate_structured("scripted", other, prompt=CANARY)
    told_of, silent = (span for span in telemetry.spans if "commitgate.call.id" in (span.attributes or {}))
    with_input, without = telemetry.named("commitgate request")
    assert TEXT.replace('"', '\\"') in str((told_of.attributes or {})["gen_ai.output.messages"])
    assert f"give {CANARY}" in str((with_input.attributes or {})["gen_ai.input.messages"])
    assert CANARY not in silent.to_json() + without.to_json()


async def test_content_is_bounded() -> None:
    telemetry = Telemetry(content_of=["Pay"])
    long: Any = [{"text": '{"amount":1,"to":"' + "x" * 3 * MAX_CONTENT_CHARACTERS + '"}'}, STOP]
    async with client_of(long, telemetry.observers) as client:
        messages: Any = [{"role": "user", "content": "y" * MAX_CONTENT_CHARACTERS} for _ in range(3)]
        await client.generate_structured("scripted", Pay, messages=messages)
    (request,) = telemetry.named("commitgate request")
    slack = 1_000  # names, and a backslash before each quote
    assert len(str((telemetry.call.attributes or {})["gen_ai.output.messages"])) < MAX_CONTENT_CHARACTERS + slack
    assert len(str((request.attributes or {})["gen_ai.input.messages"])) < MAX_CONTENT_CHARACTERS + slack
