"""Change a graph of schemas, round by round, until it holds only what one vendor takes.

Each round writes the graph, finds the cases of the vendors' table in it, and mends those that the vendor does not take.
A mending is exact, or it lets more through (``checked``), or less (``narrowed``). One that is not exact must not stand
where more would become less, as below ``not``: there what stands above goes first, as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.backends.translation.conjunction import Conjunction
from commitgate.backends.translation.graph_writing import Written, write
from commitgate.backends.translation.schema_graph import Node, nodes_of
from commitgate.backends.translation.vendor_words import Words
from commitgate.difference import Difference, DifferenceKind
from commitgate.errors import UnsupportedError
from commitgate.limits import Limits
from commitgate.lint.places import Depths
from commitgate.lint.vendor_cases import cases_of

_MOST_ROUNDS = 64
_MOST_WALKS = 100
"""How often one round may walk the whole graph to see what is still in reach."""

_REVERSING = frozenset({"not", "if", "contains", "oneOf", "unevaluatedProperties", "unevaluatedItems"})
"""Keywords below which, or beside which, a schema that lets more through can make the whole let less through."""

_BETTER_SAID = frozenset({"max_items_alone"})
"""Cases that are mended exactly even where the vendor only allows too little: it allows next to nothing."""

_IN_PLACE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})


@dataclass(frozen=True, slots=True)
class Offence:
    """Name one case of the table that the vendor does not take.

    Attributes:
        case: its short name.
        node: where it stands.
        keyword: the keyword.
        place: where that is in the schema as written now.
        owner: the node that declares it, where it is a property; else the same as ``node``.
        name: the property's name; empty elsewhere.
    """

    case: str
    node: Node
    keyword: str
    place: str
    owner: Node
    name: str


Mend: TypeAlias = Callable[["Fitting", Offence], None]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Hold a schema that a vendor takes.

    Attributes:
        written: it.
        document: the same, read.
        depths: its nesting.
    """

    written: Written
    document: SchemaDocument
    depths: Depths


class _Reach:
    """Know which nodes of a graph are still in reach of its root while it is changed.

    Attributes:
        walks: how often the graph was walked to find that out.
    """

    def __init__(self) -> None:
        self.walks = 0
        self._doubtful: set[Node] = set()
        self._found: set[Node] | None = None

    def lose(self, nodes: set[Node]) -> None:
        """Note that nodes are held at one place less."""
        waiting = [node for node in nodes if node not in self._doubtful]
        if waiting:
            self._found = None
        while waiting:
            node = waiting.pop()
            if node not in self._doubtful:
                self._doubtful.add(node)
                waiting.extend(held for _, held in node.held())

    def has(self, node: Node, root: Node) -> bool:
        """Say whether a node is still in reach."""
        if node not in self._doubtful:
            return True
        if self._found is None:
            self.walks += 1
            self._found = set(nodes_of(root))
        return node in self._found


class Fitting:
    """Fit one graph to one vendor.

    Args:
        root: the graph; it is changed.
        words: what the vendor does, and the words for it.
        limits: bounds on what may be sent.
        phases: how to mend each case, in the order in which cases are looked at: those of a later phase only where
            there are none of an earlier one.
        prepare: brings the graph into order before each round, exactly.
        tool: the tool whose parameters they are; None for an answer.
        may_wrap: the root may be put into an object.

    Attributes:
        root: the graph's root as it is now.
        is_wrapped: the root was put into an object.
        differences: what is not as it was, each once.
    """

    def __init__(
        self,
        root: Node,
        words: Words,
        *,
        limits: Limits,
        phases: tuple[Mapping[str, Mend], ...],
        prepare: Callable[[Fitting], None],
        tool: str | None = None,
        may_wrap: bool = True,
    ) -> None:
        self.root = root
        self.words = words
        self.is_wrapped = False
        self.differences: dict[Difference, None] = {}
        self.conjunction = Conjunction()
        self.tool = tool
        self.may_wrap = may_wrap
        self._limits = limits
        self._phases = phases
        self._prepare = prepare
        self._reach: _Reach | None = None
        self._guards: dict[Node, dict[Node, None]] | None = None

    def fitted(self) -> Fitted:
        """Return the schema that the vendor takes.

        Raises:
            UnsupportedError: it cannot be said so that it does.
            LimitExceededError: it would be larger than a limit allows.
        """
        for _ in range(_MOST_ROUNDS):
            self._prepare(self)
            written = write(self.root)
            document = SchemaDocument(written.schema, self._limits)
            depths = Depths(document)
            offences = self._offences(written, document, depths)
            if not self._mend(offences):
                return Fitted(written, document, depths)
        raise self.unsupported(self.root, "", "it cannot be said in the words that are taken; use fewer keywords")

    def _offences(self, written: Written, document: SchemaDocument, depths: Depths) -> list[Offence]:
        found: dict[tuple[str, Node, str, str], Offence] = {}
        for case, place, keyword in cases_of(document, depths):
            if self.words.takes(case) and not (case in _BETTER_SAID and not self.words.surely_takes(case)):
                continue
            node = written.places[place]
            owner, name = _owner(written, place)
            found.setdefault((case, node, keyword, place), Offence(case, node, keyword, place, owner or node, name))
        for node in nodes_of(self.root):
            for keyword in node.lost:
                found[("lost", node, keyword, "")] = Offence("lost", node, keyword, "", node, "")
        return list(found.values())

    def _mend(self, offences: list[Offence]) -> bool:
        """Mend what the first phase that has anything to do finds; say whether there was anything."""
        for mends in self._phases:
            chosen = [each for each in offences if each.case in mends]
            if chosen:
                self._mend_each(chosen, mends)
                return True
        if offences:
            worst = offences[0]
            raise self.unsupported(worst.node, worst.keyword, f"{self.words.happens(worst.case)}; say it otherwise")
        return False

    def _mend_each(self, offences: list[Offence], mends: Mapping[str, Mend]) -> None:
        self._guards = None
        self._reach = reach = _Reach()
        for each in offences:
            if reach.walks > _MOST_WALKS:
                return  # the next round finds what is left
            if not (reach.has(each.node, self.root) and reach.has(each.owner, self.root)):
                continue
            before = _held_by(each.node)
            mends[each.case](self, each)
            reach.lose(before - _held_by(each.node))

    def lose(self, node: Node) -> None:
        """Note that something else than the offending node holds a node no more."""
        if self._reach is not None:
            self._reach.lose({node})

    def note(self, kind: DifferenceKind, node: Node, keyword: str, reason: str) -> None:
        """Note a difference, once."""
        difference = Difference(kind=kind, pointer=node.origin, keyword=keyword, reason=reason, tool=self.tool)
        self.differences[difference] = None

    def unsupported(self, node: Node, keyword: str, reason: str) -> UnsupportedError:
        """Return the error that the server cannot be asked for a place of the contract."""
        where = node.origin or "the root"
        tool = "" if self.tool is None else f" of the tool {self.tool}"
        return UnsupportedError(
            f"{keyword or 'the schema'} at {where}{tool} cannot be sent: {reason}",
            pointer=node.origin,
            keyword=keyword,
            reason=reason,
        )

    def may_change(self, node: Node) -> bool:
        """Say whether a place may let more or less through than the contract.

        Where it lies below a keyword that would turn that round, the keyword is taken out, and the next round decides.
        """
        if self._guards is None:
            self._guards = _guards(self.root)
        guards = [each for each in self._guards.pop(node, ()) if not _REVERSING.isdisjoint(each.words())]
        for guard in guards:
            before = _held_by(guard)
            self._release(guard)
            for each in before - _held_by(guard):
                self.lose(each)
        return not guards

    def _release(self, guard: Node) -> None:
        """Take out what must not stand above or beside a place that is changed."""
        reason = "a keyword below it is not taken, and without that one it would mean something else"
        if "oneOf" in guard.many:
            self.loosen(guard, reason)
        for word in sorted(_REVERSING):
            if word in guard.one:
                self.note("checked", guard, word, reason)
                guard.drop(word)
        if "if" not in guard.one:
            guard.drop("then", "else")
        if "contains" not in guard.one:
            guard.drop("minContains", "maxContains")

    def loosen(self, node: Node, reason: str) -> None:
        """Let a value take several branches of ``oneOf``."""
        branches = node.many.pop("oneOf")
        if self.are_apart(branches):
            self.note("rewritten", node, "oneOf", f"{reason}; as anyOf, for no value can take two branches")
        else:
            self.note("checked", node, "oneOf", f"{reason}; as anyOf, and a value may take several branches")
        if "anyOf" in node.many:
            node.many.setdefault("allOf", []).append(Node(node.origin, many={"anyOf": branches}))
        else:
            node.many["anyOf"] = branches

    def are_apart(self, branches: list[Node]) -> bool:
        """Say that no value satisfies two of some schemas, as far as that is easily seen."""
        from commitgate.backends.translation.disjoint import are_apart

        return are_apart(branches, self.conjunction)

    def widen(self, node: Node, case: str, *keywords: str) -> None:
        """Take keywords out, so that more comes through, which the gate then stops."""
        if not self.may_change(node):
            return
        for word in keywords:
            if word in node.words():
                self.note("checked", node, word, self.words.happens(case))
        node.drop(*keywords)
        if "if" in keywords:
            node.drop("then", "else")


def _held_by(node: Node) -> set[Node]:
    return {held for _, held in node.held()}


def _owner(written: Written, place: str) -> tuple[Node | None, str]:
    """Return the node that declares the property at a place, and its name."""
    above, _, token = place.rpartition("/")
    parent, _, word = above.rpartition("/")
    if word != "properties" or not above:
        return None, ""
    owner = written.places.get(parent)
    name = token.replace("~1", "/").replace("~0", "~")
    return (owner, name) if owner is not None and name in owner.properties else (None, "")


def _guards(root: Node) -> dict[Node, dict[Node, None]]:
    """Return the nodes that must not be changed inexactly, with what forbids it."""
    found: dict[Node, dict[Node, None]] = {}
    for guard in nodes_of(root):
        for word in _REVERSING:
            if word in guard.one and word.startswith("unevaluated"):
                for node in _in_place(guard):
                    found.setdefault(node, {})[guard] = None
            elif word in guard.one or word in guard.many:
                for held in [guard.one[word]] if word in guard.one else guard.many[word]:
                    for node in nodes_of(held):
                        found.setdefault(node, {})[guard] = None
    return found


def _in_place(node: Node) -> list[Node]:
    """Return the nodes that judge the very value that a node judges, itself included."""
    found, seen, waiting = list[Node](), {node}, [node]
    while waiting:
        each = waiting.pop()
        found.append(each)
        for word, held in each.held():
            if word in _IN_PLACE and held not in seen:
                seen.add(held)
                waiting.append(held)
    return found


__all__ = ["Fitted", "Fitting", "Mend", "Offence"]
