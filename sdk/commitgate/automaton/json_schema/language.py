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

ShapeT = TypeVar("ShapeT", NumberShape, StringShape, ArrayShape, ObjectShape)


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
            _met(self.numbers, other.numbers, ANY_NUMBERS),
            _met(self.strings, other.strings, ANY_STRINGS),
            _met(self.arrays, other.arrays, ANY_ARRAYS),
            _met_objects(self.objects, other.objects),
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


def _met(first: tuple[ShapeT, ...], second: tuple[ShapeT, ...], everything: tuple[ShapeT, ...]) -> tuple[ShapeT, ...]:
    """Return what two lists of alternatives allow both; most keywords leave all types but one as they are."""
    if first is everything or second is everything:
        return _distinct(second if first is everything else first)
    return _distinct(mine.meet(theirs) for mine, theirs in product(first, second))


def _met_objects(first: tuple[ObjectShape, ...], second: tuple[ObjectShape, ...]) -> tuple[ObjectShape, ...]:
    found = _met(first, second, ANY_OBJECTS)
    if first is ANY_OBJECTS or second is ANY_OBJECTS:
        return tuple(shape for shape in found if not shape.is_contradictory)
    return found


def _distinct(shapes: Iterable[ShapeT | None]) -> tuple[ShapeT, ...]:
    found = [shape for shape in shapes if shape is not None]
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))


def _join_numbers(shapes: tuple[NumberShape, ...]) -> tuple[NumberShape, ...]:
    """Join lists of values into one, so that an enum written as many branches costs one term."""
    if len(shapes) < 2:
        return shapes
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
    if len(shapes) < 2:
        return shapes
    listed = tuple(dict.fromkeys(value for shape in shapes for value in shape.values or ()))
    rest = _distinct(shape for shape in shapes if shape.values is None)
    if any(shape.texts == ANY_TEXT for shape in rest):
        return (StringShape(),)
    return (*rest, StringShape(values=listed)) if listed else rest


ANY_BOOLEAN = frozenset({True, False})
ANY_NUMBERS = (NumberShape(),)
ANY_STRINGS = (StringShape(),)
ANY_ARRAYS = (ArrayShape(),)
ANY_OBJECTS = (ObjectShape(),)


def all_but(
    *,
    numbers: tuple[NumberShape, ...] = ANY_NUMBERS,
    strings: tuple[StringShape, ...] = ANY_STRINGS,
    arrays: tuple[ArrayShape, ...] = ANY_ARRAYS,
    objects: tuple[ObjectShape, ...] = ANY_OBJECTS,
    is_exact: bool = True,
) -> Language:
    """Return all values, of the types that are given but these."""
    return Language(True, ANY_BOOLEAN, numbers, strings, arrays, objects, is_exact)


EVERYTHING = all_but()
NOTHING = Language()


__all__ = [
    "ANY_ARRAYS",
    "ANY_BOOLEAN",
    "ANY_NUMBERS",
    "ANY_OBJECTS",
    "ANY_STRINGS",
    "EVERYTHING",
    "NOTHING",
    "Language",
    "all_but",
    "joined",
]
