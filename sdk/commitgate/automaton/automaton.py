"""Compile a contract's language into an automaton over bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from commitgate.argument import check_choice, check_kind
from commitgate.automaton.acceptor import Acceptor
from commitgate.automaton.json_schema import Dialect, Grammar, Meaning, Satisfiability, SchemaDocument, SupportRow
from commitgate.automaton.json_schema.refusal import refusal_term
from commitgate.automaton.spelling import Spelling
from commitgate.automaton.terms import Arena, Term
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.style import Style

if TYPE_CHECKING:
    from commitgate.contract import Contract, Formats


class Automaton:
    """Decide which byte strings belong to a contract, in one dialect. May be shared between threads.

    Attributes:
        arena: where its terms are made.
        start: the state before the first byte.
        support: how far each keyword of the schema is enforced, place by place.
    """

    __slots__ = ("arena", "start", "support")

    def __init__(self, arena: Arena, start: Term, support: tuple[SupportRow, ...]) -> None:
        self.arena = arena
        self.start = start
        self.support = support

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


def compile(
    contract_or_schema: Contract[object] | JsonValue,
    *,
    dialect: Dialect = "accept",
    formats: Formats | None = None,
    documents: Mapping[str, JsonSchema] | None = None,
    style: Style | None = None,
    limits: Limits | None = None,
    alphabet: bytes | None = None,
) -> Automaton:
    """Compile a contract or a JSON Schema.

    Args:
        contract_or_schema: a ``Contract``, or a JSON Schema as ``json.loads`` gives it.
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
    if isinstance(contract_or_schema, Contract):
        contract: Contract[object] = contract_or_schema
        style = style or contract.style
        if limits is None and formats is None and documents is None:
            meaning = contract.analysis
        else:
            meaning = analyse(
                contract.schema,
                limits or contract.limits,
                formats=formats or contract.formats,
                documents=contract.documents if documents is None else documents,
            )
    else:
        meaning = analyse(contract_or_schema, limits or Limits(), formats=formats or "assert", documents=documents)
    document = meaning.meaning.document
    arena = Arena(max_states=document.limits.states)
    spelling = Spelling(dialect == "generate", alphabet)
    grammar = Grammar(arena, meaning, dialect, spelling, style or Style())
    may_refuse = isinstance(contract_or_schema, Contract) and contract_or_schema.refusal
    start = arena.choice([grammar.text(), refusal_term(grammar)]) if may_refuse else grammar.text()
    return Automaton(arena, start, document.support.rows)


__all__ = ["Automaton", "analyse", "compile"]
