"""What a recorder keeps of a call, step by step."""

from typing import Any

import pytest

from commitgate import Client, Retry, RuleViolation, Sampling
from commitgate.backends.base import ReasoningDelta, StepTaken, TextDelta
from commitgate.errors import MisuseError
from commitgate.telemetry import CallBegan, RequestBegan
from commitgate.testing import ScriptedBackend
from commitgate.trace import Trace, TraceRecorder, dump_trace, load_trace, replayed

pytestmark = pytest.mark.anyio

SCHEMA: Any = {
    "type": "object",
    "properties": {"action": {"enum": ["refund", "ask"]}, "n": {"type": "integer"}},
    "required": ["action", "n"],
}
TEXT = '{"action": "ask", "n": 12}'
CALL = CallBegan(call_id="c", kind="generate", backend="b", model="m", sampling=Sampling())


def value_after(trace: Trace, pieces: int, request: int = -1) -> Any:
    return replayed(piece.changes for piece in trace.requests[request].pieces[:pieces])


async def recorded(script: list[Any], *, recorder: TraceRecorder | None = None, **options: Any) -> TraceRecorder:
    recorder = recorder or TraceRecorder()
    schema = options.pop("schema", SCHEMA)
    async with Client(backends={"script": ScriptedBackend(script)}, observers=[recorder]) as client:
        await client.generate_structured("script/m", schema, prompt="What now?", **options)
    return recorder


async def test_every_piece_is_there_with_what_was_shown_after_it() -> None:
    recorder = await recorded([*({"text": each} for each in TEXT), {"finish": "stop"}])
    (trace,) = recorder.traces
    (request,) = trace.requests
    assert b"".join(piece.data for piece in request.pieces).decode() == TEXT
    assert [piece.text_bytes for piece in request.pieces] == list(range(len(TEXT)))
    assert request.messages[-1][0] == "user"
    assert trace.outcome == "committed"
    assert {layer.layer: layer.passed for layer in trace.layers}["schema"] is True
    assert value_after(trace, TEXT.index(",")) == {"action": "ask"}
    assert value_after(trace, len(TEXT)) == {"action": "ask", "n": 12}


async def test_what_is_open_and_what_is_final_can_be_told_at_each_piece() -> None:
    recorder = await recorded([*({"text": each} for each in '{"a": ["x", 1]}'), {"finish": "stop"}], schema={})
    pieces = recorder.traces[0].requests[0].pieces
    opened = {piece.data.decode(): piece.open_parts for piece in pieces}
    assert opened["{"] == 1
    assert opened["["] == 2
    assert opened["x"] == 3
    assert pieces[-1].open_parts == 0


async def test_texts_that_grow_are_kept_as_what_was_added() -> None:
    recorder = await recorded(
        [{"text": '"'}, *({"text": "word "} for _ in range(50)), {"text": '"'}, {"finish": "stop"}],
        schema={"type": "string"},
    )
    trace = recorder.traces[0]
    added = [change for piece in trace.requests[0].pieces for change in piece.changes]
    assert max(len(str(change.value)) for change in added) <= len("word ")
    assert value_after(trace, 60) == "word " * 50


async def test_each_request_of_a_call_is_a_part_of_its_own() -> None:
    scripts = [[{"text": '{"action"'}, {"fault": "overload"}], [{"text": TEXT}, {"finish": "stop"}]]
    recorder = TraceRecorder()
    backend = ScriptedBackend(scripts[0], then=scripts[1:])
    async with Client(backends={"script": backend}, observers=[recorder]) as client:
        retry = Retry(restarts=1, attempts=2, backoff_s=0.01)
        await client.generate_structured("script/m", SCHEMA, prompt="What now?", retry=retry)
    trace = recorder.traces[0]
    assert [request.ending for request in trace.requests] == ["unavailable", "committed"]
    assert value_after(trace, 1) == {"action": "ask", "n": 12}
    assert trace.requests[1].waited_s > 0


async def test_refused_values_leave_their_layer_and_reason_and_not_the_value() -> None:
    def is_small(value: Any) -> RuleViolation | None:
        return RuleViolation("too_many", "must be at most 3", "/n") if value["n"] > 3 else None

    recorder = await recorded([{"text": TEXT}, {"finish": "stop"}], rules=[is_small])
    trace = recorder.traces[0]
    assert (trace.outcome, trace.requests[0].ending, trace.requests[0].detail) == ("invalid", "invalid", "rules")
    (failed,) = [layer for layer in trace.layers if layer.passed is False]
    assert failed.layer == "rules"
    (failure,) = failed.failures
    assert (failure.code, failure.pointer, failure.message) == ("too_many", "/n", "must be at most 3")


async def test_recorder_keeps_the_newest_calls_alone() -> None:
    recorder = TraceRecorder(most_traces=2)
    script = [{"text": TEXT}, {"finish": "stop"}]
    backend = ScriptedBackend(script, then=[script, script])
    async with Client(backends={"script": backend}, observers=[recorder]) as client:
        for number in range(3):
            await client.generate_structured("script/m", SCHEMA, prompt=f"call {number}")
    asked = [trace.requests[0].messages[-1][1] for trace in recorder.traces]
    assert ["call 1" in asked[0], "call 2" in asked[1], len(asked)] == [True, True, 2]


@pytest.mark.parametrize(("pieces", "is_cut"), [(len(TEXT) - 1, True), (len(TEXT), False), (len(TEXT) + 1, False)])
async def test_pieces_past_the_bound_are_left_out_and_the_trace_says_so(pieces: int, is_cut: bool) -> None:
    script: list[Any] = [*({"text": each} for each in TEXT), {"finish": "stop"}]
    recorder = await recorded(script, recorder=TraceRecorder(most_pieces=pieces))
    trace = recorder.traces[0]
    assert len(trace.requests[0].pieces) == min(pieces, len(TEXT))
    assert trace.is_cut is is_cut
    assert trace.outcome == "committed"
    assert load_trace(dump_trace(trace)).is_cut is is_cut


async def test_pieces_are_counted_anew_with_each_call() -> None:
    recorder = TraceRecorder(most_pieces=2)
    for _ in range(2):
        await recorded([{"text": TEXT[:9]}, {"text": TEXT[9:]}, {"finish": "stop"}], recorder=recorder)
    assert [trace.is_cut for trace in recorder.traces] == [False, False]


async def test_a_call_that_is_alone_too_large_is_cut() -> None:
    recorder = await recorded(
        [*({"text": each} for each in TEXT), {"finish": "stop"}], recorder=TraceRecorder(most_bytes=5_000)
    )
    (trace,) = recorder.traces
    assert trace.is_cut
    assert 0 < len(trace.requests[0].pieces) < len(TEXT)
    assert recorder.recordings[0].size_bytes <= 5_000


async def test_older_calls_make_room_for_a_larger_one() -> None:
    recorder = TraceRecorder(most_bytes=24_000)
    script: list[Any] = [*({"text": each} for each in TEXT), {"finish": "stop"}]
    await recorded(script, recorder=recorder)
    await recorded(script, recorder=recorder)
    (kept,) = recorder.traces
    assert not kept.is_cut
    assert sum(each.size_bytes for each in recorder.recordings) <= 24_000


@pytest.mark.parametrize("name", ["most_traces", "most_pieces", "most_bytes"])
async def test_bounds_below_one_are_refused(name: str) -> None:
    with pytest.raises(MisuseError, match=name):
        TraceRecorder(**{name: 0})


async def test_whoever_shows_it_live_is_told_of_each_addition() -> None:
    heard: list[tuple[int, bool]] = []
    recorder = TraceRecorder(
        told=lambda each: heard.append((len(each.trace.requests[0].pieces), each.trace.is_over)), wall_clock=lambda: 7.0
    )
    await recorded([{"text": TEXT[:9]}, {"text": TEXT[9:]}, {"finish": "stop"}], recorder=recorder)
    assert [count for count, _ in heard] == sorted(count for count, _ in heard)
    assert {(0, False), (1, False), (2, False)} <= set(heard)
    assert heard[-1] == (2, True)
    assert recorder.traces[0].started_at == 7.0


async def test_thoughts_stand_apart_from_the_text() -> None:
    recorder = TraceRecorder()
    recording = recorder.recording(CALL)
    recording.request_began(RequestBegan(number=1, waited_s=0.0, at_s=0.0))
    recording.event(ReasoningDelta(b"hm"), 0.1)
    recording.event(TextDelta(b"1"), 0.2)
    first, second = recording.trace.requests[0].pieces
    assert (first.kind, first.data, second.kind, second.text_bytes) == ("thought", b"hm", "text", 0)


async def test_thoughts_that_come_as_steps_are_there_once() -> None:
    recorder = TraceRecorder()
    recording = recorder.recording(CALL)
    recording.request_began(RequestBegan(number=1, waited_s=0.0, at_s=0.0))
    thought = StepTaken(kind="thought", token_ids=(3,), data=b"hm", text_bytes=0, vocabulary_tokens=9, state="")
    recording.event(thought, 0.1)
    recording.event(ReasoningDelta(b"hm"), 0.1)
    (piece,) = recording.trace.requests[0].pieces
    assert (piece.kind, piece.step) == ("thought", thought)


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
    assert [piece.text_bytes for piece in trace.requests[0].pieces] == [
        piece.step.text_bytes for piece in trace.requests[0].pieces if piece.step is not None
    ]
