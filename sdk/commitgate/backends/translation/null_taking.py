"""Take out of a JSON text the members whose null is not the user's own; every other byte stays as it is. Sans-IO.

The text is known to be JSON. What is held back is never more than one key, the white space around it, and a comma.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from commitgate.backends.translation.null_plan import NullPlace, NullPlan
from commitgate.tools.one_value import BLANK, ValueEnd

_STRING_END = re.compile(rb'["\\]')
_SCALAR_END = re.compile(rb"[,\]} \t\r\n]")
_NULL_BYTES = 4
_MOST_SPELLED = 12
"""Bytes that JSON may spell one character in: two escapes of six."""

_MOST_NAME_BYTES = 4_096
"""Longest spelled name that chooses the place of another member; no tool has one so long."""


@dataclass(slots=True)
class _Frame:
    """Follow one object or array that is looked into."""

    place: NullPlace
    is_object: bool
    first_gap: bytes | None = None
    """The white space before the first member, once that has begun."""
    has_member: bool = False
    """A member was passed on."""
    name: str = ""
    """The string that the member ``by`` holds."""


class NullTaking:
    """Take nulls out of one text.

    Args:
        plan: which.
    """

    def __init__(self, plan: NullPlan) -> None:
        self._plan = plan
        self._most_key_bytes = _MOST_SPELLED * plan.longest_key + 2
        self._frames: list[_Frame] = []
        self._held = bytearray()
        """The separator before a member, its key and its colon, where it is open whether they stay."""
        self._key_start = 0
        self._place: int | None = 0
        self._captured: bytearray | None = None
        self._is_escaped = False
        self._nested: ValueEnd | None = None
        self._left = 0
        self._step: Callable[[bytes, int, bytearray], int] = self._before_value

    def feed(self, data: bytes) -> bytes:
        """Return the bytes that are certain to stay."""
        found, at = bytearray(), 0
        while at < len(data):
            at = self._step(data, at, found)
        return bytes(found)

    def finish(self) -> bytes:
        """Return what was held back."""
        held = bytes(self._held)
        self._held.clear()
        return held

    def _before_value(self, data: bytes, at: int, found: bytearray) -> int:
        byte = data[at]
        is_held = bool(self._held)
        if byte in BLANK:
            (self._held if is_held else found).append(byte)
            return at + 1
        if is_held:
            if byte == ord("n"):
                return self._begin_taking(at)
            self._release(found)
        return self._begin(byte, data, at, found)

    def _begin(self, byte: int, data: bytes, at: int, found: bytearray) -> int:
        place = None if self._place is None else self._plan.places[self._place]
        if byte == ord('"'):
            self._pass(byte, found)
            self._step = self._in_string
        elif byte in b"{[":
            is_object = byte == ord("{")
            if place is None or (not is_object and place.items is None):
                self._nested = ValueEnd()
                self._step = self._in_nested
                return at
            self._pass(byte, found)
            self._frames.append(_Frame(place, is_object))
            self._step = self._before_key if is_object else self._begin_items
        else:
            self._step = self._in_scalar
            return at
        return at + 1

    def _pass(self, byte: int, found: bytearray) -> None:
        found.append(byte)
        if self._captured is not None:
            self._captured.append(byte)

    def _in_string(self, data: bytes, at: int, found: bytearray) -> int:
        if self._is_escaped:
            self._is_escaped = False
            self._pass(data[at], found)
            return at + 1
        match = _STRING_END.search(data, at)
        end = len(data) if match is None else match.end()
        found += data[at:end]
        if self._captured is not None and len(self._captured) <= _MOST_NAME_BYTES:
            self._captured += data[at:end]
        if match is not None:
            self._is_escaped = match[0] == b"\\"
            if not self._is_escaped:
                self._end_value()
        return end

    def _in_scalar(self, data: bytes, at: int, found: bytearray) -> int:
        match = _SCALAR_END.search(data, at)
        end = len(data) if match is None else match.start()
        found += data[at:end]
        if match is not None:
            self._end_value()
        return end

    def _in_nested(self, data: bytes, at: int, found: bytearray) -> int:
        assert self._nested is not None, "set with the step"
        end = self._nested.feed(data, at)
        found += data[at:end]
        if self._nested.is_whole:
            self._end_value()
        return end

    def _end_value(self) -> None:
        if self._captured is not None:
            name: object = json.loads(self._captured) if 0 < len(self._captured) <= _MOST_NAME_BYTES else ""
            self._frames[-1].name = name if isinstance(name, str) else ""
            self._captured = None
        self._step = self._after_value

    def _after_value(self, data: bytes, at: int, found: bytearray) -> int:
        """Read what stands between members or items, or behind the whole value."""
        if not self._frames:
            found += data[at:]
            return len(data)
        frame, byte = self._frames[-1], data[at]
        if frame.is_object:
            return self._before_key(data, at, found)
        found.append(byte)
        if byte == ord(","):
            self._place = frame.place.items
            self._step = self._before_value
        elif byte == ord("]"):
            self._close()
        return at + 1

    def _begin_items(self, data: bytes, at: int, found: bytearray) -> int:
        byte = data[at]
        if byte in BLANK:
            found.append(byte)
            return at + 1
        if byte == ord("]"):
            return self._after_value(data, at, found)
        self._place = self._frames[-1].place.items
        self._step = self._before_value
        return at

    def _before_key(self, data: bytes, at: int, found: bytearray) -> int:
        frame, byte = self._frames[-1], data[at]
        if byte == ord("}"):
            found += self._held
            self._held.clear()
            found.append(byte)
            self._close()
        elif byte == ord('"'):
            if frame.first_gap is None:
                frame.first_gap = bytes(self._held)
            if not frame.has_member:
                self._held[:] = frame.first_gap
            self._key_start = len(self._held)
            self._held.append(byte)
            self._step = self._in_key
        else:
            self._held.append(byte)
        return at + 1

    def _in_key(self, data: bytes, at: int, found: bytearray) -> int:
        if self._is_escaped:
            self._is_escaped = False
            self._held.append(data[at])
            return at + 1
        match = _STRING_END.search(data, at)
        end = len(data) if match is None else match.end()
        self._held += data[at:end]
        if match is not None and match[0] == b'"':
            self._end_key(found)
        else:
            self._is_escaped = match is not None
            if len(self._held) - self._key_start > self._most_key_bytes:
                self._release(found)
                self._step = self._in_long_key
        return end

    def _in_long_key(self, data: bytes, at: int, found: bytearray) -> int:
        """Read on in a key that is longer than every one that matters."""
        if self._is_escaped:
            self._is_escaped = False
            found.append(data[at])
            return at + 1
        match = _STRING_END.search(data, at)
        end = len(data) if match is None else match.end()
        found += data[at:end]
        self._is_escaped = match is not None and match[0] == b"\\"
        if match is not None and not self._is_escaped:
            self._place = None
            self._step = self._before_colon
        return end

    def _end_key(self, found: bytearray) -> None:
        frame = self._frames[-1]
        key: object = json.loads(self._held[self._key_start :])
        assert isinstance(key, str), "a key is a string"
        place = frame.place
        if key not in place.taken:
            self._release(found)
        if key == place.by:
            self._captured = bytearray()
        self._place = place.chosen.get(frame.name) if place.held and key == place.held else place.members.get(key)
        self._step = self._before_colon

    def _before_colon(self, data: bytes, at: int, found: bytearray) -> int:
        (self._held if self._held else found).append(data[at])
        if data[at] == ord(":"):
            self._step = self._before_value
        return at + 1

    def _release(self, found: bytearray) -> None:
        found += self._held
        self._held.clear()
        self._frames[-1].has_member = True

    def _begin_taking(self, at: int) -> int:
        self._held.clear()
        self._left = _NULL_BYTES
        self._step = self._taking
        return at

    def _taking(self, data: bytes, at: int, found: bytearray) -> int:
        taken = min(self._left, len(data) - at)
        self._left -= taken
        if not self._left:
            self._step = self._after_value
        return at + taken

    def _close(self) -> None:
        self._frames.pop()
        self._step = self._after_value


__all__ = ["NullTaking"]
