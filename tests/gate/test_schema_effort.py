"""What the schema layer does before work that could take forever."""

import json

import pytest

from commitgate import Contract
from commitgate.errors import LimitExceededError
from commitgate.gate.effort import MOST_IN_PLACE, MOST_WAYS, Effort
from commitgate.gate.references import References
from commitgate.gate.schema_layer import UNLISTED, SchemaLayer

ENTANGLED = {
    "anyOf": [
        {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
        {"properties": {"a": {"$ref": "#"}}, "required": ["c"]},
    ]
}


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def doubled(levels: int) -> dict[str, object]:
    """Return definitions of which each refers to the next twice."""
    names = [f"d{level}" for level in range(levels)]
    below = [*names[1:], "last"]
    defs: dict[str, object] = {
        name: {"allOf": [{"$ref": f"#/$defs/{inner}"}, {"$ref": f"#/$defs/{inner}"}]}
        for name, inner in zip(names, below, strict=True)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, "last": {"properties": {"a": {"type": "null"}}}}}


def test_failures_that_would_double_with_every_level_are_not_listed() -> None:
    layer = SchemaLayer(ENTANGLED)
    assert [failure.code for failure in layer.judge(nested(3))] == ["anyOf"]
    (failure,) = layer.judge(nested(60))
    assert (failure.code, failure.pointer) == (UNLISTED, "")


def test_valid_value_is_valid_however_many_ways_lead_to_it() -> None:
    assert SchemaLayer({"anyOf": [*ENTANGLED["anyOf"], {"type": "object"}]}).judge(nested(60)) == ()


def test_ways_that_double_with_every_reference_are_refused_below_an_unevaluated_keyword() -> None:
    assert SchemaLayer({**doubled(3), "unevaluatedProperties": False}).judge({"a": None}) == ()
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        with pytest.raises(LimitExceededError) as caught:
            SchemaLayer({**doubled(40), keyword: False})
        assert (caught.value.limit, caught.value.found) == (MOST_WAYS, MOST_WAYS + 1)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_ways_that_double_with_every_reference_are_refused_everywhere(keyword: str) -> None:
    schema = json.loads(json.dumps(doubled(40)).replace("allOf", keyword))
    for build in (SchemaLayer, Contract.of):
        with pytest.raises(LimitExceededError) as caught:
            build({"type": "object", "properties": {"x": schema["$defs"]["d0"]}, "$defs": schema["$defs"]})
        assert (caught.value.limit_name, caught.value.limit) == ("reference_ways", MOST_IN_PLACE)
        assert caught.value.found == MOST_IN_PLACE + 1
    assert SchemaLayer(doubled(14)).judge({"a": None}) == ()
    assert [failure.code for failure in SchemaLayer(doubled(3)).judge({"a": 1})] == ["type"] * 8


def test_many_ways_matter_only_where_the_value_goes_them() -> None:
    layer = SchemaLayer({"properties": {"x": members_doubled(40)}, "$defs": members_doubled(40)["$defs"]})
    assert layer.judge({"a": nested(60)}) == ()
    assert [failure.code for failure in layer.judge({"x": nested(60)})] == [UNLISTED]


def members_doubled(levels: int) -> dict[str, object]:
    """Return definitions of which each refers to the next twice, for the members of a value."""
    names = [f"d{level}" for level in range(levels)]
    defs: dict[str, object] = {
        name: {"allOf": [{"properties": {"a": {"$ref": f"#/$defs/{below}"}}}] * 2}
        for name, below in zip(names, [*names[1:], "last"], strict=True)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, "last": True}}


def test_ways_that_double_with_every_level_of_the_value_are_not_gone() -> None:
    layer = SchemaLayer(members_doubled(40))
    assert layer.judge(nested(5)) == ()
    assert [failure.code for failure in layer.judge(nested(60))] == [UNLISTED]


def test_value_too_large_to_check_under_many_ways_is_not_valid() -> None:
    layer = SchemaLayer({"items": {**doubled(6), "unevaluatedProperties": False, "$id": "https://example.com/item"}})
    assert layer.judge([{"a": None}] * 3) == ()
    assert [failure.code for failure in layer.judge([{"a": None} for _ in range(2_000)])] == [UNLISTED]


def test_ways_are_counted() -> None:
    schema = {**doubled(3), "unevaluatedItems": True}
    references = References(schema)
    # The root, then for each of three levels a definition and its two references, then the last definition.
    assert Effort(references).unevaluated_ways == 1 + 1 + 2 * (1 + 1 + 2 * (1 + 1 + 2 * (1 + 1)))


def test_schema_that_applies_itself_is_counted_once() -> None:
    schema = {"allOf": [{"$ref": "#"}], "unevaluatedItems": True}
    assert Effort(References(schema)).unevaluated_ways == 2


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        (True, [1], 1),
        ({"type": "null"}, {"a": [1]}, 1),
        ({"properties": {"a": {}}, "additionalProperties": {}}, {"a": 1, "b": 2}, 4),
        ({"propertyNames": {}, "patternProperties": {"x": {}}}, {"a": 1, "b": 2}, 5),
        ({"items": {}, "contains": {}}, [1, 2], 5),
        ({"items": [{}], "additionalItems": {}}, [1, 2], 4),
        ({"prefixItems": [{}], "items": {}}, [1, 2], 4),
        ({"not": {}, "if": {}, "allOf": [{}]}, 1, 4),
    ],
)
def test_visits_are_counted(schema: object, value: object, found: int) -> None:
    assert Effort(References(schema)).visits(value, 100) == found


def test_counting_stops_at_its_limit() -> None:
    assert Effort(References({"items": {}})).visits(list(range(1_000)), 100) == 101
