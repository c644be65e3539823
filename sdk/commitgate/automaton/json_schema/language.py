"""Hold what a place allows over all JSON types: alternatives for each type, and how they meet and join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TypeVar

from commitgate.automaton.json_schema.shapes import ArrayShape, NumberShape, ObjectShape, StringShape
from commitgate.automaton.number_set import ANY_INTEGER, NumberSet
from commitgate.automaton.text_language import ANY_TEXT

ShapeT = TypeVar("ShapeT")


@dataclass(frozen=True, slots=True)
class Language:
    """Hold what a place allows: for each type the alternatives, none where the type is forbidden.

    Attributes:
        has_null: null is allowed.
        booleans: the allowed ones.
        numbers, strings, arrays, objects: the alternatives of each type.
        is_exact: nothing else is allowed that the schema forbids. Else a complement must not be taken.
    """

    has_null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()
    is_exact: bool = True

    @property
    def branches(self) -> int:
        """Return the number of alternatives."""
        return len(self.numbers) + len(self.strings) + len(self.arrays) + len(self.objects)

    @property
    def is_empty(self) -> bool:
        """Return whether no alternative is left."""
        return not (self.has_null or self.booleans or self.branches)

    def meet(self, other: Language) -> Language:
        """Return what both allow."""
        return Language(
            self.has_null and other.has_null,
            self.booleans & other.booleans,
            _distinct(first.meet(second) for first, second in product(self.numbers, other.numbers)),
            _distinct(first.meet(second) for first, second in product(self.strings, other.strings)),
            _distinct(first.meet(second) for first, second in product(self.arrays, other.arrays)),
            _distinct(first.meet(second) for first, second in product(self.objects, other.objects)),
            self.is_exact and other.is_exact,
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
            self.is_exact and other.is_exact,
        )


def joined(languages: Iterable[Language]) -> Language:
    """Return what at least one of the languages allows."""
    found = NOTHING
    for language in languages:
        found = found.join(language)
    return found


def _distinct(shapes: Iterable[ShapeT | None]) -> tuple[ShapeT, ...]:
    return tuple(dict.fromkeys(shape for shape in shapes if shape is not None))


def _join_numbers(shapes: tuple[NumberShape, ...]) -> tuple[NumberShape, ...]:
    """Join lists of values into one, so that an enum written as many branches costs one term."""
    if any(shape.is_everything for shape in shapes):
        return (NumberShape(),)
    listed: dict[Decimal, None] = {}
    rest: dict[NumberShape, None] = {}
    for shape in shapes:
        if shape.numbers.values is None or shape.is_literal:
            rest[shape] = None
        else:
            listed.update(dict.fromkeys(shape.numbers.values))
    values = NumberSet.of_values(listed)
    if NumberShape(ANY_INTEGER) in rest:
        rest = {shape: None for shape in rest if shape.numbers.divisor != 1 or shape.numbers == ANY_INTEGER}
    return tuple(rest) if values is None else (*rest, NumberShape(values))


def _join_strings(shapes: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
    listed = tuple(dict.fromkeys(value for shape in shapes for value in shape.values or ()))
    rest = _distinct(shape for shape in shapes if shape.values is None)
    if any(shape.texts == ANY_TEXT for shape in rest):
        return (StringShape(),)
    return (*rest, StringShape(values=listed)) if listed else rest


EVERYTHING = Language(
    True, frozenset({True, False}), (NumberShape(),), (StringShape(),), (ArrayShape(),), (ObjectShape(),)
)
NOTHING = Language()


__all__ = ["EVERYTHING", "NOTHING", "Language", "joined"]
