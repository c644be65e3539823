"""Read the keywords that speak of arrays.

Source: JSON Schema drafts 4 to 2020-12; ``items`` as a list and ``additionalItems`` until 2019-09, then
``prefixItems`` and ``items``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.language import EVERYTHING, Language, all_but
from commitgate.automaton.json_schema.nodes import ANYTHING, Node
from commitgate.automaton.json_schema.scalar_keywords import size_of
from commitgate.automaton.json_schema.shapes import ArrayShape, Contains
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Keywords, Meaning, Reader


def _items(meaning: Meaning, schema: Keywords, place: str) -> Language:
    if meaning.document.draft_at(place) >= Draft.DRAFT_2020_12:
        listed, rest = "prefixItems", "items"
    elif isinstance(schema.get("items"), list):
        listed, rest = "items", "additionalItems"
    else:
        listed, rest = "", "items"
    entries = schema.get(listed)
    prefix: tuple[Node, ...] = ()
    if isinstance(entries, list):
        prefix = tuple(meaning.node_at(child(place, listed, index)) for index in range(len(entries)))
    is_written = rest in schema
    items = meaning.node_at(child(place, rest)) if is_written else ANYTHING
    evaluated = (None if is_written else len(prefix)) if meaning.tracks_evaluation else 0
    return _of_array(ArrayShape(prefix, items, evaluated=evaluated))


def _sizes(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning, place
    least, most = size_of(schema, "minItems") or 0, size_of(schema, "maxItems")
    return _of_array(None if most is not None and most < least else ArrayShape(least=least, most=most))


def _contains(meaning: Meaning, schema: Keywords, place: str) -> Language:
    least, most = size_of(schema, "minContains"), size_of(schema, "maxContains")
    least = 1 if least is None else least
    if most is not None and most < least:
        return _of_array(None)
    evaluates = meaning.tracks_evaluation and meaning.document.draft_at(place) >= Draft.DRAFT_2020_12
    if least == 0 and most is None and not evaluates:
        return EVERYTHING
    node = meaning.node_at(child(place, "contains"))
    if most is None and node == ANYTHING:
        return _of_array(ArrayShape(least=least, evaluated=None if evaluates else 0))
    return _of_array(ArrayShape(contains=(Contains(node, least, most, 0, place, evaluates=evaluates),)))


def _unique(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning
    return _of_array(ArrayShape(unique=(place,))) if schema["uniqueItems"] is True else EVERYTHING


def _of_array(shape: ArrayShape | None) -> Language:
    return all_but(arrays=() if shape is None else (shape,))


ARRAY_READERS: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"prefixItems", "items", "additionalItems"}), _items),
    (frozenset({"minItems", "maxItems"}), _sizes),
    (frozenset({"contains"}), _contains),
    (frozenset({"uniqueItems"}), _unique),
)

__all__ = ["ARRAY_READERS"]
