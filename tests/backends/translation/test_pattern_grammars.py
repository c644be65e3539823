"""A pattern goes as a grammar to servers that take no patterns: exactly its texts, bounded, and declared."""

from __future__ import annotations

from random import Random

import pytest
from automaton.test_patterns import PATTERNS
from automaton.text_making import Walked, machines, patterns, regexes
from automaton.text_walking import write_many
from backends.translation.vendor_servers import server
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from commitgate import Choices, Contract, Edge, Grammar, Machine, Regex
from commitgate.automaton import compile
from commitgate.automaton.dfa import Dfa
from commitgate.automaton.grammar import TextMeaning
from commitgate.automaton.grammar.determinism import regular_automaton
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.translation import Translation, translate
from commitgate.backends.translation.pattern_grammar import (
    MAX_PATTERN_BYTES,
    MAX_PATTERN_STATES,
    MAX_PATTERN_STEPS,
    NoGrammarError,
    pattern_grammar,
)
from commitgate.errors import ContractError
from commitgate.languages import TextSource

GBNF_ALONE = server("llama_cpp", "grammar", "json_schema", notations=frozenset({"gbnf"}))
MOST_STEPS = 2_000_000


def said(text: TextSource) -> Translation:
    return translate(Contract.of(text), GBNF_ALONE)


def written(text: TextSource) -> str:
    """Return the grammar of a text that goes as one, and nothing of which is left to a check."""
    translation = said(text)
    assert (translation.form, translation.notation) == ("grammar", "gbnf")
    assert translation.is_decoded
    assert [(each.kind, each.pointer) for each in translation.differences] == [("rewritten", "")]
    assert translation.grammar is not None
    return translation.grammar


def why_not(text: TextSource) -> str:
    """Return why a text is left to the prompt."""
    translation = said(text)
    (difference,) = translation.differences
    assert (translation.form, translation.grammar, difference.kind) == ("prompt", None, "checked")
    assert not translation.is_decoded
    return difference.reason


def mutated(text: str, draw: Random) -> str:
    """Return a text with one character left out, put in or changed."""
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(["", *"ab1zé😀\n- "]) + text[at + draw.randrange(2) :]


def automaton_of(contract: Contract[str]) -> Dfa | None:
    meaning = contract.analysis
    assert isinstance(meaning, TextMeaning)
    return regular_automaton(meaning.rules, most_steps=MOST_STEPS)


def check_same_texts(text: TextSource, grammar: str, seed: int) -> None:
    """Check that the grammar, read by the reader of grammars, holds the same texts: as a whole, and by walks."""
    mine, theirs = Contract.of(text), Contract.of(Grammar(grammar))
    assert automaton_of(mine) == automaton_of(theirs)
    first, second = compile(mine), compile(theirs)
    draw = Random(seed)
    for start, other in ((first, second), (second, first)):
        for data in write_many(start.start, seed, 8, length=20):
            assert other.accepts(data), data
            changed = mutated(data.decode(), draw).encode()
            assert first.accepts(changed) == second.accepts(changed), changed


@settings(max_examples=100, deadline=None)
@given(regex=st.one_of(regexes(), patterns().map(Regex), PATTERNS.map(Regex)), seed=st.integers(0, 2**32))
def test_the_grammar_of_a_pattern_holds_exactly_its_texts(regex: Regex, seed: int) -> None:
    try:
        translation = said(regex)
    except ContractError:
        reject()
    assume(translation.form == "grammar")
    check_same_texts(regex, translation.grammar or "", seed)


@settings(max_examples=60, deadline=None)
@given(walked=machines(), seed=st.integers(0, 2**32))
def test_the_grammar_of_a_machine_holds_exactly_its_texts(walked: Walked, seed: int) -> None:
    assume(not any(isinstance(edge.on, dict) for edge in walked.machine.edges))
    check_same_texts(walked.machine, written(walked.machine), seed)


@pytest.mark.parametrize(
    ("regex", "grammar"),
    [
        (Regex(""), 'root ::= ""'),
        (Regex("[0-9]{2}"), "root ::= [0-9] s1\ns1 ::= [0-9]"),
        (Regex("a*"), 'root ::= "" | [a] root'),
        (Regex("[acdfghjklm]"), "root ::= [acdf-hj-m]"),
        (Regex("ab", "i"), "root ::= [Aa] s1\ns1 ::= [Bb]"),
        (Regex("(?:ab|cd)*"), 'root ::= "" | [a] s1 | [c] s2\ns1 ::= [b] root\ns2 ::= [d] root'),
        (Regex(r"[\]\[^\-\\\n\x00é日😀]"), r"root ::= [\x00\x0A\x2D\x5B-\x5E\xE9\u65E5\U0001F600]"),
        (Regex(".{2}", "s"), "root ::= c0 s1\ns1 ::= c0\nc0 ::= [\\x00-\\uD7FF\\uE000-\\U0010FFFF]"),
    ],
    ids=["nothing", "row", "loop", "ranges", "either-case", "choice", "escapes", "shared-class"],
)
def test_a_state_is_a_rule(regex: Regex, grammar: str) -> None:
    assert written(regex) == grammar


def test_no_rule_ends_with_a_bar_behind_which_the_next_line_would_be_read_on() -> None:
    lines = written(Regex("a(bc?)*d?")).splitlines()
    assert any('""' in line for line in lines)
    assert not any(line.endswith("|") or "| |" in line or "::= |" in line for line in lines)


@pytest.mark.parametrize(
    "regex",
    [Regex("(?=.*[0-9])[a-z0-9]{3,6}"), Regex(r"(?:a|\bb)+"), Regex("^a$|^b+$", "m"), Regex("(?i:a)b{2,4}?")],
    ids=["look-ahead", "boundary", "lines", "flags-within"],
)
def test_what_no_engine_reads_alike_is_in_the_grammar(regex: Regex) -> None:
    check_same_texts(regex, written(regex), 1)


def test_a_machine_of_texts_is_a_grammar() -> None:
    edges = [Edge("a", "x", "b"), Edge("b", Regex("[0-9]+"), "a"), Edge("b", Choices(["go", "gone"]), "b")]
    machine = Machine(start="a", accepting=["b"], edges=edges)
    check_same_texts(machine, written(machine), 1)


def test_a_machine_with_json_within_is_left_to_the_prompt() -> None:
    machine = Machine(start="a", accepting=["b"], edges=[Edge("a", {"type": "integer"}, "b")])
    assert "JSON" in why_not(machine)


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        (Regex("[a-z]{1,65535}"), f"more than {MAX_PATTERN_STEPS} steps"),
        (Regex("(?:a|b)*a(?:a|b){15}"), f"more than {MAX_PATTERN_STEPS} steps"),
        (Regex("(?:(?:a?){1000}){1000}"), f"more than {MAX_PATTERN_STEPS} steps"),
        (Regex(f"a{{{MAX_PATTERN_STATES}}}"), f"{MAX_PATTERN_STATES + 1} rules"),
        (Regex("".join(rf"[\p{{L}}{chr(0x2190 + n)}]" for n in range(10))), f"more than {MAX_PATTERN_BYTES} bytes"),
    ],
    ids=["counted", "doubling", "counts-of-counts", "rules", "bytes"],
)
def test_a_pattern_past_a_bound_is_left_to_the_prompt(regex: Regex, why: str) -> None:
    assert why in why_not(regex)


def test_as_many_rules_as_there_may_be_are_written() -> None:
    assert len(written(Regex(f"a{{{MAX_PATTERN_STATES - 1}}}")).splitlines()) == MAX_PATTERN_STATES - 1


def test_recursion_that_is_no_loop_ends_at_the_bound() -> None:
    meaning = Contract.of(Grammar('root ::= "(" root ")" | "x"')).analysis
    assert isinstance(meaning, TextMeaning)
    with pytest.raises(NoGrammarError, match="steps"):
        pattern_grammar(meaning.rules)


@pytest.mark.parametrize("name", ["llamacpp_chat", "llamacpp_completion"])
def test_servers_of_grammars_alone_get_patterns_so(name: str) -> None:
    translation = translate(Contract.of(Regex("[a-z]+")), DIALECTS[name]().facts)
    assert (translation.form, translation.is_decoded) == ("grammar", True)


def test_a_server_that_reads_patterns_gets_the_pattern() -> None:
    facts = server("vllm", "regex", "grammar", notations=frozenset({"gbnf"}))
    assert translate(Contract.of(Regex("[a-z]+")), facts).form == "regex"


def test_a_server_of_another_notation_gets_no_grammar_of_a_pattern() -> None:
    facts = server("llama_cpp", "grammar", notations=frozenset({"lark"}))
    assert translate(Contract.of(Regex("[a-z]+")), facts).form == "prompt"


def test_a_grammar_leaves_no_room_to_decline() -> None:
    translation = translate(Contract.of(Regex("[a-z]+"), refusal=True), GBNF_ALONE)
    kinds = [(each.kind, each.keyword) for each in translation.differences]
    assert kinds == [("rewritten", "regex"), ("narrowed", "refusal")]
