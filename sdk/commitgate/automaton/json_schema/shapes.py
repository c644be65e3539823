"""Hold what a place of a schema allows, one record for each JSON type, and how such records meet and join.

All keywords of one place hold at once. Written as a *shape* for each type, that conjunction is taken type by type,
objects with objects and strings with strings, so no intersection of automata is ever needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TypeAlias, TypeVar

ShapeT = TypeVar("ShapeT")


@dataclass(frozen=True, slots=True)
class SchemaAt:
    """Stand for the schema at a place of the document."""

    pointer: str


@dataclass(frozen=True, slots=True)
class Exactly:
    """Stand for one JSON value that lies at a place of the document, as ``enum`` and ``const`` give them."""

    pointer: str


@dataclass(frozen=True, slots=True)
class Never:
    """Stand for no value at all: what the undeclared keys of a listed object may hold."""

    pointer: str = ""


Part: TypeAlias = "SchemaAt | Exactly | Never"
Node: TypeAlias = "tuple[Part, ...]"
"""Parts that hold at once, sorted; the empty node allows everything."""

ANYTHING: Node = ()
NO_VALUE: Node = (Never(),)


def meet_nodes(first: Node, second: Node) -> Node:
    """Return the node at which both hold."""
    if first == second or not second:
        return first
    return tuple(sorted({*first, *second}, key=lambda part: (part.pointer, type(part).__name__)))


@dataclass(frozen=True, slots=True)
class NumberShape:
    """Allow numbers: integers alone, or listed values alone where ``values`` is given."""

    is_integer: bool = False
    values: tuple[Decimal, ...] | None = None

    def meet(self, other: NumberShape) -> NumberShape | None:
        """Return what both allow, None where nothing."""
        is_integer = self.is_integer or other.is_integer
        if self.values is None and other.values is None:
            return NumberShape(is_integer)
        first, second = (self, other) if self.values is not None else (other, self)
        allowed = None if second.values is None else frozenset(second.values)
        values = tuple(
            value
            for value in first.values or ()
            if (allowed is None or value in allowed) and not (is_integer and value != value.to_integral_value())
        )
        return NumberShape(values=values) if values else None


@dataclass(frozen=True, slots=True)
class StringShape:
    """Allow strings by length in code points, or listed values alone where ``values`` is given."""

    least: int = 0
    most: int | None = None
    values: tuple[str, ...] | None = None

    def meet(self, other: StringShape) -> StringShape | None:
        """Return what both allow, None where nothing."""
        least, most = max(self.least, other.least), _least_of(self.most, other.most)
        if self.values is None and other.values is None:
            return None if most is not None and most < least else StringShape(least, most)
        first, second = (self, other) if self.values is not None else (other, self)
        allowed = None if second.values is None else frozenset(second.values)
        values = tuple(
            value
            for value in first.values or ()
            if least <= len(value) and (most is None or len(value) <= most) and (allowed is None or value in allowed)
        )
        return StringShape(values=values) if values else None


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Allow arrays: the first items by position, all further ones by ``items``."""

    prefix: tuple[Node, ...] = ()
    items: Node = ANYTHING
    least: int = 0
    most: int | None = None

    def item(self, index: int) -> Node:
        """Return the node of the item at ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.items

    def meet(self, other: ArrayShape) -> ArrayShape | None:
        """Return what both allow, None where nothing."""
        least, most = max(self.least, other.least), _least_of(self.most, other.most)
        if most is not None and most < least:
            return None
        length = max(len(self.prefix), len(other.prefix))
        prefix = tuple(meet_nodes(self.item(index), other.item(index)) for index in range(length))
        return ArrayShape(prefix, meet_nodes(self.items, other.items), least, most)


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """Allow objects.

    Attributes:
        properties: declared keys in order of first appearance, each with its node.
        required: keys that must be there, declared or not.
        additional: what undeclared keys may hold.
        is_additional_written: some place wrote out what undeclared keys may hold.
    """

    properties: tuple[tuple[str, Node], ...] = ()
    required: tuple[str, ...] = ()
    additional: Node = ANYTHING
    is_additional_written: bool = False

    def meet(self, other: ObjectShape) -> ObjectShape | None:
        """Return what both allow."""
        mine, theirs = dict(self.properties), dict(other.properties)
        names = dict.fromkeys([*mine, *theirs])
        properties = tuple(
            (name, meet_nodes(mine.get(name, self.additional), theirs.get(name, other.additional))) for name in names
        )
        return ObjectShape(
            properties,
            tuple(dict.fromkeys([*self.required, *other.required])),
            meet_nodes(self.additional, other.additional),
            self.is_additional_written or other.is_additional_written,
        )


def _least_of(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


@dataclass(frozen=True, slots=True)
class Language:
    """Hold what a place allows: for each type the alternatives, none where the type is forbidden."""

    has_null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()

    @property
    def branches(self) -> int:
        """Return the number of alternatives."""
        return len(self.numbers) + len(self.strings) + len(self.arrays) + len(self.objects)

    def meet(self, other: Language) -> Language:
        """Return what both allow."""
        return Language(
            self.has_null and other.has_null,
            self.booleans & other.booleans,
            _distinct(first.meet(second) for first, second in product(self.numbers, other.numbers)),
            _distinct(first.meet(second) for first, second in product(self.strings, other.strings)),
            _distinct(first.meet(second) for first, second in product(self.arrays, other.arrays)),
            _distinct(first.meet(second) for first, second in product(self.objects, other.objects)),
        )

    def join(self, other: Language) -> Language:
        """Return what either allows."""
        return Language(
            self.has_null or other.has_null,
            self.booleans | other.booleans,
            _join_numbers((*self.numbers, *other.numbers)),
            _join_strings((*self.strings, *other.strings)),
            _distinct((*self.arrays, *other.arrays)),
            _distinct((*self.objects, *other.objects)),
        )


def _distinct(shapes: Iterable[ShapeT | None]) -> tuple[ShapeT, ...]:
    return tuple(dict.fromkeys(shape for shape in shapes if shape is not None))


def _join_numbers(shapes: tuple[NumberShape, ...]) -> tuple[NumberShape, ...]:
    """Join lists of values into one, so that an enum written as many branches costs one term."""
    if any(shape.values is None and not shape.is_integer for shape in shapes):
        return (NumberShape(),)
    listed = tuple(dict.fromkeys(value for shape in shapes for value in shape.values or ()))
    rest = _distinct(shape for shape in shapes if shape.values is None)
    return (*rest, NumberShape(values=listed)) if listed else rest


def _join_strings(shapes: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
    listed = tuple(dict.fromkeys(value for shape in shapes for value in shape.values or ()))
    rest = _distinct(shape for shape in shapes if shape.values is None)
    return (*rest, StringShape(values=listed)) if listed else rest


EVERYTHING = Language(
    True, frozenset({True, False}), (NumberShape(),), (StringShape(),), (ArrayShape(),), (ObjectShape(),)
)
NOTHING = Language()


__all__ = [
    "ANYTHING",
    "EVERYTHING",
    "NOTHING",
    "NO_VALUE",
    "ArrayShape",
    "Exactly",
    "Language",
    "Never",
    "Node",
    "NumberShape",
    "ObjectShape",
    "Part",
    "SchemaAt",
    "StringShape",
    "meet_nodes",
]
