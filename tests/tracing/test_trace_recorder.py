"""What a recorder keeps of a call, step by step."""

import json
from typing import Any

import pytest
from tracing.traces import long_trace

from commitgate import Client, Retry, Sampling
from commitgate.errors import MisuseError
from commitgate.testing import ScriptedBackend
from commitgate.trace import TraceRecorder, dump_trace, illegal_wishes, load_trace_data, trace_data, trace_page

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"action": {"enum": ["refund", "ask"]}, "n": {"type": "integer"}},
    "required": ["action", "n"],
}
TEXT = '{"action": "ask", "n": 12}'


def grown(data: Any) -> list[Any]:
    """Return what a page would show after each piece of the last request, put together out of the changes."""
    shown: list[Any] = []
    value: Any = None
    for piece in data["requests"][-1]["pieces"]:
        for place, item in piece.get("set", []):
            if place == "":
                value = json.loads(json.dumps(item))
                continue
            *way, last = (part.replace("~1", "/").replace("~0", "~") for part in place[1:].split("/"))
            at = value
            for part in way:
                at = at[int(part)] if isinstance(at, list) else at[part]
            if isinstance(at, list):
                at[int(last) :] = [item]
            else:
                at[last] = item
        shown.append(json.loads(json.dumps(value)))
    return shown


async def recorded(script: list[Any], **options: Any) -> TraceRecorder:
    recorder = TraceRecorder()
    async with Client(backends={"script": ScriptedBackend(script)}, observers=[recorder]) as client:
        await client.generate_structured("script/m", SCHEMA, prompt="What now?", **options)
    return recorder


async def test_every_piece_is_there_with_what_was_shown_after_it() -> None:
    recorder = await recorded([*({"text": each} for each in TEXT), {"finish": "stop"}])
    (trace,) = recorder.traces
    (request,) = trace.requests
    assert b"".join(piece.data for piece in request.pieces).decode() == TEXT
    assert [piece.text_bytes for piece in request.pieces] == list(range(len(TEXT)))
    assert request.messages[-1][0] == "user"
    assert trace.outcome == "committed"
    assert {record.layer: record.passed for record in trace.layers}["schema"] is True
    assert grown(trace_data(trace))[-1] == {"action": "ask", "n": 12}
    named = {pointer for piece in request.pieces for pointer in piece.final}
    assert {"/action", "/n"} <= named


async def test_each_request_of_a_call_is_a_part_of_its_own() -> None:
    scripts = [
        [{"text": '{"action"'}, {"fault": "overload"}],
        [{"text": TEXT}, {"finish": "stop"}],
    ]
    recorder = TraceRecorder()
    async with Client(
        backends={"script": ScriptedBackend(scripts[0], then=scripts[1:])}, observers=[recorder]
    ) as client:
        await client.generate_structured(
            "script/m", SCHEMA, prompt="What now?", retry=Retry(restarts=1, attempts=2, backoff_s=0.01)
        )
    requests = recorder.traces[0].requests
    assert [request.ending for request in requests] == ["unavailable", "committed"]
    assert grown(trace_data(recorder.traces[0]))[-1] == {"action": "ask", "n": 12}


async def test_refused_values_leave_their_layer_and_reason() -> None:
    recorder = await recorded([{"text": '{"action": "ask", "n": "x"}'}, {"finish": "stop"}])
    trace = recorder.traces[0]
    assert trace.outcome in ("invalid", "violated")
    assert trace.summary


async def test_recorder_keeps_the_newest_calls_alone() -> None:
    recorder = TraceRecorder(most_traces=2)
    script = [{"text": TEXT}, {"finish": "stop"}]
    async with Client(
        backends={"script": ScriptedBackend(script, then=[script, script])}, observers=[recorder]
    ) as client:
        for number in range(3):
            await client.generate_structured("script/m", SCHEMA, prompt=f"call {number}")
    asked = [trace.requests[0].messages[-1][1] for trace in recorder.traces]
    assert ["call 1" in asked[0], "call 2" in asked[1], len(asked)] == [True, True, 2]


def test_kept_trace_gives_the_same_page() -> None:
    trace = long_trace(5, wish_at=(2,))
    assert trace_page(load_trace_data(dump_trace(trace))) == trace_page(trace)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"commitgate_trace": 2}',
        b'{"commitgate_trace": true, "requests": []}',
        b'{"commitgate_trace": 1, "requests": [1]}',
        b'{"commitgate_trace": 1, "requests": [{"pieces": [3]}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_trace_is_refused(data: bytes) -> None:
    with pytest.raises(MisuseError):
        load_trace_data(data)


def test_long_traces_stay_small() -> None:
    assert len(dump_trace(long_trace(400))) < 4 * len(dump_trace(long_trace(200))) / 1.5


def test_wish_is_a_first_choice_that_was_forbidden() -> None:
    assert [found.text_bytes for found in illegal_wishes(long_trace(9, wish_at=(3, 7)))] == [3, 7]


@pytest.mark.model
async def test_looking_on_changes_no_answer() -> None:
    recorder = TraceRecorder()
    texts: list[str] = []
    for observers in ([], [recorder]):
        async with Client(observers=observers) as client:
            outcome = await client.generate_structured(
                "local", SCHEMA, prompt="A customer wants money back.", sampling=Sampling(temperature=0.8, seed=3)
            )
        texts.append(outcome.text if outcome.name == "committed" else outcome.name)
    assert texts[0] == texts[1]
    (trace,) = recorder.traces
    steps = [piece.step for piece in trace.requests[0].pieces if piece.step is not None]
    assert b"".join(step.data for step in steps).decode() == texts[0]
    drawn = [step for step in steps if step.kind == "drawn"]
    assert drawn
    assert all(0 < sum(choice.probability for choice in step.choices) <= 1.0001 for step in drawn)
    assert all(
        next(choice for choice in step.choices if choice.token_id == step.token_ids[0]).is_legal for step in drawn
    )
