"""Read the answers of Gemini's ``generateContent``: streams of responses, one response, or an array of them.

Every event is a response of its own, with a piece of the answer in its candidates and the counts so far. Candidate 0
is the answer; what others hold is nobody's. The candidate's ``finishReason`` is the end, or the prompt's
``blockReason``; no marker follows. Members that hold nothing are left out, a count of 0 and an index of 0 among them.
Source: google-genai 3.6.1, types.GenerateContentResponse; streams as captured from Gemini and Vertex AI.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from commitgate.backends.base import (
    Finish,
    FinishReason,
    ProseDelta,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.fields import count_of, flag_of, name_of, object_of, objects_of, text_of
from commitgate.backends.dialects.gemini_pieces import ArgumentPieces
from commitgate.backends.dialects.native_reading import NativeReader
from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject


@dataclass(slots=True)
class _OpenCall:
    """Hold a call whose arguments come in pieces."""

    index: int
    name: str
    pieces: ArgumentPieces = field(default_factory=ArgumentPieces)


class GeminiReader(NativeReader):
    """Read one answer.

    Args:
        expected: what it is expected to hold.

    Attributes:
        model_revision: the version of the model that answers, as the server calls it; None while it did not say.
    """

    MEMBERS = frozenset({"error", "candidates", "promptFeedback"})
    API = "generateContent"

    def __init__(self, expected: Expected) -> None:
        super().__init__()
        self._text_kind = ProseDelta if expected.offers_tools else TextDelta
        self._thoughts = TextJoiner()
        self._calls = 0
        self._open_call: _OpenCall | None = None
        self._has_pieces = False
        self._counts: JsonObject | None = None
        self.model_revision: str | None = None

    def _read(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        position, candidate = _candidate(value)
        content = object_of(candidate, "content")
        events: list[StreamEvent] = []
        if content is not None:
            self._read_parts(objects_of(content, "parts"), data, position, events)
        counts = object_of(value, "usageMetadata")
        if counts is not None and counts != self._counts:
            self._counts = counts
            events.append(_usage(counts))
        if candidate.get("finishReason") is not None or value.get("promptFeedback") is not None:
            self._read_end(value, candidate, events)
        if self.model_revision is None:
            self.model_revision = text_of(value, "modelVersion")
        return events

    def _read_parts(self, parts: Sequence[JsonObject], data: bytes, position: int, events: list[StreamEvent]) -> None:
        raw_parts: Sequence[bytes] | None = None
        for at, part in enumerate(parts):
            call = object_of(part, "functionCall")
            if call is not None:
                if raw_parts is None:
                    raw_parts = items_of(raw_value(data, ("candidates", position, "content", "parts")))
                events.extend(self._call(call, raw_parts[at]))
            elif text := text_of(part, "text"):
                if flag_of(part, "thought"):
                    events.append(ReasoningDelta(self._thoughts.feed(text)))
                else:
                    events.append(self._text_kind(self._text.feed(text)))

    def _call(self, call: JsonObject, raw: bytes) -> Iterator[StreamEvent]:
        name = text_of(call, "name")
        is_continued = flag_of(call, "willContinue")
        if self._open_call is None:
            if not call and self._has_pieces:  # one that came in pieces and had ended is closed once more
                return
            if not name:
                raise WireFaultError("call_without_name", "a call has no name")
            index, self._calls = self._calls, self._calls + 1
            head = ToolDelta(index, id=name_of(call, "id") or None, name=name)
            if not is_continued and call.get("partialArgs") is None:
                has_arguments = object_of(call, "args") is not None
                arguments = raw_value(raw, ("functionCall", "args")) if has_arguments else b"{}"
                yield ToolDelta(index, id=head.id, name=name, arguments=arguments)
                return
            yield head
            self._open_call = _OpenCall(index, name)
            self._has_pieces = True
        elif name and name != self._open_call.name:
            raise WireFaultError("call_not_ended", "a call began before the one before it ended")
        yield from self._piece(self._open_call, call, raw, is_last=not is_continued)

    def _piece(self, open_call: _OpenCall, call: JsonObject, raw: bytes, *, is_last: bool) -> Iterator[StreamEvent]:
        pieces = objects_of(call, "partialArgs")
        if pieces:
            open_call.pieces.feed(pieces, raw_value(raw, ("functionCall", "partialArgs")))
        if object_of(call, "args"):
            raise WireFaultError("partial_args", "the arguments of a call came in pieces and whole")
        if is_last:
            self._open_call = None
            yield ToolDelta(open_call.index, arguments=open_call.pieces.join())

    def _read_end(self, value: JsonObject, candidate: JsonObject, events: list[StreamEvent]) -> None:
        blocked = text_of(object_of(value, "promptFeedback") or {}, "blockReason")
        word = text_of(candidate, "finishReason")
        native = f"prompt:{blocked}" if blocked else word
        if not native:
            return
        end = Finish(FinishReason.CONTENT_FILTER, native) if blocked else read_finish(native)
        if self._open_call is not None and isinstance(end, Finish) and end.reason is FinishReason.STOP:
            raise WireFaultError("call_not_ended", "the answer ended inside a call")
        self._finish_native = native
        self._is_over = True
        events.append(end)


def _candidate(value: JsonObject) -> tuple[int, JsonObject]:
    """Return candidate 0 and where it stands; an empty one where this response has none."""
    for position, candidate in enumerate(objects_of(value, "candidates")):
        if not count_of(candidate, "index"):
            return position, candidate
    return 0, {}


def _usage(counts: JsonObject) -> Usage:
    thoughts = count_of(counts, "thoughtsTokenCount")
    return Usage(
        input_tokens=count_of(counts, "promptTokenCount"),
        output_tokens=(count_of(counts, "candidatesTokenCount") or 0) + (thoughts or 0),
        reasoning_tokens=thoughts,
    )


__all__ = ["GeminiReader"]
