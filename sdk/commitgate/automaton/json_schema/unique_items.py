"""Find the arrays whose items must differ and come from a short list, so that those used can be remembered."""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.meaning import Meaning
from commitgate.automaton.json_schema.nodes import Scalar
from commitgate.automaton.json_schema.shapes import ArrayShape
from commitgate.automaton.json_schema.text_sets import few_texts

MAX_VALUES = 64
"""Most values of an item for which those used are remembered."""

_MANY = f"which of more than {MAX_VALUES} values, or of arrays and objects, were used is not remembered"


class UniqueItems:
    """Answer which values the items of arrays with ``uniqueItems`` have.

    Args:
        meaning: what each node allows.
    """

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._known: dict[ArrayShape, tuple[Scalar, ...] | None] = {}

    def values(self, shape: ArrayShape) -> tuple[Scalar, ...] | None:
        """Return the values of which no array of the shape may hold one twice; None where it is not decoded.

        Where items must differ and it is not decoded, the keyword is marked as checked.
        """
        if not shape.unique or (shape.most is not None and shape.most < 2):
            return None
        if shape not in self._known:
            self._known[shape] = self._find(shape)
        return self._known[shape]

    def _find(self, shape: ArrayShape) -> tuple[Scalar, ...] | None:
        if not shape.prefix and not shape.contains:
            values = list(_scalars(self._meaning.of(shape.items)))
            if None not in values:
                return tuple(value for found in values if found is not None for value in found)
        for place in shape.unique:
            self._meaning.check("uniqueItems", place, _MANY)
        return None


def _scalars(language: Language) -> Iterator[tuple[Scalar, ...] | None]:
    """Yield the scalars of each type that the language allows; None where they are more than a few or none."""
    if language.arrays or language.objects:
        yield None
    scalars: list[Scalar] = [None] if language.has_null else []
    scalars += sorted(language.booleans)
    for number in language.numbers:
        listed = None if number.is_literal else number.numbers.listed(MAX_VALUES)
        if listed is None:
            yield None
        else:
            scalars += listed
    for string in language.strings:
        texts = few_texts(string.texts, MAX_VALUES) if string.values is None else string.values
        if texts is None:
            yield None
        else:
            scalars += texts
    distinct = {(type(value), value): value for value in scalars}
    yield tuple(distinct.values()) if len(distinct) <= MAX_VALUES else None


__all__ = ["UniqueItems"]
