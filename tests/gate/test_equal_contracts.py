"""Contracts and what they are made of: equal where they ask for the same, and then hashed alike."""

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import TypeAdapter

from commitgate import AnyJson, Choices, Contract, ContractTemplate, Edge, Grammar, Machine, Regex, Risk
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.rules import RuleViolation
from commitgate.style import Style
from commitgate.template import Count, EnumValues, Number, OneOfSchemas, Text

NUMBERS = TypeAdapter(list[int])


def machine(on: Any, target: str = "b") -> Machine:
    return Machine(start="a", accepting=[target], edges=[Edge("a", on, target)])


def rule(value: object) -> None:
    return None


def template(**options: Any) -> ContractTemplate[Any]:
    return ContractTemplate.of({"title": "t", "enum": EnumValues("values", most=3)}, **options)


MADE: dict[str, Callable[[], object]] = {
    "text on an edge": lambda: machine("x"),
    "pattern on an edge": lambda: machine(Regex("[0-9]+")),
    "schema on an edge": lambda: machine({"type": "object", "properties": {"a": {"enum": [1, None, "x", [2.5]]}}}),
    "boolean on an edge": lambda: machine(True),
    "type on an edge": lambda: machine(int),
    "adapter on an edge": lambda: machine(NUMBERS),
    "contract on an edge": lambda: machine(Contract.of({"type": "integer"})),
    "machine on an edge": lambda: machine(machine({"type": "integer"})),
    "any JSON on an edge": lambda: machine(AnyJson(nesting=2)),
    "pattern": lambda: Regex("a+", flags="i"),
    "grammar": lambda: Grammar('root ::= "a"'),
    "choices": lambda: Choices(["a", "b"]),
    "contract of a schema": lambda: Contract.of({"type": "integer"}, rules=[rule]),
    "contract of an adapter": lambda: Contract.of(NUMBERS),
    "contract of a text": lambda: Contract.of(machine({"type": "integer"})),
    "template": lambda: template(rules=[rule]),
    "filled template": lambda: template().fill(values=["x"]),
    "texts": lambda: EnumValues("name", most=3, pattern="a+"),
    "text": lambda: Text("name", pattern="a+"),
    "number": lambda: Number("name", least=1, most=Decimal("2.5")),
    "count": lambda: Count("name", most=3),
    "schemas": lambda: OneOfSchemas("name", {"first": {"type": "string"}, "second": True}),
    "violation": lambda: RuleViolation("no", "not so", data={"limit": [5]}),
    "failure": lambda: Failure(layer=Layer.RULES, code="no", pointer="", message="not so", data={"limit": [5]}),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_what_is_made_twice_alike_is_equal_and_hashed_alike(made: Callable[[], object]) -> None:
    first, second = made(), made()
    assert first == second
    assert hash(first) == hash(second)
    assert len({first, second}) == 1


OTHERS: dict[str, tuple[object, object]] = {
    "another target": (machine("x"), machine("x", target="c")),
    "another text": (machine("x"), machine("y")),
    "another schema": (machine({"type": "integer"}), machine({"type": "string"})),
    "one more key": (machine({"type": "integer"}), machine({"type": "integer", "minimum": 1})),
    "one more item": (machine({"enum": [1]}), machine({"enum": [1, 2]})),
    "one and true on an edge": (machine({"enum": [[1]]}), machine({"enum": [[True]]})),
    "zero and false on an edge": (machine({"const": 0}), machine({"const": False})),
    "order of keys on an edge": (
        machine({"properties": {"a": True, "b": True}}),
        machine({"properties": {"b": True, "a": True}}),
    ),
    "text and pattern": (machine("x"), machine(Regex("x"))),
    "one and true in a schema": (Contract.of({"const": 1}), Contract.of({"const": True})),
    "one and true in a machine's contract": (
        Contract.of(machine({"const": 1})),
        Contract.of(machine({"const": True})),
    ),
    "risk of a contract": (Contract.of(NUMBERS), Contract.of(NUMBERS, risk=Risk.EFFECT)),
    "one and true in schemas": (
        OneOfSchemas("name", {"a": {"const": 1}}),
        OneOfSchemas("name", {"a": {"const": True}}),
    ),
    "order of schemas": (OneOfSchemas("name", {"a": {}, "b": True}), OneOfSchemas("name", {"b": True, "a": {}})),
    "name of a parameter": (Count("first", most=3), Count("second", most=3)),
    "kind of a parameter": (Count("name", least=1, most=3), Number("name", least=1, most=3)),
    "version of a template": (template(), template(version="2")),
    "checks of a template": (template(), template(rules=[rule])),
    "style of a template": (template(), template(style=Style(white_space="compact"))),
    "template and contract": (template(), template().fill(values=["x"])),
    "edge and its parts": (Edge("a", "x", "b"), ("a", "x", "b")),
}


@pytest.mark.parametrize(("first", "second"), OTHERS.values(), ids=OTHERS)
def test_what_asks_for_something_else_is_not_equal(first: object, second: object) -> None:
    assert first != second
    assert second != first


def test_changing_a_schema_on_an_edge_loses_no_machine() -> None:
    schema = {"type": "integer"}
    kept = machine(schema)
    machines = {kept}
    schema["type"] = "string"
    assert kept in machines


def test_schemas_that_hold_themselves_are_compared_to_an_end() -> None:
    first: dict[str, Any] = {"properties": {}}
    second: dict[str, Any] = {"properties": {}}
    first["properties"]["a"] = first
    second["properties"]["a"] = second
    assert machine(first) == machine(second)
    second["type"] = "object"
    assert machine(first) != machine(second)


def test_schemas_of_many_shared_parts_are_compared_at_once() -> None:
    def doubled() -> dict[str, Any]:
        schema: dict[str, Any] = {}
        for _ in range(60):
            schema = {"anyOf": [schema, schema]}
        return schema

    assert machine(doubled()) == machine(doubled())


@pytest.mark.parametrize("kind", ["contract of a schema", "contract of a text", "filled template"])
def test_copies_of_a_contract_are_equal_and_hashed_alike(kind: str) -> None:
    contract = MADE[kind]()
    for other in (copy.copy(contract), copy.deepcopy(contract), pickle.loads(pickle.dumps(contract))):
        assert (other, hash(other)) == (contract, hash(contract))
