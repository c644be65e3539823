"""Follow the output of one response of the OpenAI Responses API: what was told in pieces, and what stands at its end.

The same text is told up to four times: in deltas, in the end of its part, in the end of its item, and in the response
as a whole. The deltas are what is judged while it grows; the rest is compared with them. What was told in no delta at
all is taken from the rest, because some servers send none; a text that differs is no answer.

Models may comment on their work before they answer. A message that says so of itself, by its ``phase``, is no part of
the answer and counts as reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import ProseDelta, ReasoningDelta, RefusalDelta, StreamEvent, TextDelta, ToolDelta
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.aside import Aside
from commitgate.backends.dialects.fields import count_of, name_of, objects_of, text_of
from commitgate.backends.dialects.refusal import RefusalJoiner
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.json_value import JsonObject

Said: TypeAlias = Literal["text", "refusal"]
"""What a part of a message is: the answer's text, or a refusal."""

CALL_TYPES = {"function_call": "arguments", "custom_tool_call": "input"}
"""The items that are calls of tools, each with the member that holds what the model wrote."""

_MOST_PARTS = 4_096
"""Most parts, and most calls, of one response: far more than any has; a stream of empty ones would grow for ever."""

_MOST_KEPT_CHARACTERS = 8_388_608
"""Most text that a response may tell: far more than its last event, which repeats all of it, can hold."""


@dataclass(slots=True)
class _Part:
    pieces: list[str] = field(default_factory=list[str])
    is_done: bool = False


@dataclass(slots=True)
class _Call:
    index: int
    id: str | None
    name: str | None
    is_answer: bool
    written: _Part = field(default_factory=_Part)
    joiner: TextJoiner = field(default_factory=TextJoiner)


class ResponsesOutput:
    """Turn pieces of output into events, and compare them with what the server repeats.

    Args:
        expected: what the answer is expected to hold.
    """

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._parts: dict[tuple[object, ...], _Part] = {}
        self._said: dict[Said, list[str]] = {"text": [], "refusal": []}
        self._text = TextJoiner()
        self._refusal = RefusalJoiner()
        self._calls: list[_Call] = []
        self._calls_by_name: dict[str | int, _Call] = {}
        self._comments: dict[str | int, TextJoiner] = {}
        self._has_answer = False
        self._aside = Aside()
        self._kept_characters = 0

    def say(self, said: Said, value: JsonObject) -> Iterator[StreamEvent]:
        """Read a delta of a part of a message."""
        text = text_of(value, "delta")
        if text and (comment := self._comment(value)):
            yield ReasoningDelta(comment.feed(text))
        elif text:
            part = self._part(said, value)
            self._keep(part, text)
            yield from self._say(said, text)

    def end_part(self, said: Said, value: JsonObject) -> Iterator[StreamEvent]:
        """Read the end of a part of a message, which repeats all of it."""
        text = text_of(value, "text" if said == "text" else "refusal")
        key = _key(said, value)
        if text is None or self._comment(value) or (key not in self._parts and self._said[said]):
            return  # where other parts came in deltas, the end of the response tells which one is missing
        part = self._part(said, value)
        if not part.pieces and text:
            self._keep(part, text)
            yield from self._say(said, text)
        _end(part, text)

    def begin_item(self, value: JsonObject, item: JsonObject) -> Iterator[StreamEvent]:
        """Read the beginning of an item."""
        if text_of(item, "type") in CALL_TYPES:
            yield from self._begin_call(item, value)
        elif _is_comment(item):
            if len(self._comments) >= _MOST_PARTS:
                raise _too_many("comments")
            self._comments.update(dict.fromkeys(_names(item, value), TextJoiner()))

    def write_call(self, value: JsonObject) -> Iterator[StreamEvent]:
        """Read a delta of what a call says."""
        call = self._call(value)
        text = text_of(value, "delta")
        if text:
            self._keep(call.written, text)
            yield from self._write(call, text)

    def end_call(self, value: JsonObject, member: str) -> Iterator[StreamEvent]:
        """Read the end of what a call says, which repeats all of it."""
        text = text_of(value, member)
        if text is not None:
            yield from self._complete(self._call(value), text)

    def end_item(self, value: JsonObject, item: JsonObject) -> Iterator[StreamEvent]:
        """Read the end of an item, which repeats all of it."""
        if text_of(item, "type") in CALL_TYPES:
            call = self._find(_names(item, value))
            if call is None:
                yield from self._begin_call(item, value)
                call = self._calls[-1]
            yield from self._complete(call, _said_by(item))

    def end(self, response: JsonObject, *, is_whole: bool) -> Iterator[StreamEvent]:
        """Read the end of a response, which repeats all of its output.

        Args:
            response: it.
            is_whole: it is complete, so that all that was told must stand in it.

        Raises:
            WireFaultError: what it repeats is something else than what was told.
        """
        output = objects_of(response, "output")
        if output:
            messages = [item for item in output if item.get("type") == "message" and not _is_comment(item)]
            parts = [part for message in messages for part in objects_of(message, "content")]
            yield from self._compare("text", _texts(parts, "output_text", "text"), is_whole=is_whole)
            yield from self._compare("refusal", _texts(parts, "refusal", "refusal"), is_whole=is_whole)
            yield from self._compare_calls([item for item in output if text_of(item, "type") in CALL_TYPES], is_whole)
        if self._expected.answer_tool is not None and not self._has_answer:
            yield from self._aside.answer(must_be=is_whole and not self._said["refusal"])

    def _comment(self, value: JsonObject) -> TextJoiner | None:
        """Return what joins the pieces of the comment that an event is about; None where it is about the answer."""
        if not self._comments:
            return None
        return next((self._comments[name] for name in _names({}, value) if name in self._comments), None)

    def _part(self, said: Said, value: JsonObject) -> _Part:
        key = _key(said, value)
        part = self._parts.get(key)
        if part is None:
            if len(self._parts) >= _MOST_PARTS:
                raise _too_many("parts")
            part = self._parts[key] = _Part()
        return part

    def _say(self, said: Said, text: str) -> Iterator[StreamEvent]:
        self._said[said].append(text)
        if said == "refusal":
            yield RefusalDelta(self._refusal.feed(text))
        elif self._expected.answer_tool is not None:
            if not self._has_answer:
                self._aside.put(text)
        elif self._expected.offers_tools:
            yield ProseDelta(self._text.feed(text))
        else:
            yield TextDelta(self._text.feed(text))

    def _keep(self, part: _Part, text: str) -> None:
        """Keep a piece, to compare it with what the end of the response repeats."""
        if part.is_done:
            raise WireFaultError("delta_after_end", "a piece came after the end of what it belongs to")
        self._kept_characters += len(text)
        if self._kept_characters > _MOST_KEPT_CHARACTERS:
            raise WireFaultError("output_too_long", f"a response has more than {_MOST_KEPT_CHARACTERS} characters")
        part.pieces.append(text)

    def _begin_call(self, item: JsonObject, value: JsonObject) -> Iterator[StreamEvent]:
        names = _names(item, value)
        if self._find(names) is not None:
            raise WireFaultError("call_repeated", "a call began twice")
        if len(self._calls) >= _MOST_PARTS:
            raise _too_many("calls")
        name = name_of(item, "name")
        is_answer = item.get("type") == "custom_tool_call" and name == self._expected.answer_tool
        if is_answer and self._has_answer:
            raise WireFaultError("answer_repeated", "the answer came in two calls")
        self._has_answer = self._has_answer or is_answer
        call = _Call(len(self._calls), name_of(item, "call_id") or name_of(item, "id"), name, is_answer)
        self._calls.append(call)
        self._calls_by_name.update(dict.fromkeys(names, call))
        if not is_answer:
            yield ToolDelta(call.index, id=call.id, name=name)

    def _call(self, value: JsonObject) -> _Call:
        call = self._find(_names({}, value))
        if call is None:
            raise WireFaultError("delta_without_call", "a piece of a call belongs to none that began")
        return call

    def _find(self, names: list[str | int]) -> _Call | None:
        found = [self._calls_by_name[name] for name in names if name in self._calls_by_name]
        return found[0] if found else None

    def _complete(self, call: _Call, text: str) -> Iterator[StreamEvent]:
        if not call.written.pieces and not call.written.is_done and text:
            self._keep(call.written, text)
            yield from self._write(call, text)
        _end(call.written, text)

    def _write(self, call: _Call, text: str) -> Iterator[StreamEvent]:
        data = call.joiner.feed(text)
        yield TextDelta(data) if call.is_answer else ToolDelta(call.index, arguments=data)

    def _compare(self, said: Said, parts: list[str], *, is_whole: bool) -> Iterator[StreamEvent]:
        """Compare the parts of one kind with what was told; give out those behind it that were told in no delta."""
        told, at = _joined(self._said[said]), 0
        while at < len(told) and parts and told.startswith(parts[0], at):
            at += len(parts.pop(0))
        if at == len(told):
            for text in filter(None, parts):
                yield from self._say(said, text)
        elif is_whole:
            raise WireFaultError("output_differs", "the response ends with another text than it told")

    def _compare_calls(self, calls: list[JsonObject], is_whole: bool) -> Iterator[StreamEvent]:
        if is_whole and len(calls) < len(self._calls):
            raise WireFaultError("output_differs", "the response ends with fewer calls than it told")
        for known, item in zip(self._calls, calls, strict=False):
            id = text_of(item, "call_id")
            is_same = text_of(item, "name") == known.name and (id == known.id or not (id and known.id))
            if is_whole and not is_same:
                raise WireFaultError("output_differs", "the response ends with another call than it told")
            if is_whole or not known.written.pieces:
                yield from self._complete(known, _said_by(item))
        for item in calls[len(self._calls) :]:
            yield from self._begin_call(item, {})
            yield from self._complete(self._calls[-1], _said_by(item))


def _end(part: _Part, text: str) -> None:
    if _joined(part.pieces) != text:
        raise WireFaultError("text_differs", "the end of a part repeats another text than was told")
    part.is_done = True


def _joined(pieces: list[str]) -> str:
    """Return pieces as one text, in which the halves of characters that were cut in two have come together."""
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _too_many(what: str) -> WireFaultError:
    return WireFaultError(f"too_many_{what}", f"an answer has more than {_MOST_PARTS} {what}")


def _is_comment(item: JsonObject) -> bool:
    return item.get("type") == "message" and item.get("phase") == "commentary"


def _key(said: Said, value: JsonObject) -> tuple[object, ...]:
    at = name_of(value, "item_id"), count_of(value, "output_index"), count_of(value, "content_index")
    return (said, *at)


def _names(item: JsonObject, value: JsonObject) -> list[str | int]:
    """Return all by which a call may be meant, the most telling first: not every server names it in every way."""
    names = name_of(value, "item_id"), name_of(item, "id"), name_of(item, "call_id"), count_of(value, "output_index")
    return [name for name in names if name is not None and name != ""]


def _said_by(call: JsonObject) -> str:
    return text_of(call, CALL_TYPES[text_of(call, "type") or ""]) or ""


def _texts(parts: list[JsonObject], kind: str, member: str) -> list[str]:
    return [text_of(part, member) or "" for part in parts if part.get("type") == kind]


__all__ = ["CALL_TYPES", "ResponsesOutput", "Said"]
