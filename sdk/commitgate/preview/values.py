"""Build values out of events, in parts that never change once they are there.

A container that is closed becomes one read-only object, which everything that is built later shares. A container that
is open becomes a new object with each snapshot in which it has grown, and stays the same object where it has not. So a
snapshot costs what the open containers hold directly, and nothing for what is inside their finished children.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, TypeAlias, cast

from commitgate.json_value import JsonValue
from commitgate.preview.atomic import Places
from commitgate.preview.events import Event
from commitgate.preview.read_only import ReadOnlyDict, ReadOnlyList

_SHARED_KEYS: Final = 1_024
"""Keys kept so that equal ones of different objects are one string; what the text invents does not grow it further."""


class _Absent(Enum):
    ABSENT = auto()


_ABSENT: Final = _Absent.ABSENT
_Child: TypeAlias = "JsonValue | _Absent"


class _Array:
    """Hold an open array: what the last snapshot has of it, and the finished items since."""

    __slots__ = ("_added", "_kept", "_shown", "places")

    def __init__(self, places: Places | None) -> None:
        self.places = places
        self._shown = ReadOnlyList.of()
        self._kept = 0
        self._added: list[JsonValue] = []

    def next_places(self) -> Places | None:
        return None if self.places is None else self.places.of_item(self._kept + len(self._added))

    def take(self, value: JsonValue) -> None:
        self._added.append(value)

    def snapshot(self, child: _Child) -> ReadOnlyList:
        shown, kept = self._shown, self._kept
        has_child = child is not _ABSENT
        is_same = not self._added and len(shown) == kept + has_child
        if not is_same or (has_child and shown[-1] is not child):
            base = shown if len(shown) == kept else shown[:kept]
            last: list[JsonValue] = [] if child is _ABSENT else [child]
            self._shown = ReadOnlyList.of(base, self._added, last) if self._added else ReadOnlyList.of(base, last)
            self._kept = kept + len(self._added)
            self._added = []
        return self._shown


class _Object:
    """Hold an open object: what the last snapshot has of it, and the finished members since."""

    __slots__ = ("_added", "_kept", "_shown", "name", "places")

    def __init__(self, places: Places | None) -> None:
        self.places = places
        self.name = ""
        self._shown = ReadOnlyDict.of()
        self._kept = 0
        self._added: dict[str, JsonValue] = {}

    def next_places(self) -> Places | None:
        return None if self.places is None else self.places.of_member(self.name)

    def take(self, value: JsonValue) -> None:
        self._added[self.name] = value

    def snapshot(self, child: _Child) -> ReadOnlyDict:
        shown, kept = self._shown, self._kept
        has_child = child is not _ABSENT
        is_same = not self._added and len(shown) == kept + has_child
        if not is_same or (has_child and shown[self.name] is not child):
            # A member that the last snapshot shows unfinished is replaced in its place, by the key's finished value
            # or by more of it: nothing else can follow an open member.
            last: dict[str, JsonValue] = {} if child is _ABSENT else {self.name: child}
            self._shown = ReadOnlyDict.of(shown, self._added, last) if self._added else ReadOnlyDict.of(shown, last)
            self._kept = kept + len(self._added)
            self._added = {}
        return self._shown


class ValueBuilder:
    """Take the events of one text in, and show what they have built so far.

    Args:
        places: says which strings are held until they are closed; None where none is.
    """

    __slots__ = ("_keys", "_open", "_places", "_root")

    def __init__(self, places: Places | None = None) -> None:
        self._places = places
        self._root: _Child = _ABSENT
        self._open: list[_Array | _Object] = []
        self._keys: dict[str, str] = {}

    def send(self, event: Event) -> None:
        """Take one event in."""
        name, value = event
        match name:
            case "map_key":
                # ijson sends keys inside objects alone, and keys are strings.
                cast("_Object", self._open[-1]).name = self._shared(cast("str", value))
            case "start_map":
                self._open.append(_Object(self._next_places()))
            case "start_array":
                self._open.append(_Array(self._next_places()))
            case "end_map" | "end_array":
                self._take(self._open.pop().snapshot(_ABSENT))
            case _:
                self._take(value)

    @property
    def depth(self) -> int:
        """Return how many containers are open."""
        return len(self._open)

    def take_root(self) -> JsonValue:
        """Return the root value, which must be whole, and begin anew."""
        root, self._root = self._root, _ABSENT
        return None if root is _ABSENT else root

    def holds_next(self) -> bool:
        """Return whether a string that comes next is to be held until it is closed."""
        places = self._next_places()
        return places is not None and places.is_atomic

    def snapshot(self, text: str | None) -> JsonValue:
        """Return the root value so far; there must be one.

        Args:
            text: what is to be shown of the open string; None where none is open, or it is held.
        """
        child: _Child = _ABSENT if text is None else text
        for container in reversed(self._open):
            child = container.snapshot(child)
        if child is not _ABSENT:
            return child
        return None if self._root is _ABSENT else self._root

    def _take(self, value: JsonValue) -> None:
        if self._open:
            self._open[-1].take(value)
        else:
            self._root = value

    def _next_places(self) -> Places | None:
        return self._open[-1].next_places() if self._open else self._places

    def _shared(self, name: str) -> str:
        if len(self._keys) < _SHARED_KEYS:
            return self._keys.setdefault(name, name)
        return self._keys.get(name, name)


__all__ = ["ValueBuilder"]
