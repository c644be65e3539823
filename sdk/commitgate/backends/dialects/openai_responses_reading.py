"""Read the answers of the OpenAI Responses API: streams of events, and whole responses.

A response is a list of items: messages with parts of text or refusal, calls of tools, reasoning, and what servers do
beside. Its ``status`` says how it ended, in the last event of a stream, and nothing before that event proves an end.
Events of unknown types mean nothing, as do the ``keepalive`` ones that no reference tells of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from commitgate.backends.base import Fault, Finish, FinishReason, ReasoningDelta, StreamEvent, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.fields import count_of, object_of, objects_of, text_of
from commitgate.backends.dialects.openai_responses_output import CALL_TYPES, ResponsesOutput
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.errors import read_error
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject

_ENDS: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The events that end a stream, each with the status that it tells of."""

_FILTERS: Final = frozenset({"bio_policy", "misalignment_policy_violation", "image_content_policy_violation"})
"""Codes of failed responses that tell of a filter and not of a fault."""


class OpenAIResponsesReader:
    """Read one answer.

    Args:
        expected: what it is expected to hold.

    Attributes:
        finish_native: the status that ended it, with the reason behind a colon where it is incomplete.
        is_terminal: the last event of the stream was read.
        model_revision: the model that the server says it used; None while it did not.
        answer_id: what the server calls the response; None while it did not.
        echoed_format: ``text.format`` as the server repeats it; None where it repeats none.
    """

    def __init__(self, expected: Expected) -> None:
        self._most_tokens = expected.most_tokens
        self._output = ResponsesOutput(expected)
        self._thoughts = TextJoiner()
        self._status: str | None = None
        self.finish_native: str | None = None
        self.is_terminal = False
        self.model_revision: str | None = None
        self.answer_id: str | None = None
        self.echoed_format: JsonObject | None = None

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one event of a stream means."""
        # The end marker of servers that borrow it has no value, and no meaning.
        return () if event.value is None else tuple(self._read(event.name, event.value))

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole response means."""
        value = event.value or {}
        status = text_of(value, "status")
        if status == "completed" and text_of(object_of(value, "incomplete_details") or {}, "reason"):
            status = "incomplete"
        if status is None or "output" not in value:
            if value.get("error"):
                return (read_error(value),)
            raise WireFaultError("not_a_response", "the answer is no response")
        return (*self._read_thoughts(value), *self._end(value, status))

    def close(self) -> Iterable[StreamEvent]:
        """Return what a clean end of the body adds: nothing, because the last event is the proof of the end."""
        return ()

    def _read(self, name: str, value: JsonObject) -> Iterable[StreamEvent]:
        kind = text_of(value, "type") or name
        match kind:
            case "response.output_text.delta":
                return self._output.say("text", value)
            case "response.output_text.done":
                return self._output.end_part("text", value)
            case "response.refusal.delta":
                return self._output.say("refusal", value)
            case "response.refusal.done":
                return self._output.end_part("refusal", value)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                return self._output.write_call(value)
            case "response.function_call_arguments.done":
                return self._output.end_call(value, "arguments")
            case "response.custom_tool_call_input.done":
                return self._output.end_call(value, "input")
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                return self._think(text_of(value, "delta"))
            case _:
                return self._read_rare(kind, value)

    def _read_rare(self, kind: str, value: JsonObject) -> Iterable[StreamEvent]:
        if kind in _ENDS:
            return self._end_stream(value, _ENDS[kind])
        if kind == "error" or value.get("error"):
            return (read_error(value),)
        match kind:
            case "response.output_item.added":
                return self._output.begin_item(value, object_of(value, "item") or {})
            case "response.output_item.done":
                return self._output.end_item(value, object_of(value, "item") or {})
            case "response.created" | "response.in_progress":
                self._note(object_of(value, "response") or {})
                return ()
            case _:
                return ()

    def _think(self, text: str | None) -> Iterable[StreamEvent]:
        return (ReasoningDelta(self._thoughts.feed(text)),) if text else ()

    def _read_thoughts(self, response: JsonObject) -> Iterator[StreamEvent]:
        for item in objects_of(response, "output"):
            if item.get("type") == "reasoning":
                for part in (*objects_of(item, "content"), *objects_of(item, "summary")):
                    yield from self._think(text_of(part, "text"))

    def _note(self, response: JsonObject) -> None:
        self.model_revision = text_of(response, "model") or self.model_revision
        self.answer_id = text_of(response, "id") or self.answer_id
        text = object_of(response, "text")
        if text is not None:
            self.echoed_format = object_of(text, "format") or self.echoed_format

    def _end_stream(self, value: JsonObject, told: str) -> Iterable[StreamEvent]:
        response = object_of(value, "response") or {}
        status = text_of(response, "status") or told
        # Some servers send the event of a complete response for every one; what else is told, in either place, counts.
        status = told if status == "completed" else status
        if status == "completed" and text_of(object_of(response, "incomplete_details") or {}, "reason"):
            status = "incomplete"
        if self.is_terminal:  # said once more, it means nothing; another end spoils the answer
            return () if status == self._status else (_ending(response, status),)
        self._status = status
        return self._end(response, status, is_stream=True)

    def _end(self, response: JsonObject, status: str, *, is_stream: bool = False) -> Iterator[StreamEvent]:
        """Read how a response ended. The end counts once all of it was read without a fault."""
        self._note(response)
        is_cut = status == "completed" and self._is_cut(response)
        yield from self._output.end(response, is_whole=status == "completed")
        usage = object_of(response, "usage")
        if usage is not None:
            yield _usage(usage)
        end = Finish(FinishReason.LENGTH, status) if is_cut else _ending(response, status)
        self.finish_native = end.native if status == "incomplete" and isinstance(end, Finish) else status
        self.is_terminal = is_stream
        yield end

    def _is_cut(self, response: JsonObject) -> bool:
        """Say whether a response was cut, though it calls itself complete: llama.cpp does so at the limit of tokens."""
        usage = object_of(response, "usage")
        written = None if usage is None else count_of(usage, "output_tokens")
        is_at_limit = written is not None and self._most_tokens is not None and written >= self._most_tokens
        cut = [text_of(item, "type") for item in objects_of(response, "output") if item.get("status") == "incomplete"]
        return is_at_limit or any(kind == "message" or kind in CALL_TYPES for kind in cut)


def _ending(response: JsonObject, status: str) -> Finish | Fault:
    match status:
        case "completed":
            return Finish(FinishReason.STOP, status)
        case "incomplete":
            return _incomplete(response)
        case "failed":
            error = response.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            if isinstance(code, str) and code in _FILTERS:
                return Finish(FinishReason.CONTENT_FILTER, f"{status}:{code}")
            return read_error({"error": error}) if error else Fault("server", "the response failed", code=status)
        case "cancelled":
            return Finish(FinishReason.CANCELLED, status)
        case _:
            return Finish(FinishReason.UNKNOWN, status)


def _incomplete(response: JsonObject) -> Finish:
    details = object_of(response, "incomplete_details")
    reason = None if details is None else text_of(details, "reason")
    if not reason:
        return Finish(FinishReason.LENGTH, "incomplete")
    meant = read_finish(reason)
    if isinstance(meant, Fault):
        return Finish(FinishReason.UNKNOWN, f"incomplete:{reason}")
    # Whatever the reason, an incomplete response is not complete.
    is_end = meant.reason is FinishReason.STOP
    return Finish(FinishReason.UNKNOWN if is_end else meant.reason, f"incomplete:{reason}")


def _usage(usage: JsonObject) -> Usage:
    details = object_of(usage, "output_tokens_details") or {}
    counts = count_of(usage, "input_tokens"), count_of(usage, "output_tokens"), count_of(details, "reasoning_tokens")
    return Usage(*counts)


__all__ = ["OpenAIResponsesReader"]
