"""Runs of tools: a span for each turn and one for each call of a tool, also of one that only reads."""

import json
from typing import Any

import anyio
import pytest
from opentelemetry.trace import SpanKind, StatusCode, get_current_span
from told_calls import CANARY, STOP, Telemetry, client_of

from commitgate.errors import EffectRejected
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed
from commitgate.telemetry import genai_names, own_names
from commitgate.tools import tool

pytestmark = pytest.mark.anyio


def turn(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return a script that calls tools."""
    pieces = [
        {"tool": {"i": i, "id": f"c{i}", "name": name, "args": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return [*pieces, {"finish": "tool_calls"}, {"done": True}]


def answer() -> list[Any]:
    return [{"prose": "done"}, STOP, {"done": True}]


def tools_of(telemetry: Telemetry) -> list[Any]:
    seen: list[str] = []

    @tool(effect="once")
    async def pay(amount: int, to: str) -> str:
        """Pay."""
        with telemetry.tracer.start_as_current_span("inside pay"):
            await anyio.lowlevel.checkpoint()
        return f"paid {amount} to {to}"

    @tool(effect="read")
    async def look_up(name: str) -> str:
        """Look up."""
        if name == "nobody":
            raise EffectRejected(CANARY)
        if name == "broken":
            raise ZeroDivisionError(CANARY)
        seen.append(name)
        with telemetry.tracer.start_as_current_span("inside look_up"):
            return f"{CANARY} {get_current_span().get_span_context().span_id}"

    return [pay, look_up]


async def run(telemetry: Telemetry, *scripts: list[Any], **options: Any) -> Any:
    first, *rest = scripts
    async with client_of(first, telemetry.observers, MemoryLedger(), then=rest) as client:
        with telemetry.tracer.start_as_current_span("shop"):
            asked = {"prompt": CANARY, "tools": tools_of(telemetry), "operation_key": CANARY, **options}
            return await client.run_tools("scripted", **asked)


async def test_tools_have_spans_of_their_own_beside_those_of_the_turns() -> None:
    telemetry = Telemetry()
    calls = turn(("look_up", {"name": CANARY}), ("pay", {"amount": 1, "to": CANARY}))
    outcome = await run(telemetry, calls, answer())
    assert isinstance(outcome, Committed)
    (shop,) = telemetry.named("shop")
    tools = telemetry.named("execute_tool")
    assert [span.name for span in tools] == ["execute_tool look_up", "execute_tool pay"]
    for span in (*tools, *telemetry.named("chat")):
        assert span.parent is not None
        assert span.parent.span_id == shop.context.span_id
    for name, span in zip(("look_up", "pay"), tools, strict=True):
        attributes = dict(span.attributes or {})
        assert span.kind is SpanKind.INTERNAL
        assert attributes["gen_ai.operation.name"] == "execute_tool"
        assert attributes["gen_ai.tool.name"] == name
        assert attributes["commitgate.outcome"] == "committed"
        (inside,) = telemetry.named(f"inside {name}")
        assert inside.parent is not None
        assert inside.parent.span_id == span.context.span_id
    assert len(telemetry.named("chat")) == 2
    assert CANARY not in telemetry.everything()


async def test_tools_are_counted_and_timed_by_name() -> None:
    telemetry = Telemetry()
    calls = turn(("look_up", {"name": CANARY}), ("pay", {"amount": 1, "to": CANARY}))
    await run(telemetry, calls, answer())
    timed = telemetry.sums(genai_names.EXECUTE_TOOL_DURATION, genai_names.TOOL_NAME)
    assert timed == {("look_up",): 1, ("pay",): 1}
    assert telemetry.sums(own_names.CALLS, own_names.CALL_KIND) == {
        ("generate",): 2,
        ("tool",): 2,
        ("stored",): 1,  # the answer, committed under the key of the run
    }
    assert telemetry.sums(genai_names.INFERENCE_DURATION)[()] == 2


@pytest.mark.parametrize("name", ["nobody", "broken"])
async def test_reading_tool_that_says_no_or_breaks_ends_its_span_so(name: str) -> None:
    telemetry = Telemetry()
    await run(telemetry, turn(("look_up", {"name": name})), answer())
    (span,) = telemetry.named("execute_tool")
    assert (span.attributes or {})["error.type"] == "effect_failed"
    assert span.status.status_code is StatusCode.ERROR
    assert span.events == ()
    assert CANARY not in telemetry.everything()


async def test_arguments_that_are_refused_run_no_tool() -> None:
    telemetry = Telemetry()

    @tool(effect="read", name="check")
    async def check(amount: int) -> str:
        """Check."""
        raise AssertionError("it must not run")

    contract_says_no = turn(("check", {"amount": "much"}))
    await run(telemetry, contract_says_no, answer(), tools=[check], operation_key=None)
    assert telemetry.sums(genai_names.EXECUTE_TOOL_DURATION) == {}


async def test_reading_tool_that_is_cancelled_ends_as_cancelled() -> None:
    telemetry = Telemetry()
    began = anyio.Event()

    @tool(effect="read")
    async def wait(name: str) -> str:
        """Wait."""
        began.set()
        await anyio.sleep_forever()
        return name

    async with (
        client_of(turn(("wait", {"name": "x"})), telemetry.observers) as client,
        client.stream_tools("scripted", prompt="x", tools=[wait]) as tools_run,
        anyio.create_task_group() as tasks,
    ):

        async def cancel() -> None:
            await began.wait()
            tools_run.cancel()

        tasks.start_soon(cancel)
        await tools_run.outcome()
    (span,) = telemetry.named("execute_tool")
    assert (span.attributes or {})["commitgate.outcome"] == "cancelled"
