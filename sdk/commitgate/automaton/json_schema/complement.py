"""Write down what a language does not allow, as shapes again.

The complement of alternatives is what none of them allows, so the complements of all are met, type by type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol, TypeVar

from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.nodes import ANYTHING, NO_VALUE, Node, depth_of_node, opposite
from commitgate.automaton.json_schema.shapes import (
    ArrayShape,
    Contains,
    InexpressibleError,
    KeyClass,
    NumberShape,
    ObjectShape,
    Property,
    Some,
    StringShape,
    disjoint,
)
from commitgate.automaton.json_schema.text_sets import other_texts, texts_without
from commitgate.automaton.text_language import ANY_TEXT, of_texts

MAX_DEPTH = 3
"""Deepest nesting of negations in a node."""


class _Shape(Protocol):
    def meet(self: ShapeT, other: ShapeT, /) -> ShapeT | None: ...


ShapeT = TypeVar("ShapeT", bound=_Shape)


def complement(language: Language, pointer: str, keyword: str, limit: int) -> Language:
    """Return what ``language`` does not allow.

    Args:
        language: an exact one.
        pointer: place of the schema whose keyword asks for it.
        keyword: that keyword.
        limit: most alternatives of one type.

    Raises:
        InexpressibleError: it cannot be written as shapes, or takes more of them than the limit.
        TooManyStates: a language of strings in it is too large.
    """
    if not language.is_exact:
        raise InexpressibleError

    def arrays(shape: ArrayShape) -> Iterator[ArrayShape]:
        return _other_arrays(shape, pointer, keyword)

    def objects(shape: ObjectShape) -> Iterator[ObjectShape]:
        return _other_objects(shape, pointer, keyword)

    return Language(
        not language.has_null,
        frozenset({True, False}) - language.booleans,
        _none_of(language.numbers, NumberShape(), _other_numbers, limit),
        _none_of(language.strings, StringShape(), _other_strings, limit),
        _none_of(language.arrays, ArrayShape(), arrays, limit),
        _none_of(language.objects, ObjectShape(), objects, limit),
    )


def _none_of(
    shapes: Iterable[ShapeT], everything: ShapeT, others: Callable[[ShapeT], Iterable[ShapeT]], limit: int
) -> tuple[ShapeT, ...]:
    found: tuple[ShapeT, ...] = (everything,)
    for shape in shapes:
        alternatives = tuple(others(shape))
        if len(found) * len(alternatives) > limit:
            raise InexpressibleError
        met = (first.meet(second) for first in found for second in alternatives)
        found = tuple(dict.fromkeys(each for each in met if each is not None))
    return found


def _other_numbers(shape: NumberShape) -> Iterator[NumberShape]:
    if shape.is_literal:
        raise InexpressibleError
    return (NumberShape(numbers) for numbers in shape.numbers.complement())


def _other_strings(shape: StringShape) -> Iterator[StringShape]:
    return (StringShape(texts) for texts in other_texts(shape.language))


def _other_arrays(shape: ArrayShape, pointer: str, keyword: str) -> Iterator[ArrayShape]:
    if shape.unique:
        raise InexpressibleError
    if shape.least > 0:
        yield ArrayShape(most=shape.least - 1)
    if shape.most is not None:
        yield ArrayShape(least=shape.most + 1)
    for index, node in enumerate(shape.prefix):
        if node != ANYTHING:
            yield ArrayShape((ANYTHING,) * index + (_opposite(node, pointer, keyword),), least=index + 1)
    if shape.items != ANYTHING:
        outside = _opposite(shape.items, pointer, keyword)
        yield ArrayShape(contains=(Contains(outside, first=len(shape.prefix), pointer=pointer, keyword=keyword),))
    for counted in shape.contains:
        _check_depth(counted.node)
        if counted.least > 0:
            yield ArrayShape(contains=(replace(counted, least=0, most=counted.least - 1, evaluates=False),))
        if counted.most is not None:
            yield ArrayShape(contains=(replace(counted, least=counted.most + 1, most=None, evaluates=False),))


def _other_objects(shape: ObjectShape, pointer: str, keyword: str) -> Iterator[ObjectShape]:
    if shape.least > 0:
        yield ObjectShape(most=shape.least - 1, bounded_by=(pointer, keyword))
    if shape.most is not None:
        yield ObjectShape(least=shape.most + 1)
    for name in shape.required:
        yield ObjectShape((Property(name, NO_VALUE),))
    for name, needed in shape.needs:
        for other in needed:
            yield ObjectShape((Property(other, NO_VALUE),), required=(name,))
    for entry in shape.properties:
        if entry.node != ANYTHING:
            outside = _opposite(entry.node, pointer, keyword)
            yield ObjectShape((Property(entry.name, outside),), required=(entry.name,))
    yield from _other_keys(shape, pointer, keyword)
    for asked in shape.some:
        yield _none_such(asked, pointer, keyword)


def _other_keys(shape: ObjectShape, pointer: str, keyword: str) -> Iterator[ObjectShape]:
    """Yield the objects with an undeclared key that is forbidden, or that holds what it must not."""
    for keys in shape.classes:
        if keys.node != ANYTHING:
            outside = Some(keys.texts, _opposite(keys.node, pointer, keyword), pointer, keyword)
            yield from _some(shape, outside)
    rest = [ANY_TEXT]
    for keys in shape.classes:
        rest = [piece for language in rest for piece in texts_without(language, keys.texts)]
    for language in rest:
        yield from _some(shape, Some(language, ANYTHING, pointer, keyword))


def _some(shape: ObjectShape, asked: Some) -> Iterator[ObjectShape]:
    declared = of_texts(shape.by_name) if shape.by_name else None
    for piece in (asked.texts,) if declared is None else texts_without(asked.texts, declared):
        yield ObjectShape(some=(replace(asked, texts=piece),), is_open=True)


def _none_such(asked: Some, pointer: str, keyword: str) -> ObjectShape:
    rest = disjoint(list(texts_without(ANY_TEXT, asked.texts)))
    outside = KeyClass(asked.texts, _opposite(asked.node, pointer, keyword))
    return ObjectShape(classes=(outside, *(KeyClass(texts) for texts in rest)))


def _opposite(node: Node, pointer: str, keyword: str) -> Node:
    _check_depth(node)
    return opposite(node, pointer, keyword)


def _check_depth(node: Node) -> None:
    # Each complement of a complement of a conjunction is a node of its own, without end in a recursive schema.
    if depth_of_node(node) >= MAX_DEPTH:
        raise InexpressibleError


__all__ = ["complement"]
