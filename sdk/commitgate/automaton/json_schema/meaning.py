"""Work out what each place of a schema allows: all its keywords at once, references followed, branches joined.

Where a keyword cannot be written as shapes it is left out, and recorded as ``checked``: what is worked out is then
wider than the schema, never narrower, and its complement is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from commitgate.automaton.dfa import MAX_DFA_STATES, TooManyStates
from commitgate.automaton.json_schema.array_keywords import ARRAY_READERS
from commitgate.automaton.json_schema.combining_keywords import COMBINING_READERS
from commitgate.automaton.json_schema.complement import complement
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.emptiness import Emptiness
from commitgate.automaton.json_schema.language import EVERYTHING, NOTHING, Language, all_but, joined
from commitgate.automaton.json_schema.nodes import (
    ANYTHING,
    Either,
    Exactly,
    Never,
    Node,
    Not,
    OneScalar,
    Part,
    SchemaAt,
    size_of_node,
)
from commitgate.automaton.json_schema.object_keywords import OBJECT_READERS
from commitgate.automaton.json_schema.one_of import exactly_one
from commitgate.automaton.json_schema.patterns import effort_of_pattern, effort_of_walk, language_of_pattern
from commitgate.automaton.json_schema.scalar_keywords import SCALAR_READERS, exact_value, one_scalar
from commitgate.automaton.json_schema.shapes import (
    ArrayShape,
    Contains,
    InexpressibleError,
    NumberShape,
    ObjectShape,
    StringShape,
)
from commitgate.automaton.json_schema.unevaluated_keywords import without_unevaluated
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import LimitExceededError, SchemaError
from commitgate.json_value import JsonValue
from commitgate.pointer import child

Keywords: TypeAlias = "dict[str, JsonValue]"
Reader: TypeAlias = "Callable[[Meaning, Keywords, str], Language]"
"""Reads some keywords of the schema at a place."""

MAX_REFERENCE_DEPTH = 64
"""Most references and branches open at one place; each costs several frames of Python's stack."""

MAX_COMPLEMENT = 200
"""Most alternatives of one type in the complement of a schema."""

FAILED_MEETING_EFFORT = 10_000
"""Work that it takes to find that the automaton of two languages that meet is too large."""

_MOST_KEPT_WORK = 100_000
"""Work of the meetings of parts that are remembered while a schema is read, as ``Limits.effort`` counts it."""

FEW_BRANCHES = 8
"""Alternatives of one place that are kept without a look at whether they contradict themselves."""

MAX_NUMBERS = 100
"""Most sets of numbers of one place; each is followed digit by digit."""

MAX_COUNTED = 3
"""Most ``contains`` of one array, or keys of one object that must be found, that are counted side by side."""

MAX_COUNTS = 300
"""Most combinations of what several ``contains`` of one array may have counted."""

_COMPANIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"if": ("then", "else"), "contains": ("minContains", "maxContains")}
)
"""Keywords that say nothing without another one, and so are no more decoded than it is."""

_TOO_MANY_COUNTS = "too many things would have to be counted at once"
_TOO_LARGE = "its automaton would have too many states"
_MULTIPLY = "the alternatives beside it multiply past Limits.branches"
_EFFORT = "telling the alternatives of the schema apart takes more work than Limits.effort allows"
_NO_COMPLEMENT = "the complement of what it names cannot be decoded"


class OpenSchemaError(SchemaError):
    """Raised when a schema refers to itself without reading anything."""


@dataclass(frozen=True, slots=True, eq=False)
class _Met:
    """Hold two languages that have met, what both allow, and the work that it was."""

    first: Language
    second: Language
    found: Language
    work: int
    made: int


class Meaning:
    """Answer what a node allows; each node is worked out once, when it is asked for.

    Args:
        document: the schema.
        asserts_formats: ``format`` constrains.

    Attributes:
        document: the schema.
        asserts_formats: ``format`` constrains.
        tracks_evaluation: ``unevaluatedItems`` or ``unevaluatedProperties`` is used, so shapes remember what was
            evaluated.
        obstacle: why two languages could not be met, the last time that they could not.
        emptiness: finds alternatives that surely allow nothing.
        has_lost_evaluation: something was left out, so what was evaluated is not sure any more.
    """

    def __init__(self, document: SchemaDocument, *, asserts_formats: bool = True) -> None:
        self.document = document
        self.asserts_formats = asserts_formats
        self.tracks_evaluation = document.support.has("unevaluatedItems", "unevaluatedProperties")
        self.has_lost_evaluation = False
        self._known: dict[Node, Language] = {ANYTHING: EVERYTHING}
        self._nodes: dict[str, Node] = {}
        self._exact: dict[Exactly, Language] = {}
        # By the identity of both, which the value holds on to. What they cost is spent anew each time.
        self._met: dict[tuple[int, int], _Met] = {}
        self._kept_work = 0
        self._open: list[str] = []
        self._effort = document.limits.effort
        self.emptiness = Emptiness(self)
        self.obstacle = ""

    def node_at(self, place: str) -> Node:
        """Return the node of the schema at a place; a schema that constrains nothing is the empty node."""
        found = self._nodes.get(place)
        if found is None:
            found = self._nodes[place] = self._find_node(place)
        return found

    def _find_node(self, place: str) -> Node:
        seen: dict[str, None] = {}
        while True:
            schema = self.document.at(place)
            if isinstance(schema, bool):
                return ANYTHING if schema else (Never(place),) if place else (SchemaAt(place),)
            constraining = self.document.constraining(place)
            if len(constraining) != 1 or "$ref" not in constraining:
                return (SchemaAt(place),) if constraining else ANYTHING
            if place in seen:
                raise _circle(next(reversed(seen)))
            seen[place] = None
            reference = constraining["$ref"]
            assert isinstance(reference, str)
            place = self.document.resolve(reference, place)

    def of(self, node: Node) -> Language:
        """Return what ``node`` allows.

        Raises:
            SchemaError: a pattern is malformed, or references go in a circle without reading anything.
            UnsupportedError: a pattern is not regular.
            LimitExceededError: references nest too deep.
        """
        found = self._known.get(node)
        if found is None and len(node) == 1:
            # Most nodes: one schema, and nothing beside it.
            part = node[0]
            found = self._of_place(part.pointer) if isinstance(part, SchemaAt) else self._of_part(part)
            self._known[node] = found
            self.spend(size_of_node(node))
        elif found is None:
            known = next(length for length in range(len(node) - 1, -1, -1) if node[:length] in self._known)
            found = self._known[node[:known]]
            for part in node[known:]:
                found = self._meet_part(found, part)
            self._known[node] = found
            self.spend(size_of_node(node[known:]))
        return found

    @property
    def is_working(self) -> bool:
        """Return whether some schema is being worked out just now."""
        return bool(self._open)

    def check(self, keyword: str, place: str, reason: str, *, loses_evaluation: bool = False) -> Language:
        """Record that a keyword is checked after generation; return what is known of the values without it.

        Args:
            loses_evaluation: what the keyword evaluates is left out with it, so ``unevaluatedProperties`` and
                ``unevaluatedItems`` cannot be decoded beside it.
        """
        table = self.document.support
        table.mark(keyword, place, reason)
        for companion in _COMPANIONS.get(keyword, ()):
            if table.has_at(companion, place):
                table.mark(companion, place, reason)
        self.has_lost_evaluation |= loses_evaluation
        return all_but(is_exact=False)

    def fits_branches(self, count: int) -> bool:
        """Return whether so many alternatives are within ``Limits.branches``."""
        return count <= self.document.limits.branches

    def meet(self, first: Language, second: Language, keyword: str, place: str) -> Language:
        """Return what both allow; where that takes too many alternatives, the keyword's share is only checked."""
        if first is EVERYTHING or second is EVERYTHING:
            return second if first is EVERYTHING else first
        found = self.try_meet(first, second)
        if found is None:
            self.check(keyword, place, self.obstacle, loses_evaluation=True)
            return replace(first, is_exact=False)
        return found

    def try_meet(self, first: Language, second: Language, *, is_kept: bool = False) -> Language | None:
        """Return what both allow; None where that takes too many alternatives, or too much work.

        ``obstacle`` then says which.

        Args:
            is_kept: the same two may meet again, so what they allow is remembered.
        """
        if first.is_empty or second.is_empty:
            # Where required parts contradict each other so do all nodes that have them, and that is no work.
            return NOTHING if first.is_exact and second.is_exact else replace(NOTHING, is_exact=False)
        if not self.fits_branches(_pairs(first, second)):
            self.obstacle = _MULTIPLY
            return None
        work = _work(first, second)
        if not self.spend(work):
            self.obstacle = _EFFORT
            return None
        try:
            whole = first.meet(second)
            found = self._limited(whole)
            made = _made(found)
        except TooManyStates:
            self._spend_what_is_left(FAILED_MEETING_EFFORT)
            self.obstacle = _TOO_LARGE
            return None
        self._spend_what_is_left(made)
        if is_kept and found is whole and self._kept_work + work + made < _MOST_KEPT_WORK:
            self._kept_work += work + made + 1
            self._met[id(first), id(second)] = _Met(first, second, found, work, made)
        return self._pruned(found)

    def _pruned(self, found: Language) -> Language:
        # Alternatives that contradict each other would multiply with whatever is met next.
        return self.emptiness.pruned(found) if found.branches > FEW_BRANCHES else found

    def few_numbers(self, found: Language, keyword: str, place: str) -> Language:
        """Allow every number where its alternatives are too many to be told apart digit by digit; it is checked."""
        if len(found.numbers) <= MAX_NUMBERS:
            return found
        self.check(keyword, place, _TOO_MANY_COUNTS)
        return replace(found, numbers=(NumberShape(),), is_exact=False)

    def _limited(self, found: Language) -> Language:
        """Leave out what one array or object would have to count too many of at once; it is checked."""
        if not any(shape.contains for shape in found.arrays) and not any(shape.some for shape in found.objects):
            return found
        arrays = tuple(map(self._countable, found.arrays))
        objects = tuple(map(self._findable, found.objects))
        if arrays == found.arrays and objects == found.objects:
            return found
        return replace(found, arrays=arrays, objects=objects, is_exact=False)

    def _countable(self, shape: ArrayShape) -> ArrayShape:
        kept: list[Contains] = []
        states = 1
        for counted in shape.contains:
            states *= (counted.least if counted.most is None else counted.most) + 1
            if kept and (len(kept) >= MAX_COUNTED or states > MAX_COUNTS):
                self.check(counted.keyword, counted.pointer, _TOO_MANY_COUNTS, loses_evaluation=counted.evaluates)
            else:
                kept.append(counted)
        return shape if len(kept) == len(shape.contains) else replace(shape, contains=tuple(kept))

    def _findable(self, shape: ObjectShape) -> ObjectShape:
        for asked in shape.some[MAX_COUNTED:]:
            self.check(asked.keyword, asked.pointer, _TOO_MANY_COUNTS)
        if len(shape.some) > MAX_COUNTED:
            shape = replace(shape, some=shape.some[:MAX_COUNTED])
        # Whether few enough keys suffice would be a search where keys need others, or several must be found.
        is_entangled = len(shape.some) > 1 or (shape.needs and shape.some)
        if shape.most is not None and is_entangled:
            place, keyword = shape.bounded_by
            self.check(keyword, place, _TOO_MANY_COUNTS)
            shape = replace(shape, most=None)
        return shape

    def language_of_pattern(self, pattern: str, place: str, keyword: str) -> TextLanguage | None:
        """Return the strings in which a pattern is found; None where there are none.

        Raises:
            SchemaError, UnsupportedError: as ``patterns.language_of_pattern``.
            TooManyStates: its automaton would be too large, or the patterns before it took all the work there is.
        """
        if not self._effort:
            # Whether it can be looked for at all is work too: where it cannot, the gate lets nothing through.
            raise TooManyStates("the patterns of the schema take too much work", self.document.limits.effort)
        found: TextLanguage | None = None
        obstacle: TooManyStates | None = None
        try:
            found = language_of_pattern(pattern, place, keyword)
        except TooManyStates as error:
            obstacle = error
        self._spend_what_is_left(effort_of_pattern(pattern))
        if obstacle is not None:
            self._spend_what_is_left(effort_of_walk(pattern, place, keyword))
            raise obstacle
        return found

    def spend(self, effort: int) -> bool:
        """Take from the work that one schema may cost; return whether that much was left."""
        if effort > self._effort:
            return False
        self._effort -= effort
        return True

    def _spend_what_is_left(self, effort: int) -> None:
        """Take work that is done already; what comes after it has no more than the rest."""
        self._effort = max(self._effort - effort, 0)

    def complement(self, node: Node, keyword: str, place: str) -> Language:
        """Return what ``node`` does not allow; all values, and a ``checked`` row, where that cannot be written."""
        found = self.try_complement(self.of(node), keyword, place, MAX_COMPLEMENT)
        return self.check(keyword, place, _NO_COMPLEMENT) if found is None else found

    def try_complement(self, language: Language, keyword: str, place: str, limit: int) -> Language | None:
        """Return what ``language`` does not allow; None where that cannot be written, or is too much work."""
        if not self.spend(_work(language, language) + 1):
            return None
        try:
            found = complement(language, place, keyword, limit)
        except (InexpressibleError, TooManyStates):
            return None
        return found if self.spend(found.branches) else None

    def forget_meetings(self) -> None:
        """Let go of what was remembered to meet parts of nodes quickly."""
        self._met.clear()
        self._exact.clear()

    def _meet_known(self, first: Language, second: Language) -> Language | None:
        """Do what ``try_meet`` does, and remember it: many nodes have parts in common that meet in each of them."""
        known = self._met.get((id(first), id(second)))
        if known is None:
            return self.try_meet(first, second, is_kept=True)
        if not self.spend(known.work):
            self.obstacle = _EFFORT
            return None
        self._spend_what_is_left(known.made)
        return self._pruned(known.found)

    def _meet_part(self, found: Language, part: Part) -> Language:
        language = self._of_part(part)
        if found is EVERYTHING or language is EVERYTHING:
            return language if found is EVERYTHING else found
        met = self._meet_known(found, language)
        if met is not None:
            return met
        match part:
            case Not(_, pointer, keyword):
                self.check(keyword, pointer, self.obstacle, loses_evaluation=True)
            case _:
                self.document.support.mark_below(part.pointer, self.obstacle)
                self.has_lost_evaluation = True
        return replace(found, is_exact=False)

    def _of_part(self, part: Part) -> Language:
        match part:
            case SchemaAt(pointer):
                if (part,) not in self._known:
                    self._known[(part,)] = self._of_place(pointer)
                return self._known[(part,)]
            case Never():
                return NOTHING
            case Exactly(pointer):
                if part not in self._exact:
                    self._exact[part] = exact_value(self.document.value_at(pointer), pointer)
                return self._exact[part]
            case OneScalar(_, value, _):
                return one_scalar(value)
            case Not(node, pointer, keyword):
                if (part,) not in self._known:
                    self._known[(part,)] = self.complement(node, keyword, pointer)
                return self._known[(part,)]
            case Either(nodes):
                return joined(map(self.of, nodes))

    def _of_place(self, place: str) -> Language:
        if place in self._open:
            raise _circle(self._open[-1])
        if len(self._open) >= MAX_REFERENCE_DEPTH:
            raise LimitExceededError(
                f"more than {MAX_REFERENCE_DEPTH} references and branches meet at one place; make the schema flatter",
                limit_name="reference_depth",
                limit=MAX_REFERENCE_DEPTH,
                found=MAX_REFERENCE_DEPTH + 1,
                pointer=place,
            )
        self._open.append(place)
        try:
            return self._of_schema(place)
        finally:
            self._open.pop()

    def _of_schema(self, place: str) -> Language:
        schema = self.document.at(place)
        if isinstance(schema, bool):
            return EVERYTHING if schema else NOTHING
        keywords = self.document.constraining(place)
        found = EVERYTHING
        used: dict[int, str] = {}
        for name in keywords:
            number = _READER_OF.get(name)
            if number is not None:
                used.setdefault(number, name)
        for number in sorted(used):
            found = self._read(found, _READERS[number][1], keywords, place, used[number])
        branches = keywords.get("allOf")
        # One by one into what is there already: conditions over one key stay as few as its values.
        for index in range(len(branches) if isinstance(branches, list) else 0):
            found = self.meet(found, self.of(self.node_at(child(place, "allOf", index))), "allOf", place)
        if "oneOf" in keywords:
            found = exactly_one(self, found, keywords["oneOf"], place)
        if self.tracks_evaluation:
            found = without_unevaluated(self, found, keywords, place)
        return found

    def _read(self, found: Language, read: Reader, keywords: Keywords, place: str, keyword: str) -> Language:
        try:
            language = read(self, keywords, place)
        except TooManyStates:
            language = self.check(keyword, place, _TOO_LARGE, loses_evaluation=True)
        return self.meet(found, language, keyword, place)


def _work(first: Language, second: Language) -> int:
    """Return how much work it is to meet two languages, in meetings of small shapes.

    Measured: an object costs by its properties, strings by the product of their automata's states.
    """
    found = len(first.arrays) * len(second.arrays)
    if first.objects and second.objects:
        sizes = [sum(map(_size_of_object, language.objects)) for language in (first, second)]
        found += (sizes[0] * len(second.objects) + sizes[1] * len(first.objects)) // 4
    if first.strings and second.strings:
        states = [sum(map(_states, language.strings)) for language in (first, second)]
        found += states[0] * states[1] // 20
    return found


def _size_of_object(shape: ObjectShape) -> int:
    return 2 + sum(1 + len(entry.node) for entry in shape.properties)


def _made(found: Language) -> int:
    """Return how much more work it was to meet strings than their states tell: that goes by letters, too."""
    return sum(len(shape.texts.dfa) * shape.texts.dfa.alphabet.count for shape in found.strings) // 25


def _states(shape: StringShape) -> int:
    listed = 0 if shape.values is None else sum(map(len, shape.values)) // 10
    return len(shape.texts.dfa) + min(listed, MAX_DFA_STATES)


def _pairs(first: Language, second: Language) -> int:
    """Return the largest number of alternatives of one type that both together can have."""
    return max(
        len(first.numbers) * len(second.numbers),
        len(first.strings) * len(second.strings),
        len(first.arrays) * len(second.arrays),
        len(first.objects) * len(second.objects),
    )


def _circle(place: str) -> OpenSchemaError:
    return OpenSchemaError(
        f"the schema at {place or 'the root'} refers to itself without reading anything; "
        "put the reference below properties or items",
        pointer=place,
        keyword="$ref",
    )


_READERS: tuple[tuple[frozenset[str], Reader], ...] = (
    *SCALAR_READERS,
    *ARRAY_READERS,
    *OBJECT_READERS,
    *COMBINING_READERS,
)
_READER_OF = {name: number for number, (keywords, _) in enumerate(_READERS) for name in keywords}
"""Which reader reads a keyword."""

__all__ = ["Keywords", "Meaning", "OpenSchemaError", "Reader"]
