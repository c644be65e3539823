"""Limits and hostile schemas: each ends quickly, with a typed error that names the limit, or with what is checked."""

from __future__ import annotations

import pytest
from automaton.reading import assert_reads

from commitgate.automaton import Automaton, compile
from commitgate.errors import ContractError, LimitExceededError, SchemaError, UnsupportedError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits

# A guard against a walk without an end, not a measurement: each of these takes a second or two.
pytestmark = pytest.mark.timeout(60)


def nested(keyword: str, depth: int, leaf: JsonValue) -> JsonValue:
    """Return a schema nested in one keyword."""
    schema = leaf
    for _ in range(depth):
        schema = {keyword: [schema] if keyword in ("allOf", "anyOf", "oneOf") else schema}
    return schema


def ring(keyword: str, length: int) -> JsonValue:
    """Return schemas that refer to each other in a ring, through one keyword."""
    definitions: dict[str, JsonValue] = {}
    for number in range(length):
        reference: JsonValue = {"$ref": f"#/$defs/d{(number + 1) % length}"}
        definitions[f"d{number}"] = {keyword: [reference] if keyword in ("allOf", "anyOf", "oneOf") else reference}
    return {"$defs": definitions, "$ref": "#/$defs/d0"}


def begin(automaton: Automaton, text: bytes) -> bool:
    """Return whether a text may begin so."""
    return automaton.acceptor().feed(text)


WIDE = [f"p{number}" for number in range(10_000)]


@pytest.mark.parametrize("dialect", ["accept", "generate"])
def test_object_of_ten_thousand_keys_is_read(dialect: str) -> None:
    schema: JsonValue = {"type": "object", "properties": {name: {"type": "null"} for name in WIDE}, "required": ["p0"]}
    automaton = compile(schema, dialect="accept" if dialect == "accept" else "generate")
    assert automaton.accepts(b'{"p0": null, "p9999": null}')
    assert not automaton.accepts(b'{"p0": null, "p9999": 1}')


def test_object_of_many_keys_with_a_fewest_number_is_written() -> None:
    properties: dict[str, JsonValue] = {name: {"type": "null"} for name in WIDE[:3000]}
    schema: JsonValue = {
        "type": "object",
        "properties": properties,
        "minProperties": 2999,
        "additionalProperties": False,
    }
    automaton = compile(schema, dialect="generate")
    assert begin(automaton, b'{"p0": null, "p2": null, "p3')
    assert not begin(automaton, b'{"p0": null, "p3')


def test_one_more_property_than_the_limit_is_refused() -> None:
    with pytest.raises(LimitExceededError) as caught:
        compile({"properties": {name: {} for name in [*WIDE, "one more"]}})
    assert (caught.value.limit_name, caught.value.found) == ("properties", 10_001)


def test_thousand_branches_of_one_of_are_read_or_checked_and_reject_nothing_valid() -> None:
    branches: list[JsonValue] = [
        {"type": "object", "properties": {"k": {"const": f"v{n}"}, f"x{n}": {"type": "null"}}, "required": ["k"]}
        for n in range(1000)
    ]
    automaton = compile({"oneOf": branches})
    assert automaton.accepts(b'{"k": "v999", "x999": null}')
    assert not automaton.accepts(b'{"k": "v1000"}')


def test_thousand_listed_branches_are_one_enum() -> None:
    branches: list[JsonValue] = [{"const": f"v{n}", "title": f"t{n}"} for n in range(1000)]
    for keyword in ("oneOf", "anyOf"):
        assert_reads({keyword: branches}, ['"v0"', '"v999"'], ['"v1000"', "1"])


def test_product_of_branches_ends_in_a_checked_row() -> None:
    pairs: list[JsonValue] = [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(30)]
    automaton = compile({"type": "object", "allOf": pairs})
    assert ("allOf", "checked") in {(row.keyword, row.level) for row in automaton.support}
    assert begin(automaton, b'{"a0": 1')
    assert not begin(automaton, b"[")


def test_huge_numbers_of_items_and_characters_cost_nothing() -> None:
    huge = 10**12
    asking: list[tuple[JsonValue, bytes]] = [
        ({"type": "array", "items": {"type": "null"}, "minItems": huge}, b"[null, null"),
        ({"type": "array", "contains": {"const": 1}, "minContains": huge}, b"[1, 1"),
        ({"type": "array", "contains": {"const": 1}, "minContains": huge, "maxContains": huge + 1}, b"[1, 1"),
        ({"type": "string", "minLength": huge}, b'"abc'),
        ({"type": "object", "minProperties": huge}, b'{"a": 1'),
    ]
    for schema, text in asking:
        for dialect in ("accept", "generate"):
            automaton = compile(schema, dialect="accept" if dialect == "accept" else "generate")
            assert begin(automaton, text), (schema, dialect)
            assert not automaton.accepts(text + b"]")


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"contains": {"const": n}, "minContains": 3, "maxContains": 5} for n in range(20)], "maxItems": 60},
        {"allOf": [{"contains": {"minimum": n}, "maxContains": 5} for n in range(12)]},
        {"allOf": [{"contains": {"const": n}, "minContains": 10**6} for n in (1, 2)], "maxItems": 2 * 10**6},
        {"allOf": [{"contains": {"const": n}, "minContains": 100} for n in (1, 2)], "maxItems": 200},
    ],
)
def test_many_counted_items_end(schema: dict[str, JsonValue]) -> None:
    for dialect in ("accept", "generate"):
        automaton = compile({"type": "array", **schema}, dialect="accept" if dialect == "accept" else "generate")
        assert begin(automaton, b"[1, 1, 2")


@pytest.mark.parametrize(
    "pattern",
    ["^(a|b)*a(a|b){30}$", "^(?=.*a)(?=.*b)(?=.*c)(?=.*d).{8,4000}$"],
)
def test_pattern_that_explodes_ends_decoded_or_checked(pattern: str) -> None:
    held: JsonValue = {"pattern": pattern}
    schemas: list[dict[str, JsonValue]] = [{"pattern": pattern}, {"not": held}, {"propertyNames": held}]
    for schema in schemas:
        automaton = compile(schema)
        assert {row.level for row in automaton.support} <= {"decoded", "checked"}
        assert automaton.accepts(b"1") or "not" in schema


def test_pattern_that_cannot_even_be_walked_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="unfold") as caught:
        compile({"properties": {"a": {"pattern": "^((((a{1,100}){1,100}){1,100}){1,100})$"}}})
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "pattern")


def test_many_patterns_that_explode_share_one_budget() -> None:
    properties: dict[str, JsonValue] = {f"p{n}": {"pattern": f"^(a|b)*a(a|b){{20}}c{n}$"} for n in range(1000)}
    automaton = compile({"properties": properties})
    assert automaton.accepts(b'{"p999": "x"}')
    assert ("pattern", "/properties/p999", "checked") in {
        (row.keyword, row.pointer, row.level) for row in automaton.support
    }


def test_many_patterns_of_one_place_end() -> None:
    schemas: list[JsonValue] = [
        {"allOf": [{"pattern": f"a.{{{n}}}b"} for n in range(1, 30)]},
        {"patternProperties": {f"{chr(97 + n)}": {"minimum": n} for n in range(20)}},
        {"patternProperties": {f"(a|b){{{n}}}c": {"minimum": n} for n in range(1, 12)}},
    ]
    for schema in schemas:
        automaton = compile(schema)
        assert automaton.accepts(b"1")
        assert automaton.accepts(b"{}")


def test_deep_nesting_is_read_up_to_its_limit() -> None:
    for keyword in ("allOf", "oneOf", "anyOf"):
        assert compile(nested(keyword, 60, {"type": "null"})).accepts(b"null")
    for keyword, limit in (("items", "schema_nesting"), ("allOf", "schema_nesting"), ("not", "reference_depth")):
        with pytest.raises(LimitExceededError) as caught:
            compile(nested(keyword, 120 if keyword == "not" else 200, {"type": "null"}))
        assert caught.value.limit_name == limit


@pytest.mark.parametrize("keyword", ["not", "allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("length", [1, 2, 50, 200])
def test_ring_that_reads_nothing_is_refused(keyword: str, length: int) -> None:
    with pytest.raises((SchemaError, LimitExceededError)):
        compile(ring(keyword, length))


@pytest.mark.parametrize("keyword", ["items", "additionalProperties", "contains"])
def test_long_ring_through_values_is_read(keyword: str) -> None:
    automaton = compile(ring(keyword, 500))
    assert automaton.accepts(b"1")


def test_names_judged_through_too_many_references_are_refused() -> None:
    with pytest.raises(LimitExceededError) as caught:
        compile(ring("propertyNames", 500))
    assert caught.value.limit_name == "reference_depth"


A: JsonValue = {"$ref": "#/$defs/a"}
B: JsonValue = {"$ref": "#/$defs/b"}


@pytest.mark.parametrize(
    "schema",
    [
        {
            "oneOf": [
                {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"not": {"$ref": "#"}}}, "required": ["a"]},
                {"type": "null"},
            ]
        },
        {
            "$defs": {
                "a": {"type": "object", "properties": {"x": {"oneOf": [B, {"not": A}]}}},
                "b": {"type": "object", "properties": {"y": {"not": A}, "x": B}},
            },
            "$ref": "#/$defs/a",
            "not": B,
        },
        {
            "$defs": {
                "a": {"properties": {"x": {"oneOf": [A, B]}}},
                "b": {"properties": {"x": {"not": A}, "y": {"oneOf": [A, {"not": B}]}}},
            },
            "oneOf": [A, B],
        },
        {
            "type": "array",
            "items": {"$ref": "#"},
            "contains": {"not": {"$ref": "#"}},
            "minContains": 0,
            "maxContains": 1,
        },
        {"if": {"properties": {"a": {"$ref": "#"}}}, "then": {"required": ["b"]}, "else": {"not": {"required": ["c"]}}},
        {
            "$defs": {"a": {"properties": {"x": {"allOf": [A, B]}}}, "b": {"properties": {"x": {"anyOf": [A, B]}}}},
            "allOf": [A, B],
        },
    ],
)
def test_mutual_recursion_through_complements_ends(schema: dict[str, JsonValue]) -> None:
    for dialect in ("accept", "generate"):
        try:
            automaton = compile(schema, dialect="accept" if dialect == "accept" else "generate")
        except ContractError:
            continue
        begin(automaton, b'{"x": {"x": {"y": [[]]}}, "a": {"a": {"a": null}}}')
        begin(automaton, b"[[[[]], []]]")


def test_conditions_by_the_hundred_end() -> None:
    conditions: list[JsonValue] = [
        {"if": {"properties": {"k": {"const": n}}, "required": ["k"]}, "then": {"required": [f"r{n}"]}}
        for n in range(100)
    ]
    automaton = compile({"type": "object", "allOf": conditions})
    assert automaton.accepts(b'{"k": 5, "r5": 1}')


def test_unevaluated_keys_of_many_branches_end() -> None:
    branches: list[JsonValue] = [{"properties": {f"a{n}": {}}} for n in range(30)]
    assert compile({"anyOf": branches, "unevaluatedProperties": False}).accepts(b'{"a3": 1}')


def test_dependent_schemas_by_the_dozen_end() -> None:
    dependents: dict[str, JsonValue] = {f"a{n}": {"required": [f"b{n}"]} for n in range(40)}
    assert compile({"dependentSchemas": dependents}).accepts(b'{"a3": 1, "b3": 1}')


def test_thousands_of_embedded_resources_are_read() -> None:
    resources: dict[str, JsonValue] = {
        f"x{n}": {"$id": f"http://example.com/{n}", "$defs": {"y": {"type": "null"}}} for n in range(3000)
    }
    assert compile({"$defs": resources, "$ref": "http://example.com/2999#/$defs/y"}).accepts(b"null")


def test_work_past_its_limit_is_checked_and_rejects_nothing_valid() -> None:
    branches: list[JsonValue] = [{"properties": {f"k{n}": {"type": "null"}}, "required": [f"k{n}"]} for n in range(12)]
    schema: JsonValue = {
        "type": "object",
        "allOf": [{"anyOf": branches}, {"anyOf": branches}],
        "not": {"required": ["z"]},
    }
    for effort in (1, 10, 100, 1000):
        automaton = compile(schema, limits=Limits(effort=effort))
        assert automaton.accepts(b'{"k1": null}')
    assert "checked" in {row.level for row in compile(schema, limits=Limits(effort=1)).support}
    assert {row.level for row in compile(schema).support} == {"decoded"}
