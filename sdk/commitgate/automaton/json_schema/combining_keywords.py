"""Read the keywords that combine schemas: references, branches, negation and conditions.

Source: JSON Schema drafts 4 to 2020-12 core, applicator vocabulary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commitgate.automaton.json_schema.language import EVERYTHING, Language, joined
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Keywords, Meaning, Reader

_TOO_MANY = "its branches have more alternatives than Limits.branches"
_DYNAMIC = "several schemas may be meant, depending on the way to it"


def _any_of(meaning: Meaning, schema: Keywords, place: str) -> Language:
    branches = schema["anyOf"]
    assert isinstance(branches, list)
    languages = [meaning.of(meaning.node_at(child(place, "anyOf", index))) for index in range(len(branches))]
    if not meaning.fits_branches(sum(language.branches for language in languages)):
        return meaning.check("anyOf", place, _TOO_MANY, loses_evaluation=True)
    if meaning.tracks_evaluation:
        languages = _with_meets(meaning, languages)
    return meaning.few_numbers(joined(languages), "anyOf", place)


def _with_meets(meaning: Meaning, languages: list[Language]) -> list[Language]:
    """Return the languages and all their meets: what several branches allow, each of them evaluates."""
    found: list[Language] = []
    for language in languages:
        met = [meaning.try_meet(other, language) for other in found]
        found = [*found, language, *(each for each in met if each is not None and not each.is_empty)]
        if None in met or not meaning.fits_branches(sum(each.branches for each in found)):
            meaning.has_lost_evaluation = True
            return [replace(each, is_exact=False) for each in languages]
    return found


def _not(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del schema
    return meaning.complement(meaning.node_at(child(place, "not")), "not", place)


def _if(meaning: Meaning, schema: Keywords, place: str) -> Language:
    if "then" not in schema and "else" not in schema and not meaning.tracks_evaluation:
        return EVERYTHING
    node = meaning.node_at(child(place, "if"))
    condition = meaning.of(node)
    then, otherwise = (
        meaning.of(meaning.node_at(child(place, keyword))) if keyword in schema else EVERYTHING
        for keyword in ("then", "else")
    )
    if then is EVERYTHING and otherwise is EVERYTHING and not meaning.tracks_evaluation:
        return EVERYTHING
    holds = meaning.meet(condition, then, "if", place)
    fails = meaning.meet(meaning.complement(node, "if", place), otherwise, "if", place)
    return holds.join(fails)


def _reference(meaning: Meaning, schema: Keywords, place: str) -> Language:
    reference = schema["$ref"]
    assert isinstance(reference, str)
    return meaning.of(meaning.node_at(meaning.document.resolve(reference, place)))


def _dynamic_reference(meaning: Meaning, schema: Keywords, place: str) -> Language:
    reference = schema["$dynamicRef"]
    assert isinstance(reference, str)
    return _one_target(meaning, meaning.document.resolve_dynamic(reference, place), "$dynamicRef", place)


def _recursive_reference(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del schema
    return _one_target(meaning, meaning.document.resolve_recursive(place), "$recursiveRef", place)


def _one_target(meaning: Meaning, target: str | None, keyword: str, place: str) -> Language:
    if target is None:
        return meaning.check(keyword, place, _DYNAMIC, loses_evaluation=True)
    return meaning.of(meaning.node_at(target))


COMBINING_READERS: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"$ref"}), _reference),
    (frozenset({"$dynamicRef"}), _dynamic_reference),
    (frozenset({"$recursiveRef"}), _recursive_reference),
    (frozenset({"anyOf"}), _any_of),
    (frozenset({"not"}), _not),
    (frozenset({"if"}), _if),
)

__all__ = ["COMBINING_READERS"]
