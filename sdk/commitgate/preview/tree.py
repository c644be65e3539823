"""Grow a JSON value by appending alone, so that an earlier moment of it can be read at any later time.

Everything carries a stamp: the number of the chunk that brought it. A moment is such a number too, so taking a snapshot
copies nothing, all snapshots share one tree, and what a snapshot shows can never change. Not for several threads at
once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

from commitgate.json_value import JsonScalar, JsonValue
from commitgate.pointer import child

_NEVER = 1 << 62
"""Stamp of what has not happened yet."""


class Text:
    """Hold a string that is shown while it is open."""

    __slots__ = ("_length", "_lengths", "_pieces", "_stamps", "closed_at")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._lengths = array("q")
        self._stamps = array("q")
        self.closed_at = _NEVER

    def append(self, piece: str, stamp: int) -> None:
        """Add what came at ``stamp``."""
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)
            self._lengths.append(self._length)
            self._stamps.append(stamp)

    def at(self, moment: int) -> str:
        """Return the text as it was at a moment."""
        count = bisect_right(self._stamps, moment)
        length = self._lengths[count - 1] if count else 0
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0][:length] if length else ""


class Container:
    """Hold an array or an object.

    Attributes:
        names: the keys of an object, in the order of the text; None for an array.
        closed_at: stamp of its closing bracket.
    """

    __slots__ = ("_children", "_stamps", "closed_at", "names")

    def __init__(self, *, is_object: bool) -> None:
        self.names: list[str] | None = [] if is_object else None
        self._children: list[Node] = []
        self._stamps = array("q")
        self.closed_at = _NEVER

    def __len__(self) -> int:
        return len(self._children)

    def append(self, child: Node, stamp: int, name: str | None = None) -> None:
        """Add an item, or a member where this is an object."""
        if self.names is not None and name is not None:
            self.names.append(name)
        self._children.append(child)
        self._stamps.append(stamp)

    def count_at(self, moment: int) -> int:
        """Return how many children there were at a moment."""
        return len(self._stamps) if self.closed_at <= moment else bisect_right(self._stamps, moment)

    def children_at(self, moment: int) -> Iterator[tuple[str | int, Node]]:
        """Yield the children that there were at a moment, each with its key or index."""
        names, children = self.names, self._children
        for index in range(self.count_at(moment)):
            yield (index if names is None else names[index]), children[index]


Node: TypeAlias = "Container | Text | JsonScalar"
"""A child; a scalar is whole from the start."""


def value_at(document: Container, moment: int) -> list[JsonValue]:
    """Build the items of ``document`` as they were at a moment, out of new lists and dictionaries.

    Without recursion: the depth is the text's, not Python's.
    """
    result: list[JsonValue] = []
    todo: list[tuple[Container, list[JsonValue] | dict[str, JsonValue]]] = [(document, result)]
    while todo:
        container, target = todo.pop()
        for key, inner in container.children_at(moment):
            value: JsonValue
            if isinstance(inner, Container):
                value = [] if inner.names is None else {}
                todo.append((inner, value))
            else:
                value = inner.at(moment) if isinstance(inner, Text) else inner
            if isinstance(target, dict):
                target[str(key)] = value
            else:
                target.append(value)
    return result


def final_paths_at(document: Container, moment: int) -> Iterator[str]:
    """Yield the JSON pointer of every value inside ``document`` that could not change any more at a moment.

    The pointer of the item of ``document`` itself is ``""``.
    """
    todo = [("", inner) for _, inner in document.children_at(moment)]
    while todo:
        pointer, node = todo.pop()
        if not isinstance(node, Container | Text) or node.closed_at <= moment:
            yield pointer
        if isinstance(node, Container):
            for key, inner in node.children_at(moment):
                todo.append((child(pointer, key), inner))


__all__ = ["Container", "Node", "Text", "final_paths_at", "value_at"]
