"""Work out ``oneOf``: what exactly one branch allows.

Branches that no value can satisfy together, by a type, a discriminator or a language, are simply joined. Where two
overlap, what both allow is taken out by the complement of the other; where that cannot be written, ``oneOf`` is decoded
as ``anyOf`` and checked after generation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from commitgate.automaton.json_schema.language import NOTHING, Language, joined
from commitgate.automaton.json_schema.shapes import NumberShape, StringShape
from commitgate.automaton.number_set import NumberSet
from commitgate.json_value import JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Meaning

MAX_EXACT_BRANCHES = 60
"""Most branches that are told apart pair by pair."""

MAX_COMPLEMENT = 60
"""Most alternatives of one type in the complement of a branch."""

MAX_ALTERNATIVES = 300
"""Most alternatives into which branches may be split to tell them apart; each costs while a text is read."""

_OVERLAP = "branches overlap, and the complement of one of them cannot be decoded"
_TOO_MANY = "its branches are too many to be told apart"


def exactly_one(meaning: Meaning, beside: Language, branches: JsonValue, place: str) -> Language:
    """Return what ``beside`` allows and exactly one branch; where that is too dear, a part of it, and a checked row.

    Args:
        meaning: reads the branches.
        beside: what all other keywords of the place allow; it tells branches apart that alone would overlap.
        branches: the value of ``oneOf``.
        place: place of the schema that holds it.
    """
    assert isinstance(branches, list)
    alone = [meaning.of(meaning.node_at(child(place, "oneOf", index))) for index in range(len(branches))]
    # What an inexact branch lists may not be allowed by it, so nothing can be told from how often it is listed.
    listed = _listed(alone) if all(language.is_exact for language in alone) else None
    if listed is not None:
        return meaning.meet(beside, listed, "oneOf", place)
    languages = [meaning.meet(beside, language, "oneOf", place) for language in alone]
    if not meaning.fits_branches(sum(language.branches for language in languages)):
        meaning.check("oneOf", place, "its branches have more alternatives than Limits.branches", loses_evaluation=True)
        return replace(beside, is_exact=False)
    if len(branches) > MAX_EXACT_BRANCHES:
        meaning.check("oneOf", place, _TOO_MANY)
        return meaning.few_numbers(replace(joined(languages), is_exact=False), "oneOf", place)
    return meaning.few_numbers(_Branches(meaning, languages, alone, place).joined(), "oneOf", place)


class _Branches:
    """Hold the branches of one ``oneOf``."""

    def __init__(self, meaning: Meaning, languages: list[Language], alone: list[Language], place: str) -> None:
        self._meaning = meaning
        self._languages = languages
        self._alone_languages = alone
        self._place = place
        self._emptiness = meaning.emptiness
        self._complements: dict[int, Language | None] = {}

    def joined(self) -> Language:
        """Return what exactly one branch allows."""
        found = NOTHING
        for index, language in enumerate(self._languages):
            found = found.join(self._alone(index, language))
            if found.branches > max(MAX_ALTERNATIVES, 2 * sum(each.branches for each in self._languages)):
                return self._checked(joined(self._languages))
        return found

    def _alone(self, index: int, language: Language) -> Language:
        for other, theirs in enumerate(self._languages):
            if other == index or self._emptiness.are_disjoint(language, theirs):
                continue
            outside = self._outside(other)
            met = None if outside is None else self._meaning.try_meet(language, outside)
            if met is None:
                return self._checked(language)
            language = self._emptiness.pruned(met)
        return language

    def _checked(self, language: Language) -> Language:
        self._meaning.check("oneOf", self._place, _OVERLAP)
        return replace(language, is_exact=False)

    def _outside(self, index: int) -> Language | None:
        if index not in self._complements:
            language = self._alone_languages[index]
            self._complements[index] = self._meaning.try_complement(language, "oneOf", self._place, MAX_COMPLEMENT)
        return self._complements[index]


def _listed(languages: list[Language]) -> Language | None:
    """Return the scalars that one branch alone lists; None where a branch does more than list scalars."""
    counts: Counter[tuple[str, object]] = Counter()
    for language in languages:
        if not _is_listed(language):
            return None
        counts.update(list(dict.fromkeys(_scalars(language))))
    once = [scalar for scalar, count in counts.items() if count == 1]
    numbers = NumberSet.of_values(value for _, value in once if isinstance(value, Decimal))
    strings = tuple(value for _, value in once if isinstance(value, str))
    return Language(
        any(kind == "null" for kind, _ in once),
        frozenset(value for _, value in once if isinstance(value, bool)),
        (NumberShape(numbers),) if numbers else (),
        (StringShape(values=strings),) if strings else (),
    )


def _is_listed(language: Language) -> bool:
    return (
        not (language.arrays or language.objects)
        and all(shape.values is not None for shape in language.strings)
        and all(shape.numbers.values is not None and not shape.is_literal for shape in language.numbers)
    )


def _scalars(language: Language) -> Iterator[tuple[str, object]]:
    if language.has_null:
        yield "null", None
    for value in language.booleans:
        yield "boolean", value
    for number in language.numbers:
        for listed in number.numbers.values or ():
            yield "number", listed
    for string in language.strings:
        for text in string.values or ():
            yield "string", text


__all__ = ["exactly_one"]
