"""Say a JSON Schema in the words of one vendor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commitgate.automaton.json_schema import Satisfiability
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.backends.translation.branch_mends import COMBINED, EXCLUSIVE, RECURSIVE, settle
from commitgate.backends.translation.fitting import Fitted, Fitting
from commitgate.backends.translation.graph_reading import GraphReading
from commitgate.backends.translation.graph_writing import write
from commitgate.backends.translation.null_plan import NullPlan
from commitgate.backends.translation.nullable import NullNotes
from commitgate.backends.translation.refusals import refusal_node
from commitgate.backends.translation.root_mends import ROOT, NothingToSayError
from commitgate.backends.translation.schema_graph import Node
from commitgate.backends.translation.shapes import SAME, WRAPPED, TextShape
from commitgate.backends.translation.structure_mends import OPEN, STRUCTURES, TUPLES
from commitgate.backends.translation.translation import Translation
from commitgate.backends.translation.value_mends import PAIRS, VALUES
from commitgate.backends.translation.vendor_limits import check_limits
from commitgate.backends.translation.vendor_words import Words, table_version, words_of
from commitgate.contract import Contract
from commitgate.difference import Difference
from commitgate.errors import UnsatisfiableError, UnsupportedError
from commitgate.json_value import JsonSchema
from commitgate.limits import Limits
from commitgate.lint.report import Complexity
from commitgate.lint.vendor_cases import cases_of
from commitgate.lint.vendor_facts import Reaction

if TYPE_CHECKING:
    from commitgate.backends.dialect import ServerFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSchema:
    """Hold a schema in the words of a vendor.

    Attributes:
        schema: it.
        root: its graph.
        differences: what is not as it was.
        nulls: which nulls are taken out again.
        is_wrapped: the value is a member of an object.
        is_changed: it means something else than the contract's.
        measured: its size; None where the vendor bounds none.
    """

    schema: JsonSchema
    root: Node
    differences: tuple[Difference, ...]
    nulls: NullPlan | None = None
    is_wrapped: bool = False
    is_changed: bool = False
    measured: Complexity | None = None


def translate_json(contract: Contract[object], facts: ServerFacts) -> Translation:
    """Return a JSON contract in a server's words.

    Args:
        contract: one without a ``text``.
        facts: what the server takes.
    """
    table = table_version(facts)
    if "json_schema" not in facts.forms:
        reason = f"{facts.title} has no form for a JSON Schema"
        return _unsent(contract, Difference(kind="checked", pointer="", keyword="", reason=reason), table)
    must_refuse = contract.refusal and not facts.refuses
    if facts.vendor is None:
        return _own(contract, must_refuse=must_refuse)
    words = words_of(facts)
    root = read_graph(contract)
    if must_refuse:
        root = Node("", many={"anyOf": [root, refusal_node()]})
    elif is_any_object(root) and words.refuses("open_object"):
        reason = f"{words.happens('open_object')}, and none of its keys is declared"
        return _unsent(contract, Difference(kind="checked", pointer="", keyword="", reason=reason), table)
    try:
        fitted = fit(root, words, limits=contract.limits)
    except NothingToSayError as error:
        return _unsent(contract, Difference(kind="checked", pointer="", keyword="", reason=str(error)), table)
    sent = contract
    if fitted.is_changed:
        sent = sent_contract(contract, fitted.schema, is_wrapped=fitted.is_wrapped)
    return Translation(
        sent=sent,
        form="json_schema",
        schema=fitted.schema,
        shape=TextShape(is_wrapped=fitted.is_wrapped, nulls=fitted.nulls),
        differences=fitted.differences,
        table=table,
    )


def fit(root: Node, words: Words, *, limits: Limits, tool: str | None = None, may_wrap: bool = True) -> FittedSchema:
    """Return a schema in the words of a vendor.

    Args:
        root: its graph; changed.
        words: the vendor's.
        limits: bounds on what may be sent.
        tool: the tool whose parameters they are; None for an answer.
        may_wrap: the value may be made a member of an object.

    Raises:
        UnsupportedError: it cannot be said in them.
        NothingToSayError: nothing is left that could be said.
    """
    nulls = NullNotes()
    phases = (
        COMBINED,
        EXCLUSIVE,
        {**VALUES, **STRUCTURES},
        {**PAIRS, **TUPLES, **RECURSIVE},
        OPEN,
        nulls.mends(),
        ROOT,
    )
    fitting = Fitting(root, words, limits=limits, phases=phases, prepare=settle, tool=tool, may_wrap=may_wrap)
    fitted = fitting.fitted()
    measured = check_limits(fitting, fitted)
    is_changed = any(each.kind != "rewritten" for each in fitting.differences)
    _note_narrowed(fitting, fitted)
    inner = fitting.root.properties[WRAPPED] if fitting.is_wrapped else fitting.root
    return FittedSchema(
        schema=fitted.written.schema,
        root=fitting.root,
        differences=tuple(fitting.differences),
        nulls=nulls.plan(fitting, inner),
        is_wrapped=fitting.is_wrapped,
        is_changed=is_changed,
        measured=measured,
    )


def _note_narrowed(fitting: Fitting, fitted: Fitted) -> None:
    """Note where the vendor allows less than is sent."""
    for case, place, keyword in cases_of(fitted.document, fitted.depths):
        if fitting.words.fact(case).reaction is Reaction.NARROWED:
            fitting.note("narrowed", fitted.written.places[place], keyword, fitting.words.happens(case))


def read_graph(contract: Contract[object]) -> Node:
    """Return the graph of a contract's schema."""
    assert isinstance(contract.analysis, Satisfiability), "asked of JSON alone"
    return read_document(contract.analysis.meaning.document, contract)


def read_document(document: SchemaDocument, contract: Contract[object]) -> Node:
    """Return the graph of a schema that is meant as a contract's is."""
    asserts, keeps = contract.formats == "assert", contract.prose == "keep"
    return GraphReading(document, asserts_formats=asserts, keeps_prose=keeps).root()


def is_any_object(root: Node) -> bool:
    """Say that a schema asks for an object and nothing more."""
    return root.types == frozenset({"object"}) and root.said <= {"type"} and not root.lost


def sent_contract(contract: Contract[object], schema: JsonSchema, *, is_wrapped: bool = False) -> Contract[object]:
    """Return the contract of the text as received.

    Raises:
        UnsupportedError: what can be said of the contract allows no value at all.
        LimitExceededError: it is larger than a limit of the contract allows.
    """
    limits = contract.limits
    if is_wrapped:
        limits = replace(limits, nesting=limits.nesting + 1)
    try:
        return Contract.json_schema(
            schema,
            name=contract.name,
            version=contract.version,
            limits=limits,
            numbers=contract.numbers,
            formats=contract.formats,
            style=contract.style,
        )
    except UnsatisfiableError:
        reason = "what the server can be asked for allows no value; say its objects with all their keys declared"
        raise UnsupportedError(f"the schema cannot be sent: {reason}", pointer="", keyword="", reason=reason) from None


def _own(contract: Contract[object], *, must_refuse: bool) -> Translation:
    """Return a contract for a server that enforces what a contract says."""
    schema: JsonSchema = contract.shown_schema
    if must_refuse or contract.documents:
        root = read_graph(contract)
        schema = write(Node("", many={"anyOf": [root, refusal_node()]}) if must_refuse else root).schema
    return Translation(sent=contract, form="json_schema", schema=schema, shape=SAME)


def _unsent(contract: Contract[object], difference: Difference, table: str) -> Translation:
    return Translation(sent=contract, form="prompt", shape=SAME, differences=(difference,), table=table)


__all__ = ["FittedSchema", "fit", "is_any_object", "read_document", "read_graph", "sent_contract", "translate_json"]
