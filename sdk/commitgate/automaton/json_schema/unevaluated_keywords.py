"""Read ``unevaluatedItems`` and ``unevaluatedProperties``, which speak of what no other keyword of a place looked at.

Every alternative remembers what was evaluated on the way to it, so the question is answered alternative by
alternative.

Source: JSON Schema 2019-09 core section 9.3, 2020-12 core section 11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.nodes import Node, either, forbids, meet_nodes
from commitgate.automaton.json_schema.shapes import ArrayShape, KeyClass, ObjectShape, Property
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Keywords, Meaning

_LOST = "the alternatives beside it are too many to remember what each evaluates"


def without_unevaluated(meaning: Meaning, found: Language, schema: Keywords, place: str) -> Language:
    """Return what is left of ``found``, which all other keywords of the place allow."""
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword not in schema:
            continue
        # What was left out makes a language inexact, so an exact one has lost nothing.
        if meaning.has_lost_evaluation and not found.is_exact:
            meaning.check(keyword, place, _LOST)
            found = replace(found, is_exact=False)
            continue
        node = meaning.node_at(child(place, keyword))
        if keyword == "unevaluatedProperties":
            found = replace(found, objects=tuple(_object(shape, node) for shape in found.objects))
        else:
            found = replace(found, arrays=tuple(_array(shape, node, place) for shape in found.arrays))
    return found


def _object(shape: ObjectShape, node: Node) -> ObjectShape:
    properties = tuple(
        entry if entry.is_evaluated else Property(entry.name, meet_nodes(entry.node, node), is_evaluated=True)
        for entry in shape.properties
    )
    classes = (
        keys if keys.is_evaluated else KeyClass(keys.texts, meet_nodes(keys.node, node), is_evaluated=True)
        for keys in shape.classes
    )
    allowed = tuple(keys for keys in classes if not forbids(keys.node))
    return replace(shape, properties=properties, classes=allowed, is_open=True)


def _array(shape: ArrayShape, node: Node, place: str) -> ArrayShape:
    if shape.evaluated is None:
        return shape
    counted = tuple(entry.node for entry in shape.contains if entry.evaluates)
    rest = either((node, *counted), place)
    length = max(len(shape.prefix), shape.evaluated)
    prefix = tuple(
        shape.item(index) if index < shape.evaluated else meet_nodes(shape.item(index), rest) for index in range(length)
    )
    return replace(shape, prefix=prefix, items=meet_nodes(shape.items, rest), evaluated=None)


__all__ = ["without_unevaluated"]
