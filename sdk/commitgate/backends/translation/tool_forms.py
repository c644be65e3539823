"""Say a turn of tools to a server that knows tools: each with its own parameters, and the answer beside them.

What comes back is joined into the text of one turn, so that is the text which is judged and put into shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from commitgate.automaton.json_schema import Satisfiability
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.backends.translation.graph_writing import write
from commitgate.backends.translation.json_forms import FittedSchema, fit, read_document, read_graph, sent_contract
from commitgate.backends.translation.null_plan import NullPlace, NullPlan
from commitgate.backends.translation.root_mends import NothingToSayError
from commitgate.backends.translation.schema_graph import Node, followed
from commitgate.backends.translation.shapes import SAME, TextShape
from commitgate.backends.translation.translation import Translation
from commitgate.backends.translation.vendor_limits import is_over_total
from commitgate.backends.translation.vendor_words import Words, table_version, words_of
from commitgate.contract import Contract
from commitgate.difference import Difference
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonSchema
from commitgate.lint.report import Complexity
from commitgate.lint.vendor_facts import STRICT_TOOLS
from commitgate.tools.offer import OfferedTool, ToolOffer
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME

if TYPE_CHECKING:
    from commitgate.backends.dialect import ServerFacts


@dataclass(slots=True)
class _Turn:
    """Gather how the parts of a turn are asked for.

    Attributes:
        graph: the turn's.
        measured: of what the server is asked to enforce.
    """

    graph: Node
    tools: dict[str, JsonSchema] = field(default_factory=dict[str, "JsonSchema"])
    strict: list[str] = field(default_factory=list[str])
    differences: list[Difference] = field(default_factory=list[Difference])
    plans: dict[str, NullPlan] = field(default_factory=dict[str, NullPlan])
    measured: list[Complexity] = field(default_factory=list[Complexity])
    answer: FittedSchema | None = None
    is_changed: bool = False

    @property
    def calling(self) -> Node:
        """Return the object that holds the calls."""
        branches = self.graph.many.get("anyOf")
        return branches[0] if branches else self.graph

    @property
    def answering(self) -> Node | None:
        """Return the object that holds the answer; None where a turn must call."""
        branches = self.graph.many.get("anyOf")
        return branches[1] if branches else None

    def call(self, name: str) -> Node:
        """Return the object that is a call of a tool."""
        items = self.calling.properties[CALLS].one["items"]
        return next(
            each for each in items.many.get("anyOf", [items]) if each.properties[NAME].plain.get("const") == name
        )


def translate_turn(contract: Contract[object], facts: ServerFacts, offer: ToolOffer) -> Translation:
    """Return a turn's contract in the words of a server that is offered the tools in its own form.

    Args:
        contract: the turn's.
        facts: what the server takes.
        offer: the tools.
    """
    turn = _Turn(read_graph(contract))
    _ask_for_answer(turn, contract, facts, offer)
    for tool in offer.tools:
        _ask_for_arguments(turn, contract, facts, tool)
    sent = contract
    if turn.plans:
        # What cannot be put into shape is not judged further, so what is only checked must come that far.
        for name in turn.tools.keys() - set(turn.strict):
            turn.call(name).named["properties"][ARGUMENTS] = Node("")
    if turn.is_changed:
        sent = replace(sent_contract(contract, write(turn.graph).schema), refusal=contract.refusal)
    return Translation(
        sent=sent,
        form="prompt" if turn.answer is None else "json_schema",
        schema=None if turn.answer is None else turn.answer.schema,
        tools=turn.tools,
        strict_tools=frozenset(turn.strict),
        shape=_shape(turn),
        differences=tuple(turn.differences),
        table=table_version(facts),
    )


def _ask_for_answer(turn: _Turn, contract: Contract[object], facts: ServerFacts, offer: ToolOffer) -> None:
    holder = turn.answering
    if holder is None:
        return
    answer = holder.properties[ANSWER]
    if offer.answer == "json" and "json_schema" in facts.forms:
        own = followed(answer).copy()
        if facts.vendor is None:
            turn.answer = FittedSchema(schema=write(own).schema, root=own, differences=())
            return
        try:
            turn.answer = fitted = fit(own, words_of(facts), limits=contract.limits, may_wrap=False)
        except (UnsupportedError, NothingToSayError) as error:
            turn.graph = read_graph(contract)  # the one before was changed on the way
            pointer = error.pointer if isinstance(error, UnsupportedError) else answer.origin
            reason = error.reason if isinstance(error, UnsupportedError) else str(error)
            turn.differences.append(Difference(kind="checked", pointer=pointer, keyword="", reason=reason))
            return
        holder.named["properties"][ANSWER] = fitted.root
        _take_over(turn, fitted)
        return
    flat = followed(answer)
    for word in sorted(flat.said - {"type"}):
        reason = f"{facts.title} is asked for words, and told nothing of what they must be"
        turn.differences.append(Difference(kind="checked", pointer=flat.origin, keyword=word, reason=reason))


def _ask_for_arguments(turn: _Turn, contract: Contract[object], facts: ServerFacts, tool: OfferedTool) -> None:
    document = SchemaDocument(tool.parameters, contract.limits, contract.documents)
    if facts.vendor is None:
        _ask_own_server(turn, contract, facts, tool)
        return
    fitted = _fitted(turn, facts, words_of(facts), contract, document, tool)
    if isinstance(fitted, FittedSchema):
        turn.tools[tool.name] = fitted.schema
        turn.strict.append(tool.name)
        turn.call(tool.name).named["properties"][ARGUMENTS] = fitted.root
        _take_over(turn, fitted, tool.name)
        return
    turn.tools[tool.name] = write(read_document(document, contract)).schema
    turn.differences.append(fitted)


def _ask_own_server(turn: _Turn, contract: Contract[object], facts: ServerFacts, tool: OfferedTool) -> None:
    """Ask the project's own server, which refuses to be strict about what it can only check."""
    own = Contract.json_schema(
        tool.parameters if isinstance(tool.parameters, bool) else dict(tool.parameters),
        limits=contract.limits,
        formats=contract.formats,
        documents=contract.documents,
    )
    analysis = own.analysis
    turn.tools[tool.name] = write(read_graph(own)).schema if own.documents else tool.parameters
    rows = analysis.support if isinstance(analysis, Satisfiability) else ()
    checked = [row for row in rows if row.level == "checked"]
    for row in checked:
        reason = f"{facts.title} does not enforce it while arguments are written: {row.reason}"
        turn.differences.append(
            Difference(kind="checked", pointer=row.pointer, keyword=row.keyword, reason=reason, tool=tool.name)
        )
    if not checked:
        turn.strict.append(tool.name)


def _fitted(
    turn: _Turn,
    facts: ServerFacts,
    words: Words,
    contract: Contract[object],
    document: SchemaDocument,
    tool: OfferedTool,
) -> FittedSchema | Difference:
    """Return a tool's parameters in the words of a vendor, or why it is not asked to enforce them."""
    pointer, reason = "", ""
    if len(turn.strict) >= STRICT_TOOLS.get(words.vendor, 0):
        reason = f"{facts.title} cannot be asked to enforce the arguments of this tool"
    else:
        try:
            found = fit(
                read_document(document, contract), words, limits=contract.limits, tool=tool.name, may_wrap=False
            )
        except UnsupportedError as error:
            pointer, reason = error.pointer, error.reason
        except NothingToSayError as error:
            reason = str(error)
        else:
            measured = [*turn.measured, *([] if found.measured is None else [found.measured])]
            if not is_over_total(words.vendor, measured):
                return found
            reason = f"{facts.title} takes no more strict schemas beside those of the answer and the tools before"
    return Difference(kind="checked", pointer=pointer, keyword="", reason=reason, tool=tool.name)


def _take_over(turn: _Turn, fitted: FittedSchema, tool: str | None = None) -> None:
    turn.differences.extend(fitted.differences)
    turn.is_changed |= fitted.is_changed
    if fitted.measured is not None:
        turn.measured.append(fitted.measured)
    if fitted.nulls is not None and tool is not None:
        turn.plans[tool] = fitted.nulls


def _shape(turn: _Turn) -> TextShape:
    """Return the shape of a turn's text out of those of the answer and of each tool's arguments."""
    answer = None if turn.answer is None else turn.answer.nulls
    plans = [*turn.plans.values(), *([] if answer is None else [answer])]
    if not plans:
        return SAME
    places = [NullPlace(), NullPlace(items=2), NullPlace()]
    starts: list[int] = []
    for plan in plans:
        starts.append(len(places))
        places.extend([_moved(place, len(places)) for place in plan.places])
    members = {CALLS: 1} if answer is None else {CALLS: 1, ANSWER: starts[-1]}
    places[0] = NullPlace(members=members)
    places[2] = NullPlace(chosen=dict(zip(turn.plans, starts, strict=False)), by=NAME, held=ARGUMENTS)
    longest = max(plan.longest_key for plan in plans)
    return TextShape(nulls=NullPlan(places=tuple(places), longest_key=max(longest, len(ARGUMENTS))))


def _moved(place: NullPlace, by: int) -> NullPlace:
    members = {key: number + by for key, number in place.members.items()}
    return replace(place, members=members, items=None if place.items is None else place.items + by)


__all__ = ["translate_turn"]
