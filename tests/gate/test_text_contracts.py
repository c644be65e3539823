"""A contract of a text says nothing that only JSON can keep, and lasts as every other contract does."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from commitgate import AnyJson, Choices, Contract, Edge, Grammar, Machine, Regex, Risk, Style
from commitgate.automaton import compile
from commitgate.contract import TEXT_SCHEMA
from commitgate.errors import MisuseError, ReviewedContractError
from commitgate.languages import TextSource

WALK = Machine(
    start="a",
    accepting=["b"],
    edges=[Edge("a", "x", "b"), Edge("b", {"type": "object"}, "b"), Edge("b", Contract.of(AnyJson()), "a")],
)
SOURCES: list[TextSource] = [
    Regex("[a-z]+"),
    Grammar('root ::= "a" root | "b"'),
    Grammar('start: "a"+', "lark"),
    Choices(["yes", "no"]),
    WALK,
]


def of_numbers(source: TextSource) -> object:
    return Contract.of(source, numbers="decimal")


def of_formats(source: TextSource) -> object:
    return Contract.of(source, formats="annotate")


def of_documents(source: TextSource) -> object:
    return Contract.of(source, documents={"https://example.com/a": {}})


def changed(source: TextSource) -> object:
    return Contract.of(Contract.of(source), numbers="decimal")


def compiled(source: TextSource) -> object:
    return compile(source, formats="annotate")


def with_a_schema(source: TextSource) -> object:
    return replace(Contract.of(source), schema={"type": "integer"})


@pytest.mark.parametrize("made", [of_numbers, of_formats, of_documents, changed, compiled, with_a_schema])
@pytest.mark.parametrize("source", [SOURCES[0], WALK])
def test_what_only_json_can_keep_is_misuse(source: TextSource, made: Callable[[TextSource], object]) -> None:
    with pytest.raises(MisuseError):
        made(source)


def test_json_schema_leads_to_where_texts_are_taken() -> None:
    for given in (Regex("a"), AnyJson(), str):
        with pytest.raises(MisuseError, match=r"Contract\.of"):
            Contract.json_schema(given)  # type: ignore[arg-type]  # pyright: ignore - it is what is tested


@pytest.mark.parametrize("given", ["a+", {"type": "string"}, 1, AnyJson(), Regex])
def test_text_that_is_no_source_is_misuse(given: object) -> None:
    with pytest.raises(MisuseError, match="text must be a Regex, Grammar, Choices or Machine"):
        replace(Contract.of(Regex("a")), text=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", SOURCES)
def test_contract_outlives_a_copy_and_a_pickle(source: TextSource) -> None:
    contract = Contract.of(source, name="mine", version="2", style=Style(white_space="compact"))
    for same in (pickle.loads(pickle.dumps(contract)), copy.deepcopy(contract), replace(contract)):
        assert same == contract
        assert (same.language_digest, same.full_digest) == (contract.language_digest, contract.full_digest)
        assert same.text == source
    assert replace(contract, risk=Risk.EFFECT).full_digest == contract.full_digest


@pytest.mark.parametrize("source", SOURCES)
def test_name_and_version_are_of_the_whole_contract_and_not_of_its_language(source: TextSource) -> None:
    plain, other = Contract.of(source), Contract.of(source, version="2")
    assert plain.language_digest == other.language_digest
    assert plain.full_digest != other.full_digest
    assert Contract.of(source, reviewed_digest=plain.full_digest).text == source
    with pytest.raises(ReviewedContractError):
        Contract.of(source, version="2", reviewed_digest=plain.full_digest)


def test_digests_tell_texts_apart() -> None:
    contracts = [*map(Contract.of, SOURCES), Contract.of(Regex("[a-z]+", "i")), Contract.of(Regex("a"), refusal=True)]
    for name in ("language_digest", "full_digest"):
        assert len({getattr(contract, name) for contract in contracts}) == len(contracts)


def test_schema_of_a_text_is_the_contracts_own() -> None:
    one, other = Contract.of(Regex("a")), Contract.of(Regex("a"))
    assert isinstance(one.schema, dict)
    one.schema["title"] = "changed"
    assert other.schema == TEXT_SCHEMA == {"type": "string"}


@pytest.mark.parametrize("source", SOURCES)
def test_pattern_and_grammar_stand_in_no_representation(source: TextSource) -> None:
    secret = "[a-z]+ root yes"
    shown = f"{source!r}{Contract.of(source)!r}"
    assert not any(word in shown for word in secret.split())
