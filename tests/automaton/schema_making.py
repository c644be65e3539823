"""Make up schemas over every keyword of a draft, and values near them, for the property tests.

Keys, strings and numbers come from short lists, so that the parts of a schema, and its values, collide often.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from automaton.oracle import DRAFTS
from hypothesis import strategies as st

from commitgate.json_value import JsonValue

KEYS = ["a", "b", "ab", "aa", "é"]
TEXTS = ["", "a", "b", "ab", "aa", "é", "😀", "aé", "ba"]
NUMBERS: list[JsonValue] = [0, 1, 2, 3, -1, -2, 0.5, 1.0, 1.5, -0.5, 1e2, 12345678901234567890]
PATTERNS = ["a", "^a", "b$", "^a*$", "^[ab]{1,2}$", "^(a|é)", "^.$", "^$"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

key = st.sampled_from(KEYS)
scalar = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(TEXTS))
value: st.SearchStrategy[JsonValue] = st.recursive(
    scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=3), max_leaves=5
)
size = st.integers(0, 3)
bound = st.sampled_from([-1, 0, 1, 2, 0.5, 1.5, 100])
names = st.lists(key, max_size=2, unique=True)

_AFTER_4 = {"const", "contains", "propertyNames"}
_AFTER_6 = {"if"}
_AFTER_7 = {"unevaluatedItems", "unevaluatedProperties", "dependentSchemas", "dependentRequired", "bounded contains"}


@st.composite
def schemas(draw: st.DrawFn, draft: str, *, leaves: int = 6) -> JsonValue:
    """Return a schema of a draft, nested, recursive, with keywords of several types side by side."""
    inner = st.recursive(_boolean(draft), lambda below: _compound(below, draft), max_leaves=leaves)
    root = draw(_compound(inner, draft))
    uri = DRAFTS[draft][0]
    definitions = "definitions" if draft in ("4", "6", "7") else "$defs"
    first, second = draw(_compound(inner, draft)), draw(_compound(inner, draft))
    named: dict[str, JsonValue] = {"$anchor": "n"}
    if draft in ("4", "6", "7"):
        named = {"id" if draft == "4" else "$id": "#n"}
    elif draft == "2020-12":
        named["$dynamicAnchor"] = "d"
        second = {"$id": "http://example.test/y", "$dynamicAnchor": "d", **second}
    return {"$schema": uri, **root, definitions: {"x": {**named, **first}, "y": second}}


def _boolean(draft: str) -> st.SearchStrategy[JsonValue]:
    return st.sampled_from([{}, {"not": {}}]) if draft == "4" else st.booleans()


def _references(draft: str) -> st.SearchStrategy[dict[str, JsonValue]]:
    definitions = "definitions" if draft in ("4", "6", "7") else "$defs"
    places = st.sampled_from(["#", "#n", f"#/{definitions}/x", f"#/{definitions}/y"])
    found = _fixed({"$ref": places})
    if draft == "2019-09":
        found |= _one("$recursiveRef", st.just("#"))
    if draft == "2020-12":
        found = _fixed({"$ref": st.sampled_from(["/$defs/x", "/$defs/y"]).map("#".__add__)})
        found |= _one("$ref", st.just("http://example.test/y")) | _one("$dynamicRef", st.just("#d"))
    return found


def _compound(inner: st.SearchStrategy[JsonValue], draft: str) -> st.SearchStrategy[dict[str, JsonValue]]:
    groups = _groups(inner, draft)
    left_out: set[str] = set()
    for drafts, words in (("4", _AFTER_4), ("4 6", _AFTER_6), ("4 6 7", _AFTER_7)):
        left_out |= words if draft in drafts.split() else set()
    if draft in ("2019-09", "2020-12"):
        left_out |= {"dependencies"}
    if draft == "2019-09":
        # The other implementation takes the keys of a schema for keys of the value there.
        left_out |= {"unevaluatedItems", "unevaluatedProperties"}
    chosen = st.lists(st.sampled_from(sorted(groups.keys() - left_out)), max_size=3, unique=True)
    return chosen.flatmap(lambda picked: st.tuples(*(groups[name] for name in picked)).map(_merged))


def _merged(parts: tuple[dict[str, JsonValue], ...]) -> dict[str, JsonValue]:
    return {name: found for part in parts for name, found in part.items()}


def _fixed(
    needed: Mapping[str, st.SearchStrategy[JsonValue]],
    optional: Mapping[str, st.SearchStrategy[JsonValue]] | None = None,
) -> st.SearchStrategy[dict[str, JsonValue]]:
    return st.fixed_dictionaries(needed, optional=optional or {})


def _one(name: str, held: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[dict[str, JsonValue]]:
    return held.map(lambda found: {name: found})


def _groups(inner: st.SearchStrategy[JsonValue], draft: str) -> dict[str, st.SearchStrategy[dict[str, JsonValue]]]:
    branches = st.lists(inner, min_size=1, max_size=3)
    types = st.sampled_from(TYPES)
    some_names = st.lists(key, min_size=1, max_size=2, unique=True) if draft == "4" else names
    held = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(value, min_size=1, max_size=4, unique_by=repr),
        "const": value,
        "multipleOf": st.sampled_from([1, 2, 0.5, 1.5, 3]),
        "minLength": size,
        "maxLength": size,
        "pattern": st.sampled_from(PATTERNS),
        "minItems": size,
        "maxItems": size,
        "uniqueItems": st.booleans(),
        "contains": inner,
        "properties": st.dictionaries(key, inner, max_size=3),
        "additionalProperties": inner if draft != "4" else inner | st.booleans(),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, min_size=1, max_size=2),
        "propertyNames": inner,
        "required": some_names,
        "minProperties": size,
        "maxProperties": size,
        "dependencies": st.dictionaries(key, inner | some_names, min_size=1, max_size=2),
        "dependentRequired": st.dictionaries(key, names, min_size=1, max_size=2),
        "dependentSchemas": st.dictionaries(key, inner, min_size=1, max_size=2),
        "unevaluatedItems": inner,
        "unevaluatedProperties": inner,
        "allOf": branches,
        "anyOf": branches,
        "oneOf": branches,
        "not": inner,
    }
    groups = {name: _one(name, found) for name, found in held.items()}
    groups["$ref"] = _references(draft)
    groups["if"] = _fixed({"if": inner}, optional={"then": inner, "else": inner})
    groups["items"] = _items(inner, draft)
    groups["bounds"] = _bounds(draft)
    groups["bounded contains"] = _fixed({"contains": inner}, optional={"minContains": size, "maxContains": size})
    return groups


def _items(inner: st.SearchStrategy[JsonValue], draft: str) -> st.SearchStrategy[dict[str, JsonValue]]:
    listed = st.lists(inner, min_size=1, max_size=2)
    if draft == "2020-12":
        return _fixed({}, optional={"prefixItems": listed, "items": inner})
    further = inner if draft != "4" else inner | st.booleans()
    found = _fixed({"items": inner | listed}, optional={"additionalItems": further})
    # The other implementation breaks on ``additionalItems`` beside a boolean.
    return found.map(lambda held: {"items": held["items"]} if isinstance(held["items"], bool) else held)


def _bounds(draft: str) -> st.SearchStrategy[dict[str, JsonValue]]:
    if draft == "4":
        low = _fixed({"minimum": bound}, optional={"exclusiveMinimum": st.booleans()})
        high = _fixed({"maximum": bound}, optional={"exclusiveMaximum": st.booleans()})
        return st.tuples(low, high).map(_merged) | low | high
    limits = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    return _fixed({}, optional=dict.fromkeys(limits, bound))


def neighbours(found: JsonValue) -> Iterator[JsonValue]:
    """Yield values that differ from one in one place."""
    yield from (None, [found], {"a": found})
    if isinstance(found, list):
        yield from (found[:-1], [*found, *found[:1]], [*found, "a"], found[::-1])
        for index, item in enumerate(found):
            yield from ([*found[:index], other, *found[index + 1 :]] for other in list(neighbours(item))[3:])
    elif isinstance(found, dict):
        yield {**found, "ab": 1}
        yield {**found, "aa": "a"}
        for name, item in found.items():
            yield {other: kept for other, kept in found.items() if other != name}
            yield from ({**found, name: other} for other in list(neighbours(item))[3:])
            yield {**found, name: None}
    elif isinstance(found, str):
        yield from (found + "a", found[1:], "b" + found)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield from (found + 1, -found, found + 0.5)


def listed_values(schema: JsonValue) -> Iterator[JsonValue]:
    """Yield the values that a schema lists anywhere."""
    if isinstance(schema, list):
        for item in schema:
            yield from listed_values(item)
    elif isinstance(schema, dict):
        if "const" in schema:
            yield schema["const"]
        listed = schema.get("enum")
        yield from listed if isinstance(listed, list) else ()
        for item in schema.values():
            yield from listed_values(item)


def texts_of(found: JsonValue) -> tuple[bytes, ...]:
    """Return spellings of a value: white space and escapes differ."""
    return json.dumps(found, indent=1).encode(), json.dumps(found, ensure_ascii=False).encode()
