"""Read the keywords that speak of objects.

Source: JSON Schema drafts 4 to 2020-12, applicator and validation vocabularies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.language import EVERYTHING, Language, all_but
from commitgate.automaton.json_schema.nodes import ANYTHING, NO_VALUE, Node, forbids, meet_nodes
from commitgate.automaton.json_schema.scalar_keywords import size_of
from commitgate.automaton.json_schema.shapes import ANY_KEY, KeyClass, ObjectShape, Property, disjoint
from commitgate.automaton.json_schema.text_sets import common_texts, texts_without
from commitgate.automaton.text_language import ANY_TEXT, TextLanguage
from commitgate.json_value import JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Keywords, Meaning, Reader

MAX_KEY_CLASSES = 100
"""Most languages into which the patterns of one place may split its keys."""

_PATTERNS_TOO_LARGE = "the patterns of the keys would need too large an automaton"


def _members(meaning: Meaning, schema: Keywords, place: str) -> Language:
    properties, is_written = schema.get("properties", {}), "additionalProperties" in schema
    assert isinstance(properties, dict)
    rest = meaning.node_at(child(place, "additionalProperties")) if is_written else ANYTHING
    above = child(place, "properties")
    nodes = {name: meaning.node_at(child(above, name)) for name in properties}
    is_exact = True
    try:
        patterns = _patterns(meaning, schema, place)
        classes = _classes(patterns, rest, is_written=is_written)
    except TooManyStates:
        for keyword in schema.keys() & {"patternProperties", "additionalProperties"}:
            meaning.check(keyword, place, _PATTERNS_TOO_LARGE)
        patterns, classes, is_exact = [], ANY_KEY, False
        meaning.has_lost_evaluation = True
    for texts, node in patterns:
        nodes |= {name: meet_nodes(held, node) for name, held in nodes.items() if texts.contains(name)}
    tracks = meaning.tracks_evaluation
    entries = tuple(Property(name, node, tracks) for name, node in nodes.items())
    if not tracks:
        classes = tuple(KeyClass(keys.texts, keys.node) if keys.is_evaluated else keys for keys in classes)
    shape = ObjectShape(entries, classes, is_open=is_written or bool(patterns))
    return all_but(objects=(shape,), is_exact=is_exact)


def _patterns(meaning: Meaning, schema: Keywords, place: str) -> list[tuple[TextLanguage, Node]]:
    patterns = schema.get("patternProperties", {})
    assert isinstance(patterns, dict)
    found: list[tuple[TextLanguage, Node]] = []
    for pattern in patterns:
        texts = meaning.language_of_pattern(pattern, place, "patternProperties")
        if texts is not None:
            found.append((texts, meaning.node_at(child(place, "patternProperties", pattern))))
    return found


def _classes(patterns: Iterable[tuple[TextLanguage, Node]], rest: Node, *, is_written: bool) -> tuple[KeyClass, ...]:
    """Return the undeclared keys by the patterns that they match; ``rest`` holds for those that match none."""
    found = list(ANY_KEY)
    for texts, node in patterns:
        split: list[KeyClass] = []
        for keys in found:
            inside = common_texts(keys.texts, texts)
            if inside is not None:
                split.append(KeyClass(inside, meet_nodes(keys.node, node), is_evaluated=True))
            split.extend(
                KeyClass(piece, keys.node, keys.is_evaluated)
                for piece in disjoint(list(texts_without(keys.texts, texts)))
            )
        found = split
        if len(found) > MAX_KEY_CLASSES:
            raise TooManyStates("the patterns split the keys too finely", MAX_KEY_CLASSES)
    held = (keys if keys.is_evaluated else KeyClass(keys.texts, rest, is_evaluated=is_written) for keys in found)
    return tuple(keys for keys in held if not forbids(keys.node))


def _names(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del schema
    language = meaning.of(meaning.node_at(child(place, "propertyNames")))
    texts = [shape.language for shape in language.strings]
    if ANY_TEXT in texts:
        return all_but(is_exact=language.is_exact)
    classes = tuple(KeyClass(piece) for piece in disjoint(texts))
    return all_but(objects=(ObjectShape(classes=classes),), is_exact=language.is_exact)


def _counts(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning
    required = schema.get("required", [])
    assert isinstance(required, list)
    names = tuple(str(name) for name in required)
    least, most = size_of(schema, "minProperties") or 0, size_of(schema, "maxProperties")
    shape = ObjectShape(required=names, least=least, most=most, bounded_by=(place, "maxProperties"))
    is_possible = most is None or most >= max(least, len(names))
    return all_but(objects=(shape,) if is_possible else ())


def _dependent_required(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning, place
    found = schema["dependentRequired"]
    assert isinstance(found, dict)
    return _needing({name: names for name, names in found.items() if isinstance(names, list)})


def _needing(names: dict[str, list[JsonValue]]) -> Language:
    needs = tuple((name, tuple(str(other) for other in others)) for name, others in names.items() if others)
    return all_but(objects=(ObjectShape(needs=needs),)) if needs else EVERYTHING


def _dependent_schemas(meaning: Meaning, schema: Keywords, place: str) -> Language:
    return _depending(meaning, schema, place, "dependentSchemas")


def _dependencies(meaning: Meaning, schema: Keywords, place: str) -> Language:
    found = schema["dependencies"]
    assert isinstance(found, dict)
    needing = _needing({name: names for name, names in found.items() if isinstance(names, list)})
    return meaning.meet(needing, _depending(meaning, schema, place, "dependencies"), "dependencies", place)


def _depending(meaning: Meaning, schema: Keywords, place: str, keyword: str) -> Language:
    """Return the objects that, for each key, lack it or satisfy its schema."""
    parts = schema[keyword]
    assert isinstance(parts, dict)
    found = EVERYTHING
    for name, part in parts.items():
        if isinstance(part, list):
            continue
        language = meaning.of(meaning.node_at(child(place, keyword, name)))
        having = ObjectShape(required=(name,))
        with_it = (shape.meet(having) for shape in language.objects)
        lacking = ObjectShape((Property(name, NO_VALUE),))
        shapes = (lacking, *(shape for shape in with_it if shape is not None))
        either = all_but(objects=shapes, is_exact=language.is_exact)
        found = meaning.meet(found, either, keyword, place)
    return found


OBJECT_READERS: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"properties", "patternProperties", "additionalProperties"}), _members),
    (frozenset({"required", "minProperties", "maxProperties"}), _counts),
    (frozenset({"propertyNames"}), _names),
    (frozenset({"dependentRequired"}), _dependent_required),
    (frozenset({"dependentSchemas"}), _dependent_schemas),
    (frozenset({"dependencies"}), _dependencies),
)

__all__ = ["OBJECT_READERS"]
