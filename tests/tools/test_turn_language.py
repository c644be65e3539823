"""A turn can only call tools that exist with arguments that fit, or answer; and it is read as it is spelled."""

import json
from typing import Any

import pytest
from pydantic import BaseModel
from turns import language, look_up, pay

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.tools import ToolSet, call_key, tool, turn_key
from commitgate.tools.keys import MAX_RUN_KEY_BYTES
from commitgate.tools.turn import MAX_CALLS
from commitgate.tools.turn_faults import turn_faults
from commitgate.tools.turn_language import TurnLanguage, read_turn


class Node(BaseModel):
    value: int
    children: "list[Node]" = []


@tool(effect="read")
def grow(node: Node) -> None: ...


def accepts(language: TurnLanguage, value: object) -> bool:
    acceptor = compile(language.contract).acceptor()
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return acceptor.feed(text) and acceptor.is_accepting


def called(name: str, arguments: object) -> dict[str, object]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("turn", "is_one"),
    [
        (called("pay", {"amount": 1}), True),
        (called("pay", {"amount": 1, "to": "bob"}), True),
        (called("pay", {"to": "bob"}), False),
        (called("pay", {"amount": "ten"}), False),
        (called("pay", {"amount": 1, "name": "x"}), False),
        (called("look_up", {"amount": 1}), False),
        (called("rm_rf", {}), False),
        ({"answer": "yes"}, True),
        ({"answer": 1}, False),
        ({"answer": "yes", "calls": []}, False),
        ({"calls": []}, False),
        ({"calls": [{"name": "pay"}]}, False),
        ({}, False),
        ("yes", False),
    ],
)
def test_language_is_calls_that_fit_or_an_answer(turn: object, is_one: bool) -> None:
    assert accepts(language(), turn) is is_one


def test_number_of_calls_is_bounded() -> None:
    one: Any = {"name": "look_up", "arguments": {"name": "x"}}
    assert accepts(language(most_calls=2), {"calls": [one] * 2})
    assert not accepts(language(most_calls=2), {"calls": [one] * 3})
    assert accepts(language(most_calls=MAX_CALLS), {"calls": [one] * MAX_CALLS})


@pytest.mark.parametrize("most_calls", [0, MAX_CALLS + 1, True, 1.5])
def test_bound_on_calls_lies_in_its_range(most_calls: Any) -> None:
    with pytest.raises(MisuseError, match="most_calls must"):
        language(most_calls=most_calls)


def test_turn_that_must_call_has_no_answer() -> None:
    assert not accepts(language(must_call=True), {"answer": "x"})
    assert accepts(language(must_call=True), called("pay", {"amount": 1}))
    assert language(must_call=True).offer.answer == "none"


def test_schemas_of_tools_stay_apart() -> None:
    @tool(effect="read", name="sprout")
    def sprout(node: "Other") -> None: ...

    both = TurnLanguage(ToolSet.of([grow, sprout]), answer=Contract[object].of(Node))
    deep = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}
    assert accepts(both, called("grow", {"node": deep}))
    assert accepts(both, {"answer": deep})
    assert not accepts(both, called("sprout", {"node": deep}))
    assert accepts(both, called("sprout", {"node": {"label": "x"}}))
    assert both.offer.answer == "json"


class Other(BaseModel):
    label: str


Other.__name__ = "Node"  # two models of one name, as two modules may have


def test_odd_references_keep_their_meaning() -> None:
    contract = Contract.json_schema(
        {
            "$defs": {"a/b": {"type": "integer"}, "c~d": {"$ref": "#/$defs/a~1b"}},
            "type": "object",
            "properties": {
                "x": {"$ref": "#/$defs/c~0d"},
                "again": {"$ref": "#"},
                "y": {"const": {"$ref": "#/$defs/x"}},
            },
            "additionalProperties": False,
        }
    )
    both = TurnLanguage(ToolSet.of([pay]), answer=contract)
    assert accepts(both, {"answer": {"x": 1, "again": {"again": {"x": 2}}, "y": {"$ref": "#/$defs/x"}}})
    assert not accepts(both, {"answer": {"again": {"again": {"x": "2"}}}})
    assert not accepts(both, {"answer": {"y": {"$ref": "#/$defs/answer/$defs/x"}}})


def test_answer_of_another_draft_keeps_its_meaning() -> None:
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    both = TurnLanguage(ToolSet.of([pay]), answer=Contract.json_schema({**draft_4, "type": "integer"}))
    assert accepts(both, {"answer": 4})
    assert not accepts(both, {"answer": 3})


def test_answer_that_names_itself_keeps_its_references() -> None:
    schema: Any = {"$id": "https://example.org/a", "$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}
    both = TurnLanguage(ToolSet.of([pay]), answer=Contract.json_schema(schema))
    assert accepts(both, {"answer": 4})
    assert not accepts(both, {"answer": "4"})


def test_tool_may_be_called_answer() -> None:
    @tool(effect="read", name="answer")
    def answer(x: int) -> None: ...

    both = TurnLanguage(ToolSet.of([answer]), answer=Contract[object].of(str))
    assert accepts(both, called("answer", {"x": 1}))
    assert accepts(both, {"answer": "x"})


def test_turn_is_read_as_it_is_spelled() -> None:
    first = rb'{"arguments": { "amount" : 1.0e2 } , "name":"p\u0061y"}'
    text = rb' {"c\u0061lls": [ %s,{"name":"look_up","arguments":{}}]}' % first
    read = read_turn(text, 3)
    assert [(each.turn, each.ordinal, each.name, each.arguments_json) for each in read.calls] == [
        (3, 1, "pay", b'{ "amount" : 1.0e2 }'),
        (3, 2, "look_up", b"{}"),
    ]
    assert read.answer_json is None
    assert read_turn(b'{"answer": "x" }', 1).answer_json == b'"x"'
    assert "amount" not in repr(read)


def test_fault_is_told_from_the_tool_that_was_called() -> None:
    turn = {"calls": [*called("rm_rf", {})["calls"], *called("pay", {"amount": "ten"})["calls"]]}  # type: ignore[misc, operator] # lists of calls
    found = turn_faults(language(), json.dumps(turn).encode())
    assert [(each.code, each.pointer) for each in found] == [
        ("unknown_tool", "/calls/0/name"),
        ("type", "/calls/1/arguments/amount"),
    ]
    assert isinstance(found[1].data, dict)
    assert found[1].data["pointer"] == "/calls/1/arguments/amount"


def test_fault_of_an_answer_and_of_too_many_calls_is_told() -> None:
    (fault,) = turn_faults(language(), b'{"answer":1}')
    assert (fault.code, fault.pointer) == ("type", "/answer")
    many = json.dumps({"calls": called("look_up", {"name": "x"})["calls"] * 3}).encode()  # type: ignore[operator] # a list
    (fault,) = turn_faults(language(most_calls=2), many)
    assert (fault.code, fault.pointer) == ("maxItems", "/calls")


@pytest.mark.parametrize("text", [b"", b"[]", b'{"calls":3}', b'{"calls":[3]}', b'{"calls":[{"name":"pay"}]}', b"{"])
def test_fault_that_cannot_be_placed_is_left_to_the_contract(text: bytes) -> None:
    assert turn_faults(language(), text) == ()


def test_model_is_told_of_every_tool() -> None:
    words = language().offer.instruction
    for part in ("- pay: Pay an amount.", "- amount: a whole number", "- look_up: Look up a person.", '{"answer": '):
        assert part in words
    assert '{"answer": ' not in language(must_call=True).offer.instruction


def test_offer_holds_whole_schemas() -> None:
    offered = {each.name: each.parameters for each in language().offer.tools}
    assert offered == {"pay": pay.contract.schema, "look_up": look_up.contract.schema}


def test_keys_of_turns_and_calls_differ() -> None:
    keys = {turn_key("k", 1), turn_key("k", 2), call_key("k", 1, 1), call_key("k", 1, 2), call_key("k", 2, 1)}
    assert len(keys) == 5
    assert call_key("k", 12, 3) == "k/turn/12/call/3"
    assert turn_key("x" * MAX_RUN_KEY_BYTES, 1)


@pytest.mark.parametrize("key", ["", "x" * (MAX_RUN_KEY_BYTES + 1), "\ud800"])
def test_key_that_cannot_name_a_run_is_refused(key: str) -> None:
    with pytest.raises(MisuseError):
        turn_key(key, 1)


@pytest.mark.parametrize("number", [0, -1])
def test_turns_and_calls_are_counted_from_one(number: int) -> None:
    with pytest.raises(MisuseError, match="counted from 1"):
        call_key("k", 1, number)
    with pytest.raises(MisuseError, match="counted from 1"):
        call_key("k", number, 1)
