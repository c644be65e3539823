"""An interaction is its steps: what the model wrote is the answer, and its last status is the end."""

from typing import Any

import pytest
from backends.dialects.native_streams import CITY, completed, event, interaction, spelled, sse, step

from commitgate.backends.base import TextDelta, ToolDelta, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.gemini_interactions_reading import GeminiInteractionsReader
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.testing.replay import Replay, replay

JSON = {"content-type": "application/json"}


def played(*values: Any, **how: Any) -> Replay:
    return replay("gemini_interactions", b"".join(sse(values)), **how)


def said(words: str, at: int = 0, **further: Any) -> dict[str, Any]:
    return step("delta", at, delta={"type": "text", "text": words, **further})


def test_answer_in_pieces_is_whole_at_its_status() -> None:
    found = replay("gemini_interactions", b"".join(interaction()))
    assert (found.outcome, found.text, found.finish_native) == ("complete", CITY, "completed")
    assert (found.terminal, found.usage) == (True, Usage(5, 12, 3))


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("completed", "complete"),
        ("incomplete", "truncated"),
        ("budget_exceeded", "truncated"),
        ("requires_continuation", "paused"),
        ("failed", "server_error"),
        ("cancelled", "aborted"),
        ("queued", "unknown"),
        ("idle", "unknown"),
        ("in_progress", "unknown"),
        ("new_status", "unknown"),
    ],
)
def test_status_has_its_meaning(status: str, outcome: str) -> None:
    found = replay("gemini_interactions", b"".join(interaction(status)))
    assert (found.outcome, found.text, found.finish_native, found.terminal) == (outcome, CITY, status, True)


@pytest.mark.parametrize(("again", "outcome"), [("completed", "complete"), ("incomplete", "protocol_error")])
def test_end_that_is_told_twice_is_one_where_both_say_the_same(again: str, outcome: str) -> None:
    assert played(said("[]"), completed("completed"), completed(again)).outcome == outcome


def test_status_on_the_way_is_no_end() -> None:
    update = {"event_type": "interaction.status_update", "interaction_id": "i", "status": "completed"}
    assert played(said("[]"), update).outcome == "interrupted"


def test_name_of_the_event_counts_where_the_data_has_none() -> None:
    data = {"interaction": {"status": "completed"}}
    body = b"".join([*sse([said("[]")]), *sse([data], name="interaction.completed")])
    assert replay("gemini_interactions", body).outcome == "complete"


def test_end_marker_and_unknown_events_say_nothing() -> None:
    found = played({"event_type": "step.new", "text": "x"}, said("[]"), completed("completed"), b"[DONE]")
    assert (found.outcome, found.text) == ("complete", "[]")
    assert played(said("[]"), b"[DONE]").outcome == "interrupted"


def test_thoughts_are_no_part_of_the_answer() -> None:
    summary = step("delta", 0, delta={"type": "thought_summary", "content": {"type": "text", "text": "Hm."}})
    signature = step("delta", 0, delta={"type": "thought_signature", "signature": "c2ln"})
    started = step("start", 0, step={"type": "thought", "summary": [{"type": "text", "text": "First. "}]})
    odd = step("delta", 0, delta={"type": "text", "text": " So."})
    found = played(started, summary, signature, odd, step("stop", 0), said("[1]", 1), completed("completed"))
    assert (found.text, found.reasoning) == ("[1]", "First. Hm. So.")


def test_text_of_other_steps_is_nobodys_answer() -> None:
    search = step("start", 0, step={"type": "google_search_call"})
    output = step("start", 1, step={"type": "model_output", "content": [{"type": "text", "text": "[1"}]})
    found = played(search, said("no", 0), output, said("]", 1), completed("completed"))
    assert found.text == "[1]"


def call_step(at: int = 0, **further: Any) -> dict[str, Any]:
    return step("start", at, step={"type": "function_call", "id": f"f{at}", "name": "search", **further})


def arguments(pieces: str, at: int = 0) -> dict[str, Any]:
    return step("delta", at, delta={"type": "arguments_delta", "arguments": pieces})


def test_call_in_pieces_is_joined_and_its_placeholder_left() -> None:
    found = played(
        call_step(arguments={}), arguments('{"q":'), arguments('"é"}'), step("stop", 0), completed("requires_action")
    )
    assert (found.outcome, found.finish_native) == ("tool_call", "requires_action")
    assert [(each.id, each.name, each.arguments) for each in found.tool_calls] == [("f0", "search", '{"q":"é"}')]


@pytest.mark.parametrize("end", [[step("stop", 0)], []])
def test_call_that_came_whole_is_its_own_bytes(end: list[dict[str, Any]]) -> None:
    begun = b'{"event_type":"step.start","index":0,"step":{"type":"function_call","name":"f","arguments":{ "n":1.0 }}}'
    found = played(begun, *end, completed("requires_action"))
    assert [(each.id, each.arguments) for each in found.tool_calls] == [(None, '{ "n":1.0 }')]


def test_calls_beside_each_other_keep_apart() -> None:
    found = played(
        call_step(3), call_step(5), arguments("{", 5), arguments('{"a":1', 3), arguments("}", 5), arguments("}", 3),
        completed("requires_action"),
    )  # fmt: skip
    assert [(each.id, each.arguments) for each in found.tool_calls] == [("f3", '{"a":1}'), ("f5", "{}")]


def test_status_of_calls_is_an_end_only_where_tools_were_offered() -> None:
    for offers, reason in ((True, "stop"), (False, "unknown")):
        reader = GeminiInteractionsReader(Expected(offers_tools=offers))
        (finish,) = reader.read(event(completed("requires_action")))
        assert getattr(finish, "reason", None) == reason


def test_whole_interaction_is_read_in_place_of_a_stream() -> None:
    call = b'{"type":"function_call","id":"f","name":"s","arguments":{"n": 1.0}}'
    steps = [
        spelled({"type": "user_input", "content": [{"type": "text", "text": "no"}]}),
        spelled({"type": "thought", "summary": [{"type": "text", "text": "Hm."}]}),
        spelled({"type": "model_output", "content": [{"type": "image"}, {"type": "text", "text": "[1]"}]}),
        call,
    ]
    body = b'{"id":"i","status":"completed","usage":{"total_input_tokens":4},"steps":[%s]}' % b",".join(steps)
    found = replay("gemini_interactions", body, headers=JSON)
    assert (found.outcome, found.text, found.reasoning) == ("tool_call", "[1]", "Hm.")
    assert [(each.id, each.name, each.arguments) for each in found.tool_calls] == [("f", "s", '{"n": 1.0}')]
    assert found.usage == Usage(4, None)


def test_error_event_wins_over_what_came_before() -> None:
    error = {"event_type": "error", "error": {"code": "internal", "message": "Broke."}}
    found = replay("gemini_interactions", b"".join([*interaction()[:-1], *sse([error], name="error")]))
    assert (found.outcome, found.fault and found.fault.code, found.terminal) == ("server_error", "internal", False)


def test_refusal_of_a_request_may_come_as_an_event_stream() -> None:
    body = b"".join(
        sse([{"error": {"code": "invalid_request", "message": "No."}, "event_type": "error"}], name="error")
    )
    found = replay("gemini_interactions", body, status=400, headers={"content-type": "text/event-stream"})
    assert (found.outcome, found.fault and found.fault.status) == ("request_error", 400)


@pytest.mark.parametrize(
    "value",
    [
        step("delta", 0, delta=1),
        step("delta", 0, delta={"type": "text", "text": 1}),
        {"event_type": "step.delta", "index": "0", "delta": {"type": "text", "text": "x"}},
        step("start", 0),
        step("start", 0, step={"type": 1}),
        step("start", 0, step={"type": "function_call", "arguments": {}}),
        step("start", 0, step={"type": "function_call", "name": "f", "arguments": "{}"}),
        arguments("{}", 7),
        {"event_type": "interaction.completed"},
        completed(""),
        {"event_type": "interaction.completed", "interaction": {"status": 1}},
        completed("completed", usage={"total_input_tokens": 1.5}),
    ],
)
def test_member_of_another_type_is_no_such_format(value: dict[str, Any]) -> None:
    found = played(said("[]"), value)
    assert (found.outcome, found.finish_native) == ("protocol_error", None)


@pytest.mark.parametrize("body", [{}, {"id": "i"}, {"candidates": []}])
def test_body_of_another_api_is_no_answer(body: dict[str, Any]) -> None:
    assert replay("gemini_interactions", spelled(body), headers=JSON).outcome == "protocol_error"


def test_steps_that_are_never_ended_have_a_bound() -> None:
    reader = GeminiInteractionsReader(Expected())
    for at in range(4_096):
        assert list(reader.read(event(step("start", at, step={"type": "thought"})))) == []
    one_more = event(step("start", 4_096, step={"type": "thought"}))
    with pytest.raises(WireFaultError) as found:
        reader.read(one_more)
    assert found.value.code == "too_many_steps"


def test_steps_that_are_ended_have_none() -> None:
    reader = GeminiInteractionsReader(Expected(offers_tools=True))
    for at in range(5_000):
        list(reader.read(event(step("start", at, step={"type": "model_output"}))))
        assert list(reader.read(event(step("stop", at)))) == []
    head, call = ToolDelta(0, id="f0", name="search"), ToolDelta(0, arguments=b"{}")
    assert list(reader.read(event(call_step()))) == [head]
    assert list(reader.read(event(step("stop", 0)))) == [call]


def test_words_without_a_step_are_the_answer() -> None:
    assert list(GeminiInteractionsReader(Expected()).read(event(said("x", 9)))) == [TextDelta(b"x")]
