"""Test state machines as contracts: what they accept, what is wrong with one, and how large one may be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from commitgate.automaton import compile
from commitgate.automaton.grammar.machine import MACHINE_NESTING, MAX_READ_ON_EDGES
from commitgate.contract import Contract
from commitgate.errors import (
    ContractError,
    LimitExceededError,
    MisuseError,
    NotationError,
    UnsatisfiableError,
    UnsupportedError,
)
from commitgate.languages import AnyJson, Choices, Edge, EdgeText, Grammar, Machine, Regex
from commitgate.limits import Limits
from commitgate.style import Style

_ORDER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}

_DIALOGUE = Machine(
    start="new",
    accepting=["sent", "closed"],
    edges=[
        Edge("new", "open ", "number"),
        Edge("number", Regex("[1-9][0-9]{0,3}"), "open"),
        Edge("open", ", ", "number"),
        Edge("open", ": ", "order"),
        Edge("order", _ORDER, "sent"),
        Edge("order", Choices(["none", "nothing"]), "closed"),
        Edge("new", Grammar('root ::= "(" root ")" | "x"'), "closed"),
        Edge("sent", "\n", "new"),
    ],
)


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ('open 12, 7: {"id": 4}', True),
        ("open 1: none", True),
        ("open 1: nothing", True),
        ("((x))", True),
        ('open 1: {"id": 4}\nx', True),
        ("open 1: non", False),
        ("open 0: none", False),
        ('open 1: {"id": "4"}', False),
        ("(x))", False),
        ("open 1: none\nx", False),
        ("", False),
    ],
)
def test_a_walk_from_the_start_to_an_accepting_state_is_accepted(text: str, is_accepted: bool) -> None:
    assert compile(_DIALOGUE).accepts(text.encode()) is is_accepted


def test_json_on_an_edge_is_read_freely_and_written_in_the_contracts_style() -> None:
    text = b'open 1: {\n"id":4e0 }'
    assert compile(_DIALOGUE).accepts(text)
    assert not compile(_DIALOGUE, dialect="generate").accepts(text)
    assert compile(_DIALOGUE, dialect="generate").accepts(b'open 1: {"id": 4}')


def test_style_of_the_machine_is_that_of_all_json_in_it() -> None:
    contract = Contract.of(_DIALOGUE, style=Style(white_space="compact"))
    inner = Contract.of(
        Machine(start="a", accepting=["b"], edges=[Edge("a", _DIALOGUE, "b")]), style=Style(white_space="compact")
    )
    for each in (contract, inner):
        written = compile(each, dialect="generate")
        assert written.accepts(b'open 1: {"id":4}')
        assert not written.accepts(b'open 1: {"id": 4}')
    assert compile(_DIALOGUE, dialect="generate", style=Style(white_space="compact")).accepts(b'open 1: {"id":4}')


def test_style_of_a_contract_on_an_edge_is_misuse() -> None:
    on = Contract.json_schema(_ORDER, style=Style(white_space="compact"))
    with pytest.raises(MisuseError, match="machine's own contract"):
        Contract.of(Machine(start="a", accepting=["b"], edges=[Edge("a", on, "b")]))


def test_edges_that_begin_alike_are_all_followed() -> None:
    machine = Machine(
        start="a",
        accepting=["b", "c"],
        edges=[Edge("a", "one", "b"), Edge("a", "on", "c"), Edge("a", Regex("o+"), "d"), Edge("d", "nx", "c")],
    )
    automaton = compile(machine)
    assert [automaton.accepts(text) for text in (b"one", b"on", b"onx", b"oonx", b"o", b"oon")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_circles_of_edges_that_may_be_empty_end() -> None:
    machine = Machine(
        start="a", accepting=["b"], edges=[Edge("a", Regex("x*"), "b"), Edge("b", Regex("y?"), "a"), Edge("a", "", "a")]
    )
    assert compile(machine).accepts(b"xxyxyyx")
    assert compile(machine).accepts(b"")
    assert not compile(machine).accepts(b"z")


def test_a_start_that_accepts_needs_no_edge() -> None:
    automaton = compile(Machine(start="a", accepting=["a"], edges=[]))
    assert automaton.accepts(b"")
    assert not automaton.accepts(b"a")


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (
            Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b"), Edge("c", "y", "b")]),
            "'c' cannot be reached",
        ),
        (Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b"), Edge("a", "y", "c")]), "'c' leads to no"),
        (Machine(start="a", accepting=["z"], edges=[Edge("a", "x", "b")]), "no edge leads to the accepting state 'z'"),
        (Machine(start="a", accepting=["b", "z"], edges=[Edge("a", "x", "b")]), "no edge leads to the .* 'z'"),
        (Machine(start="z", accepting=["b"], edges=[Edge("a", "x", "b")]), "no edge leaves the start 'z'"),
        (Machine(start="a", accepting=[], edges=[Edge("a", "x", "b")]), "at least one accepting"),
        (Machine(start="a", accepting=["b"], edges=[Edge("b", "x", "a")]), "no edge leaves the start"),
    ],
)
def test_unreachable_and_dead_states_are_told_by_name(machine: Machine, words: str) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        Contract.of(machine)
    assert caught.value.keyword == "machine"


@pytest.mark.parametrize(
    ("accepting", "start", "edges", "pointer"),
    [
        (["b", "bb"], "a", [Edge("a", "x", "b")], "/accepting/1"),
        (["b"], "aa", [Edge("a", "x", "b")], "/start"),
        (["b"], "a", [Edge("a", "x", "b"), Edge("c", "y", "b")], "/edges/1"),
        (["b"], "a", [Edge("a", "x", "b"), Edge("b", "y", "a"), Edge("a", "z", "d")], "/edges/2"),
    ],
)
def test_wrong_states_are_told_with_their_place(
    accepting: list[str], start: str, edges: list[Edge], pointer: str
) -> None:
    with pytest.raises(NotationError) as caught:
        Contract.of(Machine(start=start, accepting=accepting, edges=edges))
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("[a-z]+", r"Regex\(\.\.\.\), for a grammar Grammar"),
        (["yes", "no"], r"Choices\(\.\.\.\)"),
        (re.compile("a"), r"Regex\(\.\.\.\) with its pattern"),
        (7, "Regex, Grammar, Choices, Machine or AnyJson; found a value of type int$"),
    ],
)
def test_a_plain_value_is_misuse_that_leads_to_what_was_meant(given: object, words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        Contract.of(cast("type[object]", given))


@pytest.mark.parametrize("on", [7, Regex, ["x"]])
def test_what_is_no_text_on_an_edge_is_misuse_that_names_the_edge(on: object) -> None:
    edges = [Edge("a", "x", "b"), Edge("b", cast("str", on), "a")]
    with pytest.raises(MisuseError, match=r"^edges\[1\]\.on: "):
        Contract.of(Machine(start="a", accepting=["b"], edges=edges))


def test_why_no_text_satisfies_is_told_by_kind() -> None:
    with pytest.raises(UnsatisfiableError, match="contradicts itself"):
        Contract.of(Regex("a^b"))
    with pytest.raises(UnsatisfiableError, match="never comes to an end"):
        Contract.of(Grammar('root ::= "a" root'))


def test_many_wrong_states_are_told_in_few_words() -> None:
    edges = [Edge("a", "x", "b"), *(Edge(f"c{index}", "y", "b") for index in range(1000))]
    with pytest.raises(NotationError) as caught:
        Contract.of(Machine(start="a", accepting=["b"], edges=edges))
    assert "and 995 more" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("on", "error", "pointer"),
    [
        (Regex("("), NotationError, "/edges/1"),
        (Regex(r"(a)\1"), UnsupportedError, "/edges/1"),
        (Grammar("nothing"), NotationError, "/edges/1"),
        ({"type": "object", "properties": {"a": {"type": "nothing"}}}, ContractError, "/edges/1/properties/a"),
        (False, UnsatisfiableError, "/edges/1"),
        ({"type": "array", "uniqueItems": True}, UnsupportedError, "/edges/1"),
        (Contract.of({"type": "integer"}, rules=[lambda _: None]), MisuseError, None),
        (Contract.of({"type": "integer"}, refusal=True), MisuseError, None),
        (Machine(start="p", accepting=["q"], edges=[Edge("p", Regex("["), "q")]), NotationError, "/edges/1/edges/0"),
        (7, MisuseError, None),
        ("\ud800", MisuseError, None),
    ],
)
def test_what_is_wrong_on_an_edge_is_told_with_the_edge(
    on: EdgeText, error: type[Exception], pointer: str | None
) -> None:
    with pytest.raises(error) as caught:
        Contract.of(Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b"), Edge("b", on, "a")]))
    if isinstance(caught.value, ContractError):
        assert caught.value.pointer == pointer


def test_an_edge_that_no_text_can_take_leaves_its_target_alone() -> None:
    never = Contract.of(Machine(start="a", accepting=["b"], edges=[Edge("a", Regex("a$b|x"), "b")]))
    assert compile(never).accepts(b"x")
    with pytest.raises(UnsatisfiableError):
        Contract.of(Machine(start="a", accepting=["b"], edges=[Edge("a", Regex("a$b"), "b")]))


def test_digests_tell_machines_apart_by_what_they_mean() -> None:
    digest = Contract.of(_DIALOGUE).language_digest
    assert Contract.of(replace_edges(_DIALOGUE, list(_DIALOGUE.edges))).language_digest == digest
    other = [replace(edge, on="open: ") if edge.on == "open " else edge for edge in _DIALOGUE.edges]
    assert Contract.of(replace_edges(_DIALOGUE, other)).language_digest != digest
    told = [replace(edge, on={**_ORDER, "title": "Order"}) if edge.on == _ORDER else edge for edge in _DIALOGUE.edges]
    assert Contract.of(replace_edges(_DIALOGUE, told)).language_digest == digest


def replace_edges(machine: Machine, edges: list[Edge]) -> Machine:
    return Machine(start=machine.start, accepting=machine.accepting, edges=edges)


def test_one_schema_on_many_edges_is_read_once() -> None:
    shared: EdgeText = {"enum": [*range(5000)]}
    names = [f"s{index}" for index in range(2000)]
    edges = [Edge(name, shared, following) for name, following in pairwise(names)]
    contract = Contract.of(Machine(start=names[0], accepting=[names[-1]], edges=edges))
    assert compile(contract).acceptor().feed(b"1 2 3 4711")


def test_schemas_on_edges_are_told_apart_though_their_places_have_the_same_names() -> None:
    schemas: list[EdgeText] = [
        {"const": 1},
        {"type": "object", "properties": {"a": {"const": 2}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"const": 3}}, "required": ["a"]},
        {"type": "array", "items": {"const": 4}, "minItems": 1},
        {"type": "array", "items": {"const": 5}, "minItems": 1},
    ]
    edges = [Edge("a", f"{index}:", f"s{index}") for index in range(len(schemas))]
    edges += [Edge(f"s{index}", schema, "b") for index, schema in enumerate(schemas)]
    automaton = compile(Machine(start="a", accepting=["b"], edges=edges))
    texts = ["1", '{"a": 2}', '{"a": 3}', "[4, 4]", "[5, 5]"]
    found = [[automaton.accepts(f"{index}:{text}".encode()) for text in texts] for index in range(len(texts))]
    assert found == [[index == at for at in range(len(texts))] for index in range(len(texts))]


def test_schemas_that_are_no_contracts_yet_are_bounded() -> None:
    def machine(count: int, *, is_ready: bool) -> Machine:
        schemas: list[EdgeText] = [{"const": index} for index in range(count)]
        texts: list[EdgeText] = [Contract.of({"const": index}) for index in range(count)] if is_ready else schemas
        return Machine(start="a", accepting=["b"], edges=[Edge("a", text, "b") for text in texts])

    assert compile(machine(MAX_READ_ON_EDGES, is_ready=False)).accepts(b"3")
    with pytest.raises(NotationError, match=r"Contract\.of first"):
        Contract.of(machine(MAX_READ_ON_EDGES + 1, is_ready=False))
    assert compile(machine(MAX_READ_ON_EDGES + 1, is_ready=True)).accepts(b"16")


def test_schemas_on_edges_share_the_limits_of_the_machine() -> None:
    limits = Limits(schema_bytes=400)
    wide: EdgeText = {"enum": ["x" * 250]}
    Contract.of(Machine(start="a", accepting=["b"], edges=[Edge("a", wide, "b")]), limits=limits)
    two = [Edge("a", wide, "b"), Edge("a", {"enum": ["y" * 250]}, "b")]
    with pytest.raises(LimitExceededError) as caught:
        Contract.of(Machine(start="a", accepting=["b"], edges=two), limits=limits)
    assert caught.value.limit_name == "schema_bytes"


def test_machines_within_machines_are_bounded() -> None:
    def nested(levels: int) -> Machine:
        found = Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b")])
        for _ in range(levels - 1):
            found = Machine(start="a", accepting=["b"], edges=[Edge("a", found, "b"), Edge("a", "(", "a")])
        return found

    assert compile(nested(MACHINE_NESTING)).accepts(b"(((x")
    with pytest.raises(NotationError, match="deep at most"):
        Contract.of(nested(MACHINE_NESTING + 1))
    with pytest.raises(NotationError, match="deep at most"):
        Contract.of(nested(3000))


def test_edges_are_limited() -> None:
    def machine(count: int) -> Machine:
        return Machine(start="a", accepting=["a"], edges=[Edge("a", f"{index};", "a") for index in range(count)])

    limits = Limits(edges=30)
    assert compile(machine(30), limits=limits).accepts(b"1;29;")
    with pytest.raises(LimitExceededError) as caught:
        compile(machine(31), limits=limits)
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("edges", 30, 31)


def test_any_json_is_bounded_in_depth_and_may_ask_for_objects() -> None:
    automaton = compile(AnyJson(nesting=2))
    assert automaton.accepts(b'[{"a": 1}, "x", null]')
    assert not automaton.accepts(b'[{"a": []}]')
    for limits, deep in ((Limits(nesting=1), False), (Limits(nesting=64), True), (Limits(text_bytes=9), True)):
        assert compile(AnyJson(nesting=2), limits=limits).accepts(b"[[1]]") is deep
        assert not compile(AnyJson(nesting=2), limits=limits).accepts(b"[[[1]]]")
    objects = compile(AnyJson(root="object"))
    assert objects.accepts(b'{"a": [1]}')
    assert not objects.accepts(b"[1]")


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (Regex, {"pattern": 7}),
        (Regex, {"pattern": "a", "flags": 3}),
        (Grammar, {"text": b"x"}),
        (Grammar, {"text": "x", "syntax": "yacc"}),
        (Grammar, {"text": "x", "start": 3}),
        (Choices, {"texts": "yes"}),
        (Choices, {"texts": 3}),
        (Choices, {"texts": ["a", 3]}),
        (Edge, {"source": 1, "on": "x", "target": "b"}),
        (Machine, {"start": 1, "accepting": ["b"], "edges": []}),
        (Machine, {"start": "a", "accepting": "b", "edges": []}),
        (Machine, {"start": "a", "accepting": [1], "edges": []}),
        (Machine, {"start": "a", "accepting": ["b"], "edges": ["x"]}),
        (Machine, {"start": "a", "accepting": ["b"], "edges": None}),
        (AnyJson, {"nesting": 0}),
        (AnyJson, {"nesting": 201}),
        (AnyJson, {"nesting": True}),
        (AnyJson, {"root": "array"}),
    ],
)
def test_descriptions_of_the_wrong_kind_are_misuse(kind: Callable[..., object], arguments: dict[str, object]) -> None:
    with pytest.raises(MisuseError):
        kind(**arguments)


def test_the_class_in_place_of_what_it_describes_is_misuse() -> None:
    with pytest.raises(MisuseError, match=r"Regex\(\.\.\.\)"):
        Contract.of(Regex)
