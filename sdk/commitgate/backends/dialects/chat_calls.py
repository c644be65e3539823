"""Read the calls of tools in answers of the form of OpenAI's chat completions.

Calls come in pieces that name their call by an index; id and name come once, or with every piece, or as null. What a
model wrote as arguments is handed on byte for byte: where a server sends an object in place of a text, its bytes are
cut out of the event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from commitgate.backends.base import StreamEvent, TextDelta, ToolDelta
from commitgate.backends.dialects.fields import name_of
from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.json_value import JsonObject, JsonValue

Place: TypeAlias = "tuple[int | str, ...]"
"""The way from the root of an event's JSON to a value: keys, and positions in arrays."""

_MOST_CALLS: Final = 1_024
"""Most calls of one answer that are told apart; no turn may have so many."""


class CallReader:
    """Read the calls of one answer.

    Args:
        answer_tool: the custom tool whose input is the answer itself; None where calls are calls.
    """

    __slots__ = ("_answer_index", "_answer_tool", "_by_id", "_joiners")

    def __init__(self, answer_tool: str | None) -> None:
        self._answer_tool = answer_tool
        self._answer_index: int | None = None
        self._by_id: dict[str, int] = {}
        self._joiners: dict[int, TextJoiner] = {}

    @property
    def has_answer(self) -> bool:
        """Say whether the call came that is the answer."""
        return self._answer_index is not None

    def read(self, calls: JsonValue, data: bytes, place: Place, *, is_whole: bool) -> Iterator[StreamEvent]:
        """Yield what the pieces of one event say.

        Args:
            calls: the value of ``tool_calls``.
            data: the event's own bytes.
            place: where ``tool_calls`` stands in them.
            is_whole: each is a whole call, and its place in the array is its index.

        Raises:
            WireFaultError: they are not of the form.
        """
        if not isinstance(calls, list):
            raise _wrong("tool_calls")
        spelled = _Spelled(data, place)
        for at, call in enumerate(calls):
            if not isinstance(call, dict):
                raise _wrong("tool_calls")
            index = at if is_whole else self._index(call, at)
            custom = call.get("custom")
            if custom is not None:
                event = self._custom(index, call, custom)
            else:
                event = self._function(index, call, call.get("function"), spelled, at)
            if event is not None:
                yield event

    def read_old(self, call: JsonValue, data: bytes, place: Place) -> Iterator[StreamEvent]:
        """Yield what a piece of the one call says that older servers know, ``function_call``."""
        event = self._function(0, {}, call, _Spelled(data, place), None)
        if event is not None:
            yield event

    def _index(self, call: JsonObject, at: int) -> int:
        index = call.get("index")
        if index is None:
            return self._unnumbered(name_of(call, "id"), at)
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            raise _wrong("tool_calls.index")
        return index

    def _unnumbered(self, id: str | None, at: int) -> int:
        """Return the index of a call on a server that does not number them: it may tell them apart by their ids."""
        if id:
            if len(self._by_id) >= _MOST_CALLS and id not in self._by_id:
                raise WireFaultError("too_many_calls", f"an answer has more than {_MOST_CALLS} calls")
            return self._by_id.setdefault(id, len(self._by_id))
        return len(self._by_id) - 1 if self._by_id else at

    def _function(
        self, index: int, call: JsonObject, function: JsonValue, spelled: _Spelled, at: int | None
    ) -> StreamEvent | None:
        if self._answer_tool is not None:
            raise WireFaultError("call_not_offered", "the server called a tool that it was not offered")
        if function is None:
            function = {}
        if not isinstance(function, dict):
            raise _wrong("tool_calls.function")
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            found = spelled.arguments(at)
        elif arguments is None or isinstance(arguments, str):
            found = self._bytes(index, arguments)
        else:
            raise _wrong("tool_calls.function.arguments")
        return _delta(index, name_of(call, "id"), _text(function, "name"), found)

    def _custom(self, index: int, call: JsonObject, custom: JsonValue) -> StreamEvent | None:
        if not isinstance(custom, dict):
            raise _wrong("tool_calls.custom")
        name, text = _text(custom, "name"), _text(custom, "input")
        if self._answer_tool is None:
            return _delta(index, name_of(call, "id"), name, self._bytes(index, text))
        if name and name != self._answer_tool:
            raise WireFaultError("call_not_offered", "the server called a tool that it was not offered")
        if self._answer_index is None:
            self._answer_index = index
        if index != self._answer_index:
            raise WireFaultError("two_answers", "the server sent two answers in one")
        found = self._bytes(index, text)
        return TextDelta(found) if found else None

    def _bytes(self, index: int, text: str | None) -> bytes:
        if not text:
            return b""
        joiner = self._joiners.get(index)
        if joiner is None:
            if len(self._joiners) >= _MOST_CALLS:
                raise WireFaultError("too_many_calls", f"an answer has more than {_MOST_CALLS} calls")
            joiner = self._joiners[index] = TextJoiner()
        return joiner.feed(text)


class _Spelled:
    """Cut arguments out of an event. It is walked once, however many calls stand in it."""

    __slots__ = ("_data", "_items", "_place")

    def __init__(self, data: bytes, place: Place) -> None:
        self._data = data
        self._place = place
        self._items: list[bytes] | None = None

    def arguments(self, at: int | None) -> bytes:
        """Return the arguments of the call at a position; None where the place itself is a call."""
        if at is None:
            return raw_value(self._data, (*self._place, "arguments"))
        if self._items is None:
            self._items = items_of(raw_value(self._data, self._place))
        return raw_value(self._items[at], ("function", "arguments"))


def _delta(index: int, id: str | None, name: str | None, arguments: bytes) -> ToolDelta | None:
    if not (id or name or arguments):
        return None
    return ToolDelta(index, id or None, name or None, arguments)


def _text(holder: JsonObject, name: str) -> str | None:
    value = holder.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(f"tool_calls.{name}")
    return value


def _wrong(field: str) -> WireFaultError:
    return WireFaultError("wrong_type", f"{field} of an answer is of another type than its format says")


__all__ = ["CallReader", "Place"]
