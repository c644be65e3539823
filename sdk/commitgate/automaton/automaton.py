"""Compile a contract's language into an automaton over bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args

from commitgate.argument import check_choice, check_kind
from commitgate.automaton.acceptor import Acceptor
from commitgate.automaton.grammar import TextMeaning
from commitgate.automaton.grammar.compiler import text_term
from commitgate.automaton.json_schema import Dialect, Grammar, Meaning, Satisfiability, SchemaDocument, SupportRow
from commitgate.automaton.json_schema.refusal import refusal_term
from commitgate.automaton.spelling import Spelling
from commitgate.automaton.terms import Arena, Term
from commitgate.errors import UnsatisfiableError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.languages import AnyJson, Choices, Machine, Regex, TextKind, TextSource, kind_of_text
from commitgate.languages import Grammar as TextGrammar
from commitgate.limits import Limits
from commitgate.style import Style

if TYPE_CHECKING:
    from commitgate.contract import Contract, Formats


class Automaton:
    """Decide which byte strings belong to a contract, in one dialect. May be shared between threads.

    Args:
        arena: where its terms are made.
        start: the state before the first byte.
        meaning: what it was made of.

    Attributes:
        arena: where its terms are made.
        start: the state before the first byte.
    """

    __slots__ = ("_meaning", "arena", "start")

    def __init__(self, arena: Arena, start: Term, meaning: Satisfiability | TextMeaning) -> None:
        self.arena = arena
        self.start = start
        self._meaning = meaning

    @property
    def support(self) -> tuple[SupportRow, ...]:
        """Return how far each keyword of the schema is enforced, place by place."""
        return self._meaning.support

    def acceptor(self) -> Acceptor:
        """Return an acceptor at the start of a text."""
        return Acceptor(self.start)

    def accepts(self, text: bytes) -> bool:
        """Return whether ``text``, whole, belongs to the language.

        Raises:
            MisuseError: it is no bytes.
            LimitExceededError: the walk needs more states than ``Limits.states``.
        """
        acceptor = self.acceptor()
        return acceptor.feed(text) and acceptor.is_accepting


def analyse(
    schema: JsonValue,
    limits: Limits,
    *,
    formats: Formats = "assert",
    documents: Mapping[str, JsonSchema] | None = None,
) -> Satisfiability:
    """Read a schema and work out what it means.

    Args:
        schema: a JSON Schema as ``json.loads`` gives it; ``$schema`` chooses the draft, 2020-12 where it is absent.
        limits: bounds on its size.
        formats: ``assert`` makes every known format constrain, ``annotate`` none.
        documents: further schemas by absolute URI, which references may name. Nothing is ever fetched.

    Raises:
        SchemaError: it is not a JSON Schema.
        UnsupportedError: it uses something that cannot be enforced.
        UnsatisfiableError: no value satisfies it.
        LimitExceededError: it is larger than a limit.
        MisuseError: ``formats``, ``limits`` or ``documents`` is of the wrong kind.
    """
    check_choice("formats", formats, ("assert", "annotate"))
    check_kind("limits", limits, Limits, "a Limits")
    document = SchemaDocument(schema, limits, documents)
    return Satisfiability(Meaning(document, asserts_formats=formats == "assert"))


def analyse_text(source: TextSource, limits: Limits) -> TextMeaning:
    """Read a pattern, grammar, list of choices or machine, and check that some text satisfies it.

    Raises:
        NotationError: it is none, or does not hang together.
        UnsupportedError: it uses what no automaton can hold.
        UnsatisfiableError: no text satisfies it.
        LimitExceededError: it is larger than a limit.
        MisuseError: ``limits`` is of the wrong kind.
    """
    check_kind("limits", limits, Limits, "a Limits")
    meaning = TextMeaning(source, limits)
    arena = _arena(limits)
    if text_term(meaning, arena, "accept", None) is arena.empty:
        keyword = kind_of_text(source)
        raise UnsatisfiableError(f"no text satisfies the {keyword}: {_WHY_NOTHING[keyword]}", keyword=keyword)
    return meaning


_WHY_NOTHING: dict[TextKind, str] = {
    "regex": "it contradicts itself, as an anchor in the middle of a text or an empty class does",
    "grammar": "its start rule never comes to an end",
    "choices": "there is none",
    "machine": "on every way to an accepting state stands an edge that no text can take",
}


def compile(
    contract_or_schema: Contract[object] | TextSource | AnyJson | JsonValue,
    *,
    dialect: Dialect = "accept",
    formats: Formats | None = None,
    documents: Mapping[str, JsonSchema] | None = None,
    style: Style | None = None,
    limits: Limits | None = None,
    alphabet: bytes | None = None,
) -> Automaton:
    """Compile a contract, a JSON Schema, a pattern, a grammar, choices or a machine.

    Args:
        contract_or_schema: a ``Contract``, a JSON Schema as ``json.loads`` gives it, or ``Regex``, ``Grammar``,
            ``Choices``, ``Machine`` or ``AnyJson``.
        dialect: ``accept`` reads every JSON text of the language; ``generate`` writes a bounded, canonical part of it.
        formats: ``assert`` makes every known format constrain, ``annotate`` none; None takes what the contract says,
            ``assert`` for a schema.
        documents: further schemas by absolute URI, which references may name; None takes the contract's.
        style: how ``generate`` writes white space and orders keys; None takes the contract's.
        limits: bounds on schema and states; None takes the contract's own, or the defaults for a schema.
        alphabet: the bytes that the writer can spell, sorted and distinct; None for all 256. Texts that need others
            are left out.

    Raises:
        ContractError: one of its kinds, as ``analyse``; a contract was analysed when it was built.
        MisuseError: an argument is of the wrong kind.
    """
    from commitgate.contract import Contract

    check_choice("dialect", dialect, get_args(Dialect))
    if style is not None:
        check_kind("style", style, Style, "a Style")
    source = contract_or_schema
    if isinstance(source, Regex | TextGrammar | Choices | Machine | AnyJson):
        # With limits it may be bounded twice; they are not to be put in the place of what it says itself.
        source, limits = Contract[object].of(cast("bool", source), limits=limits), None
    if isinstance(source, Contract):
        contract = cast("Contract[object]", source)
        changes = {"limits": limits, "formats": formats, "documents": documents}
        given = {name: value for name, value in changes.items() if value is not None}
        if given:
            contract = replace(contract, reviewed_digest=None, **given)
        arena = _arena(contract.limits)
        start = start_of(contract, arena, dialect, alphabet, style)
        return Automaton(arena, start, contract.analysis)
    meaning = analyse(source, limits or Limits(), formats=formats or "assert", documents=documents)
    arena = _arena(meaning.meaning.document.limits)
    grammar = Grammar(arena, meaning, dialect, Spelling(dialect == "generate", alphabet), style or Style())
    return Automaton(arena, grammar.text(), meaning)


def start_of(
    contract: Contract[object], arena: Arena, dialect: Dialect, alphabet: bytes | None, style: Style | None = None
) -> Term:
    """Return the term of a contract's whole texts.

    Args:
        contract: whose texts.
        arena: where terms are made.
        dialect: as in ``compile``, as are ``alphabet`` and ``style``.
    """
    meaning = contract.analysis
    # Beside a text that is no JSON, a refusal is written as beside any JSON.
    schema = analyse(True, contract.limits) if isinstance(meaning, TextMeaning) else meaning
    grammar = Grammar(arena, schema, dialect, Spelling(dialect == "generate", alphabet), style or contract.style)
    if isinstance(meaning, TextMeaning):
        text = text_term(meaning, arena, dialect, alphabet, style or contract.style)
    else:
        text = grammar.text()
    return arena.choice([text, refusal_term(grammar)]) if contract.refusal else text


def _arena(limits: Limits) -> Arena:
    return Arena(max_states=limits.states, max_alternatives=limits.alternatives, max_step_work=limits.step_work)


__all__ = ["Automaton", "analyse", "analyse_text", "compile", "start_of"]
