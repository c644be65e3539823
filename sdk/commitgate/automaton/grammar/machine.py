"""Read a state machine as a grammar: a state is a rule, an edge one way on.

States that no walk from the start reaches, and states from which no walk reaches an accepting one, are errors: in a
protocol they are slips, and what they would silently do is nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from commitgate.argument import check_text
from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.expression import EMPTY_TEXT, Embedded, Expression, Named, Rules, Word, either, row
from commitgate.errors import ContractError, MisuseError, NotationError, UnsupportedError
from commitgate.json_value import JsonValue
from commitgate.languages import Choices, Edge, Machine, Regex
from commitgate.limits import Limits
from commitgate.style import Style

if TYPE_CHECKING:
    from commitgate.contract import Contract

MACHINE_NESTING = 8
"""Most machines within one another."""

MAX_READ_ON_EDGES = 16
"""Most different schemas, grammars and machines on edges that are no contracts yet. They share the machine's limits."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReadMachine:
    """Hold what was read of a machine.

    Attributes:
        rules: a rule for each state.
        described: the machine as JSON; a contract on an edge stands there by its language digest.
    """

    rules: Rules
    described: JsonValue


def read_machine(machine: Machine, limits: Limits) -> ReadMachine:
    """Return a machine as rules.

    Raises:
        NotationError: a state is unreachable or dead, or there is no accepting one.
        LimitExceededError: it is larger than a limit.
        ContractError: what stands on an edge makes no contract; the pointer begins with that edge's.
    """
    check_size("edges", len(machine.edges), limits, "machine")
    if not machine.accepting:
        raise NotationError("a machine needs at least one accepting state", keyword="machine", pointer="/accepting")
    _check_nesting(machine)
    ways = _ways(machine)
    check_size("grammar_rules", len(ways), limits, "machine")
    _check_states(machine, ways)
    texts = _Texts(machine, limits)
    found = [texts.of(edge, index) for index, edge in enumerate(machine.edges)]
    rules = {
        state: either(
            [
                *(row((found[index].expression, Named(edge.target))) for index, edge in edges),
                *([EMPTY_TEXT] if state in machine.accepting else []),
            ]
        )
        for state, edges in ways.items()
    }
    edges: list[JsonValue] = [
        [edge.source, text.described, edge.target] for edge, text in zip(machine.edges, found, strict=True)
    ]
    accepting = cast("JsonValue", sorted(set(machine.accepting)))
    return ReadMachine(Rules(machine.start, rules), ["machine", machine.start, accepting, edges])


@dataclass(frozen=True, slots=True)
class _Text:
    expression: Expression
    described: JsonValue


class _Texts:
    """Read what stands on edges, the same thing on many of them once."""

    def __init__(self, machine: Machine, limits: Limits) -> None:
        from commitgate.contract import Contract

        ready = str | Regex | Choices | Contract
        unread = {id(edge.on) for edge in machine.edges if not isinstance(cast("object", edge.on), ready)}
        if len(unread) > MAX_READ_ON_EDGES:
            raise NotationError(
                f"at most {MAX_READ_ON_EDGES} different schemas may stand on edges as they are, found {len(unread)}; "
                "make contracts of them with Contract.of first",
                keyword="machine",
                pointer="/edges",
            )
        self._limits = limits
        self._shared_limits = _share(limits, max(1, len(unread)))
        self._known: dict[int, _Text] = {}

    def of(self, edge: Edge, index: int) -> _Text:
        if isinstance(edge.on, str):
            check_text(f"edges[{index}].on", edge.on)
            return _Text(Word(edge.on), edge.on)
        known = self._known.get(id(edge.on))
        if known is None:
            try:
                known = self._known[id(edge.on)] = self._read(edge.on)
            except ContractError as error:
                error.pointer = f"/edges/{index}{error.pointer}"
                raise
            except MisuseError as error:
                raise MisuseError(f"edges[{index}].on: {error}") from error
        return known

    def _read(self, on: object) -> _Text:
        from commitgate.automaton.grammar.meaning import START, TextMeaning
        from commitgate.contract import Contract

        if isinstance(on, Regex | Choices):
            meaning = TextMeaning(on, self._limits)
            return _Text(meaning.rules.rules[START], meaning.described)
        if isinstance(on, Contract):
            contract = cast("Contract[object]", on)
            _check_is_language(contract)
        else:
            contract = Contract.of(cast("type[object]", on), limits=self._shared_limits)
        _check_is_decoded(contract)
        return _Text(Embedded(contract), ["contract", contract.language_digest])


def _check_is_language(contract: Contract[object]) -> None:
    """Check that a contract says nothing beside its language.

    Raises:
        MisuseError: it has checks or a style, or lets the model refuse; on an edge they would hold nowhere.
    """
    from commitgate.gate.checks import Checks

    if Checks[object].of_contract(contract) != Checks[object]() or contract.refusal or contract.style != Style():
        raise MisuseError(
            f"the contract {contract.name!r} on an edge has checks, a style or a refusal, which would hold nowhere; "
            "give them to the machine's own contract"
        )


def _check_is_decoded(contract: Contract[object]) -> None:
    """Check that the automaton alone says whether a text is one of the contract.

    Raises:
        UnsupportedError: a keyword of it is checked after generation, which nobody does within a text.
    """
    row = next((row for row in contract.analysis.support if row.level == "checked"), None)
    if row is not None:
        raise UnsupportedError(
            f"{row.keyword} on an edge cannot be enforced: {row.reason}; within a text nothing is checked after "
            "generation, so leave it out or make it smaller",
            pointer=row.pointer,
            keyword=row.keyword,
            reason=row.reason,
        )


def _share(limits: Limits, count: int) -> Limits:
    """Return limits such that as many contracts as ``count`` are together no larger than one may be."""
    return replace(
        limits,
        **{name: max(1, getattr(limits, name) // count) for name in ("schema_bytes", "effort", "grammar_symbols")},
    )


def _check_nesting(machine: Machine) -> None:
    level: list[Machine] = [machine]
    known: set[int] = set()
    for _ in range(MACHINE_NESTING):
        inner = {id(edge.on): edge.on for each in level for edge in each.edges if isinstance(edge.on, Machine)}
        level = [each for number, each in inner.items() if number not in known]
        known.update(inner)
        if len(known) > MAX_READ_ON_EDGES:
            raise NotationError(
                f"at most {MAX_READ_ON_EDGES} machines may stand on the edges of one, at all depths together",
                keyword="machine",
                pointer="/edges",
            )
        if not level:
            return
    raise NotationError(f"machines may stand within one another {MACHINE_NESTING} deep at most", keyword="machine")


def _ways(machine: Machine) -> dict[str, list[tuple[int, Edge]]]:
    """Return each state with the edges that leave it, in the order in which states are met."""
    ways: dict[str, list[tuple[int, Edge]]] = {machine.start: []}
    for index, edge in enumerate(machine.edges):
        ways.setdefault(edge.source, []).append((index, edge))
        ways.setdefault(edge.target, [])
    for state in machine.accepting:
        ways.setdefault(state, [])
    return ways


def _check_states(machine: Machine, ways: Mapping[str, list[tuple[int, Edge]]]) -> None:
    named = {name for edge in machine.edges for name in (edge.source, edge.target)} | {machine.start}
    for index, state in enumerate(machine.accepting):
        if state not in named:
            raise NotationError(
                f"no edge leads to the accepting state {state!r}; look for a slip in its name",
                keyword="machine",
                pointer=f"/accepting/{index}",
            )
    if machine.edges and not ways[machine.start]:
        raise NotationError(
            f"no edge leaves the start {machine.start!r}; look for a slip in its name",
            keyword="machine",
            pointer="/start",
        )
    ahead = {state: [edge.target for _, edge in edges] for state, edges in ways.items()}
    behind: dict[str, list[str]] = {state: [] for state in ways}
    for state, targets in ahead.items():
        for target in targets:
            behind[target].append(state)
    _refuse(machine, ways, _reached([machine.start], ahead), f"cannot be reached from {machine.start!r}")
    _refuse(machine, ways, _reached(machine.accepting, behind), "leads to no accepting state")


def _refuse(machine: Machine, states: Iterable[str], fine: set[str], fault: str) -> None:
    wrong = [state for state in states if state not in fine]
    if wrong:
        shown = ", ".join(repr(state) for state in wrong[:_SHOWN])
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        what = "the state" if len(wrong) == 1 else "each of the states"
        first = next(
            (index for index, edge in enumerate(machine.edges) if wrong[0] in (edge.source, edge.target)), None
        )
        raise NotationError(
            f"{what} {shown}{more} {fault}; remove it or add an edge",
            keyword="machine",
            pointer="/start" if first is None else f"/edges/{first}",
        )


def _reached(starts: Iterable[str], edges: Mapping[str, list[str]]) -> set[str]:
    found = set(starts)
    waiting = deque(found)
    while waiting:
        for target in edges[waiting.popleft()]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


__all__ = ["MACHINE_NESTING", "MAX_READ_ON_EDGES", "ReadMachine", "read_machine"]
