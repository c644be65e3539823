"""A text that is no JSON is asked for in a form that the server has, and in none where that would be a guess."""

from __future__ import annotations

from typing import Literal

import pytest
from backends.translation.vendor_servers import server
from hypothesis import given
from hypothesis import strategies as st

from commitgate import Choices, Contract, Edge, Grammar, Machine, Regex
from commitgate.automaton import compile
from commitgate.backends.translation import Form, Translation, translate
from commitgate.errors import UnsupportedError
from commitgate.languages import TextSource

GBNF: frozenset[Literal["gbnf", "lark"]] = frozenset({"gbnf"})
LARK: frozenset[Literal["gbnf", "lark"]] = frozenset({"lark"})


def said(
    text: TextSource, vendor: str | None, *forms: Form, notations: frozenset[Literal["gbnf", "lark"]] = GBNF
) -> Translation:
    return translate(Contract.of(text), server(vendor, *forms, notations=notations))


def is_left_to_the_prompt(translation: Translation, keyword: str) -> bool:
    (difference,) = translation.differences
    is_named = (difference.kind, difference.keyword) == ("checked", keyword)
    return is_named and translation.form == "prompt" and not translation.is_decoded and translation.shape.is_same


def test_choices_are_sent_as_choices_where_the_server_has_them() -> None:
    translation = said(Choices(["b", "a", "b"]), "vllm", "choices", "json_schema", "regex")
    assert (translation.form, translation.choices, translation.differences) == ("choices", ("b", "a"), ())


def test_choices_are_a_member_of_an_object_where_the_server_takes_schemas() -> None:
    translation = said(Choices(["a", "b"]), "openai", "json_schema", "regex")
    assert translation.form == "json_schema"
    assert translation.schema == {
        "type": "object",
        "properties": {"value": {"type": "string", "enum": ["a", "b"]}},
        "required": ["value"],
        "additionalProperties": False,
    }
    assert translation.is_decoded
    accepts = compile(translation.sent).accepts
    assert accepts(b'{"value": "\\u0061"}')
    assert not accepts(b'{"value": "c"}')


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), min_size=1, max_size=4))
def test_choices_are_a_regular_expression_of_these_texts_alone(texts: list[str]) -> None:
    pattern = said(Choices(texts), "vllm", "regex").pattern
    assert pattern is not None
    accepts = compile(Regex(pattern)).accepts
    assert all(accepts(text.encode()) for text in texts)
    assert not any(accepts((text + "x").encode()) for text in texts if text + "x" not in texts)


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), min_size=1, max_size=4))
def test_choices_are_a_grammar_of_these_texts_alone(texts: list[str]) -> None:
    translation = said(Choices(texts), "llama_cpp", "grammar")
    assert translation.grammar is not None
    assert translation.notation == "gbnf"
    accepts = compile(Grammar(translation.grammar)).accepts
    assert all(accepts(text.encode()) for text in texts)
    assert not any(accepts((text + "x").encode()) for text in texts if text + "x" not in texts)


def test_choices_are_left_to_the_prompt_where_nothing_fits() -> None:
    assert is_left_to_the_prompt(said(Choices(["a"]), "tgi", "grammar", notations=LARK), "choices")


def test_more_choices_than_a_vendor_lists_are_refused_before_they_are_sent() -> None:
    with pytest.raises(UnsupportedError, match="1,000 enum values"):
        said(Choices([str(number) for number in range(1_001)]), "openai", "json_schema")


@pytest.mark.parametrize("vendor", [None, "vllm", "sglang", "tgi"])
def test_a_regular_expression_is_sent_as_it_is(vendor: str | None) -> None:
    contract = Contract.of(Regex("[0-9]{2}|x"))
    translation = translate(contract, server(vendor, "regex", "json_schema"))
    assert (translation.form, translation.pattern, translation.sent) == ("regex", "[0-9]{2}|x", contract)
    assert translation.differences == ()


@pytest.mark.parametrize(
    ("regex", "vendor"),
    [
        (Regex("(?=ab)a.*"), "vllm"),
        (Regex("a\\b.*"), "sglang"),
        (Regex("abc", "i"), "vllm"),
        (Regex("abc", "i"), None),
    ],
)
def test_a_regular_expression_that_the_engine_cannot_read_is_left_to_the_prompt(regex: Regex, vendor: str) -> None:
    assert is_left_to_the_prompt(said(regex, vendor, "regex", "json_schema"), "regex")


def test_a_regular_expression_is_left_to_the_prompt_where_there_is_no_form_for_it() -> None:
    assert is_left_to_the_prompt(said(Regex("a+"), "anthropic", "json_schema"), "regex")


@pytest.mark.parametrize(("text", "syntax"), [('root ::= "a"', "gbnf"), ('start: "a"', "lark")])
def test_a_grammar_is_sent_in_its_own_notation_alone(text: str, syntax: Literal["gbnf", "lark"]) -> None:
    grammar = Grammar(text, syntax)
    other = LARK if syntax == "gbnf" else GBNF
    translation = said(grammar, "vllm", "grammar", notations=frozenset({syntax}))
    assert (translation.form, translation.grammar, translation.notation) == ("grammar", text, syntax)
    assert is_left_to_the_prompt(said(grammar, "vllm", "grammar", notations=other), "grammar")


@pytest.mark.parametrize(("text", "syntax"), [('x ::= "a"', "gbnf"), ('x: "a"', "lark")])
def test_a_grammar_that_begins_elsewhere_is_given_the_usual_root(text: str, syntax: Literal["gbnf", "lark"]) -> None:
    translation = said(Grammar(text, syntax, "x"), "vllm", "grammar", notations=frozenset({syntax}))
    assert translation.grammar is not None
    assert compile(Grammar(translation.grammar, syntax)).accepts(b"a")


def test_a_grammar_whose_usual_root_means_something_else_is_left_to_the_prompt() -> None:
    grammar = Grammar('root ::= "b"\nx ::= "a" root', "gbnf", "x")
    assert is_left_to_the_prompt(said(grammar, "vllm", "grammar"), "grammar")


@pytest.mark.parametrize("vendor", [None, "vllm"])
def test_a_machine_is_left_to_the_prompt(vendor: str | None) -> None:
    machine = Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b")])
    assert is_left_to_the_prompt(said(machine, vendor, "regex", "grammar", "choices", "json_schema"), "machine")


def test_a_model_may_decline_beside_choices_where_a_schema_says_so() -> None:
    contract = Contract.of(Choices(["a", "b"]), refusal=True)
    translation = translate(contract, server("vllm", "choices", "json_schema"))
    accepts = compile(translation.sent).accepts
    assert accepts(b'{"value": {"refusal": "no"}}')
    assert not accepts(b'{"value": {"refusal": ""}}')
    restorer = translation.shape.restorer()
    assert restorer.feed(b'{"value": {"refusal": "\\u006eo"}}') + restorer.finish() == b'{"refusal": "\\u006eo"}'


def test_a_form_of_texts_alone_is_listed_as_narrower_than_a_contract_that_allows_declining() -> None:
    contract = Contract.of(Regex("a+"), refusal=True)
    translation = translate(contract, server("vllm", "regex"))
    assert [(each.kind, each.keyword) for each in translation.differences] == [("narrowed", "refusal")]
    assert translate(contract, server("vllm", "regex", refuses=True)).differences == ()
