"""Read the answers of Gemini's Interactions API: streams of events, and whole interactions.

An interaction is a list of steps, each with a type of its own: ``model_output`` is the answer, a ``function_call`` is a
call, a ``thought`` is neither, and steps of other types are nobody's answer. Its ``status`` is its end.
Source: google-genai 3.6.1, ``_gaos/types/interactions``; streams as captured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from commitgate.backends.base import (
    Fault,
    Finish,
    ProseDelta,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.fields import count_of, name_of, object_of, objects_of, text_of
from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.errors import read_error
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject
from commitgate.tools.joining import MOST_HELD_BYTES

_MOST_STEPS = 4_096
"""Most steps that are open at one time: far more than any answer has; they would grow for ever."""

_KINDS = frozenset({"model_output", "thought", "function_call"})


@dataclass(slots=True)
class _Step:
    kind: str
    call: int = -1
    """Which call of the answer it is, from 0; below 0 where it is none."""
    given: bytes = b""
    """The arguments that stood at its start: a placeholder where further ones come."""
    has_pieces: bool = False
    joiner: TextJoiner = field(default_factory=TextJoiner)


class GeminiInteractionsReader:
    """Read one answer.

    Args:
        expected: what it is expected to hold.
    """

    def __init__(self, expected: Expected) -> None:
        self._text_kind = ProseDelta if expected.offers_tools else TextDelta
        self._offers_tools = expected.offers_tools
        self._text = TextJoiner()
        self._thoughts = TextJoiner()
        self._steps: dict[int, _Step] = {}
        self._calls = 0
        self._held_bytes = 0
        self._finish_native: str | None = None
        self.model_revision: str | None = None

    @property
    def finish_native(self) -> str | None:
        """Return the interaction's last status; None while it goes on."""
        return self._finish_native

    @property
    def is_terminal(self) -> bool:
        """Say whether the interaction was said to be over."""
        return self._finish_native is not None

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one event of a stream means."""
        value = event.value
        if value is None:
            return ()
        match value.get("event_type", event.name):
            case "step.delta":
                return [*self._delta(value)]
            case "step.start":
                return [*self._start(value, event.data)]
            case "step.stop":
                return [*self._stop(self._steps.pop(_index(value), None))]
            case "interaction.completed":
                return [*self._complete(value)]
            case "error":
                return (read_error(value),)
            case _:
                return (read_error(value),) if value.get("error") is not None else ()

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole interaction means."""
        value = event.value
        if value is not None and value.get("error") is not None:
            return (read_error(value),)
        if value is None or text_of(value, "status") is None:
            raise WireFaultError("no_answer", "the body is no interaction")
        steps = objects_of(value, "steps")
        raw = items_of(raw_value(event.data, ("steps",))) if steps else []
        events: list[StreamEvent] = []
        for step, spelled in zip(steps, raw, strict=True):
            begun = self._begin(step, spelled)
            events.extend(_head(step, begun))
            events.extend(self._stop(begun))
            events.extend(self._contents(step, begun.kind))
        events.extend(self._end(value))
        return events

    def close(self) -> Iterable[StreamEvent]:
        """Return nothing: the format has no end marker beside the event that says that it is over."""
        return ()

    def _start(self, value: JsonObject, data: bytes) -> Iterator[StreamEvent]:
        step = object_of(value, "step")
        if step is None:
            raise WireFaultError("wrong_type", "step is something else than an object")
        if len(self._steps) >= _MOST_STEPS:
            raise WireFaultError("too_many_steps", f"an answer may have at most {_MOST_STEPS:,} open steps")
        is_call = step.get("type") == "function_call"
        begun = self._begin(step, raw_value(data, ("step",)) if is_call else b"")
        self._held_bytes += len(begun.given)
        if self._held_bytes > MOST_HELD_BYTES:
            raise WireFaultError("arguments_too_long", "calls began with more than an answer may hold")
        self._steps[_index(value)] = begun
        yield from _head(step, begun)
        yield from self._contents(step, begun.kind)

    def _begin(self, step: JsonObject, raw: bytes) -> _Step:
        kind = text_of(step, "type") or ""
        begun = _Step(kind if kind in _KINDS else "other")
        if begun.kind == "function_call":
            if not text_of(step, "name"):
                raise WireFaultError("call_without_name", "a call has no name")
            begun.call, self._calls = self._calls, self._calls + 1
            has_arguments = object_of(step, "arguments") is not None
            begun.given = raw_value(raw, ("arguments",)) if has_arguments else b"{}"
        return begun

    def _delta(self, value: JsonObject) -> Iterator[StreamEvent]:
        step = self._steps.get(_index(value))
        kind = "model_output" if step is None else step.kind
        delta = object_of(value, "delta") or {}
        match delta.get("type"):
            case "text":
                yield from self._words(text_of(delta, "text"), kind)
            case "thought_summary":
                yield from self._words(text_of(object_of(delta, "content") or {}, "text"), "thought")
            case "arguments_delta":
                pieces = text_of(delta, "arguments")
                if step is None or step.call < 0:
                    raise WireFaultError("call_not_begun", "arguments came of a call that did not begin")
                if pieces:
                    step.has_pieces = True
                    yield ToolDelta(step.call, arguments=step.joiner.feed(pieces))
            case _:
                return

    def _contents(self, step: JsonObject, kind: str) -> Iterator[StreamEvent]:
        """Return the words that stand in a step itself."""
        name = {"model_output": "content", "thought": "summary"}.get(kind)
        for content in () if name is None else objects_of(step, name):
            if content.get("type") == "text":
                yield from self._words(text_of(content, "text"), kind)

    def _words(self, text: str | None, kind: str) -> Iterator[StreamEvent]:
        if not text:
            return
        if kind == "thought":
            yield ReasoningDelta(self._thoughts.feed(text))
        elif kind == "model_output":
            yield self._text_kind(self._text.feed(text))

    def _stop(self, step: _Step | None) -> Iterator[StreamEvent]:
        if step is not None and step.call >= 0 and not step.has_pieces:
            yield ToolDelta(step.call, arguments=step.given)

    def _complete(self, value: JsonObject) -> Iterator[StreamEvent]:
        interaction = object_of(value, "interaction")
        if interaction is None or not text_of(interaction, "status"):
            raise WireFaultError("wrong_type", "the end of an interaction has no status")
        for step in self._steps.values():
            yield from self._stop(step)
        self._steps.clear()
        yield from self._end(interaction)

    def _end(self, interaction: JsonObject) -> Iterator[Usage | Finish | Fault]:
        counts = object_of(interaction, "usage")
        if counts is not None:
            yield _usage(counts)
        self.model_revision = text_of(interaction, "model") or self.model_revision
        status = text_of(interaction, "status")
        if status:
            self._finish_native = status
            yield read_finish(status, offers_tools=self._offers_tools)


def _head(step: JsonObject, begun: _Step) -> Iterator[ToolDelta]:
    if begun.call >= 0:
        yield ToolDelta(begun.call, id=name_of(step, "id") or None, name=text_of(step, "name"))


def _index(value: JsonObject) -> int:
    return count_of(value, "index") or 0


def _usage(counts: JsonObject) -> Usage:
    written, thoughts = count_of(counts, "total_output_tokens"), count_of(counts, "total_thought_tokens")
    is_known = written is not None or thoughts is not None
    return Usage(
        input_tokens=count_of(counts, "total_input_tokens"),
        output_tokens=(written or 0) + (thoughts or 0) if is_known else None,
        reasoning_tokens=thoughts,
    )


__all__ = ["GeminiInteractionsReader"]
