"""Find shapes that cost a model more than they need to: open, wide, deep, repeated or unexplained ones."""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue
from commitgate.lint.finding import Finding, finding
from commitgate.lint.places import (
    Depths,
    PropertyPlace,
    branches_of,
    followed,
    is_branch,
    is_condition,
    objects_of,
    properties_of,
    speaks_for_whole,
    texts_of,
    types_of,
)
from commitgate.pointer import child

_MOST_NESTING = 5
"""Nesting that is no matter for advice."""

_MOST_BRANCHES = 10
"""Branches that are no matter for advice where a property tells them apart."""

_MOST_ENUM_VALUES = 100
"""Values of one list that are no matter for advice."""

_FEW_BRANCHES = 3
_MANY_OPTIONAL = 6
_LARGE_SCHEMA = 120
"""Characters of compact JSON from which writing a schema out twice is worth a word."""

_NAMED = 5

_SAYS_TYPE = frozenset(
    {"type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if"}
)
"""Keywords that may well say the type; a schema with one of them is not looked into for it."""

_KEYWORDS_OF = {
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}
    ),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}


def shape_findings(document: SchemaDocument, depths: Depths) -> Iterator[Finding]:
    """Yield what could be simpler about a schema's shape.

    Args:
        document: the schema.
        depths: how deep its values nest.
    """
    for place, schema in objects_of(document):
        yield from _of_type(place, schema)
        declared = list(properties_of(document, place, schema))
        yield from _of_object(document, place, schema, declared)
        yield from _of_choice(document, place, schema)
        values = schema.get("enum")
        yield from large_list(place, len(values) if isinstance(values, list) else 0, "enum")
    yield from _of_depth(depths)
    yield from _duplicates(document)


def _of_type(place: str, schema: JsonObject) -> Iterator[Finding]:
    """Yield the finding of a schema whose keywords are about one type, yet let every other type through."""
    if schema.keys() & _SAYS_TYPE or not speaks_for_whole(place) or is_branch(place):
        return
    for wanted, keywords in _KEYWORDS_OF.items():
        used = [word for word in schema if word in keywords]
        if used:
            message = f"{used[0]} is about values of type {wanted}, and lets every value of another type through"
            yield finding("missing_type", place, message, f'write "type": "{wanted}" beside it', keyword=used[0])
            return


def large_list(pointer: str, count: int, keyword: str) -> Iterator[Finding]:
    """Yield the finding of a long list of values, where it is one."""
    if count > _MOST_ENUM_VALUES:
        message = f"{count:,} values: a model chooses badly among so many, and sees them all in its prompt"
        instead = "choose a group first and a value in it then, or look the value up in a rule"
        yield finding("large_enum", pointer, message, instead, keyword=keyword)


def _of_object(
    document: SchemaDocument, place: str, schema: JsonObject, declared: list[PropertyPlace]
) -> Iterator[Finding]:
    names = {each.name for each in declared}
    missing = [name for name in texts_of(schema.get("required")) if name not in names]
    if missing and (declared or "required" in schema) and speaks_for_whole(place) and not is_branch(place):
        message = f"required names what properties does not declare: {_listed(missing)}"
        instead = "declare it, or take it out of required; several engines make such a key impossible"
        yield finding("undeclared_required", place, message, instead, keyword="required")
    # What only tells when something holds is not what a model writes.
    if not declared or is_condition(place):
        return
    if not schema.keys() & {"additionalProperties", "unevaluatedProperties", "patternProperties"} and speaks_for_whole(
        place
    ):
        message = "it does not say what other keys may hold: they are never generated here, yet accepted from a server"
        yield finding("open_object", place, message, "set additionalProperties to false")
    optional = [each.name for each in declared if not each.is_required]
    if len(optional) >= _MANY_OPTIONAL and 2 * len(optional) >= len(declared):
        message = (
            f"{len(optional)} of {len(declared)} properties are optional: a model must decide each time which to write"
        )
        instead = "require what is wanted, with null where there may be none; or split the object by what it is for"
        yield finding("optional_heavy", place, message, instead, keyword="required")
    silent = [each.name for each in declared if not _is_described(each)]
    if silent:
        message = f"{len(silent)} of {len(declared)} properties have no description: {_listed(silent)}"
        instead = (
            "say in a few words what is wanted; title and description are shown to the model and constrain nothing"
        )
        yield finding("missing_description", place, message, instead, keyword="properties")


def _is_described(declared: PropertyPlace) -> bool:
    description, title = declared.schema.get("description"), declared.schema.get("title")
    if isinstance(description, str) and description:
        return True
    # A title that repeats the name, as generators of schemas write it, explains nothing.
    return isinstance(title, str) and _letters(title) not in ("", _letters(declared.name))


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _of_choice(document: SchemaDocument, place: str, schema: JsonObject) -> Iterator[Finding]:
    for keyword in ("anyOf", "oneOf"):
        places = [branch for name, branch in branches_of(schema, place) if name == keyword]
        objects = [found for each in places if _is_object(found := followed(document, each))]
        if len(objects) >= _FEW_BRANCHES and _discriminator(document, places) is None:
            message = f"{len(objects)} kinds of object, and no property tells them apart by its value"
            instead = "give each branch a required property of the same name with a const of its own, first of all"
            yield finding("wide_choice", place, message, instead, keyword=keyword)
        elif len(places) > _MOST_BRANCHES:
            message = f"{len(places)} branches: the model must keep all of them in mind"
            instead = "choose the kind in a call of its own, then ask for that kind alone"
            yield finding("wide_choice", place, message, instead, keyword=keyword)


def _is_object(schema: JsonObject) -> bool:
    return "properties" in schema or types_of(schema) == {"object"}


def _discriminator(document: SchemaDocument, places: list[str]) -> str | None:
    """Return a property that each object branch requires with a value of its own; None where there is none."""
    found: dict[str, list[str]] = {}
    objects = [schema for place in places if _is_object(schema := followed(document, place))]
    for schema in objects:
        properties = schema.get("properties")
        for name in texts_of(schema.get("required")):
            held = properties.get(name) if isinstance(properties, dict) else None
            value = _single_value(held)
            if value is not None:
                found.setdefault(name, []).append(value)
    return next((name for name, values in found.items() if len(set(values)) == len(objects) == len(values)), None)


def discriminated(document: SchemaDocument, places: list[str]) -> bool:
    """Return whether a property tells all the branches at some places apart."""
    schemas = [followed(document, place) for place in places]
    if all(map(_is_object, schemas)):
        return _discriminator(document, places) is not None
    kinds = [types_of(schema) for schema in schemas]
    named = [kind for each in kinds for kind in each]
    return all(kinds) and len(set(named)) == len(named) and not {"integer", "number"} <= set(named)


def _single_value(schema: JsonValue) -> str | None:
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return canonical(schema["const"])
    values = schema.get("enum")
    return canonical(values[0]) if isinstance(values, list) and len(values) == 1 else None


def _of_depth(depths: Depths) -> Iterator[Finding]:
    nesting = max(depths.depth.values(), default=0)
    if nesting > _MOST_NESTING:
        message = f"values nest {nesting} deep: small models lose count of the brackets' meaning"
        yield finding(
            "deep_nesting",
            depths.deepest(),
            message,
            "flatten it: lift inner properties up into what holds them, or ask for the inner part in a call of its own",
        )
    for place in depths.recursive:
        message = "it refers back to where it stands; only Limits.nesting ends that"
        instead = "write the levels out that are wanted, or bound the arrays on the way"
        yield finding("unbounded_depth", place, message, instead)


def _duplicates(document: SchemaDocument) -> Iterator[Finding]:
    """Yield each schema that is written out more than once, largest first to be met, with how often."""
    numbers: dict[object, int] = {}
    sizes: list[int] = []
    found: dict[str, int] = {}
    _number(document, document.root, "", numbers, sizes, found)
    places: dict[int, list[str]] = {}
    for place, _ in objects_of(document):
        if place in found and sizes[found[place]] >= _LARGE_SCHEMA:
            places.setdefault(found[place], []).append(place)
    told: set[str] = set()
    for same in places.values():
        if len(same) > 1 and not all(_is_below(place, told) for place in same):
            message = f"the same schema is written out {len(same)} times, also at {_listed(same[1:])}"
            instead = "write it once in $defs and refer to it: shorter in the prompt, and equal by construction"
            yield finding("duplicate_schema", same[0], message, instead)
            told.update(same)


def _is_below(place: str, told: set[str]) -> bool:
    while place:
        place = place.rpartition("/")[0]
        if place in told:
            return True
    return False


def _number(
    document: SchemaDocument,
    value: JsonValue,
    place: str,
    numbers: dict[object, int],
    sizes: list[int],
    found: dict[str, int],
) -> int:
    """Return a number that equal values share, and note that of every schema below.

    It goes as deep as the schema nests, which ``Limits.schema_nesting`` bounds.
    """
    match value:
        case dict():
            parts = [
                (name, _number(document, item, child(place, name), numbers, sizes, found))
                for name, item in value.items()
            ]
            size = 2 + sum(len(name) + 4 + sizes[number] for name, number in parts)
            number = _known(("object", *parts), size, numbers, sizes)
            if place in document.schemas:
                found[place] = number
            return number
        case list():
            items = [
                _number(document, item, child(place, index), numbers, sizes, found) for index, item in enumerate(value)
            ]
            return _known(("array", *items), 2 + sum(sizes[each] + 1 for each in items), numbers, sizes)
        case _:
            text = canonical(value)
            return _known(text, len(text), numbers, sizes)


def _known(key: object, size: int, numbers: dict[object, int], sizes: list[int]) -> int:
    number = numbers.get(key)
    if number is None:
        number = numbers[key] = len(sizes)
        sizes.append(size)
    return number


def _listed(names: list[str]) -> str:
    shown = ", ".join(harmless(name[:60]) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


__all__ = ["discriminated", "large_list", "shape_findings"]
