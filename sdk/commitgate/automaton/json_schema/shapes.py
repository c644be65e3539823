"""Hold what a place of a schema allows, one record for each JSON type, and how such records meet.

All keywords of one place hold at once. Written as a *shape* for each type, that conjunction is taken type by type,
objects with objects and strings with strings, so no intersection of automata over whole values is ever needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from commitgate.automaton.json_schema.nodes import ANYTHING, NO_VALUE, Node, forbids, meet_nodes, opposite
from commitgate.automaton.json_schema.text_sets import common_texts, few_texts, holds_text, listed_texts, texts_without
from commitgate.automaton.number_set import ANY_NUMBER, NumberSet
from commitgate.automaton.text_language import ANY_TEXT, TextLanguage


class InexpressibleError(Exception):
    """Raised when a complement cannot be written as shapes. Caught where the schema's meaning is worked out."""


@dataclass(frozen=True, slots=True)
class NumberShape:
    """Allow the numbers of a set.

    Attributes:
        numbers: the set.
        is_literal: only a number spelled without point and exponent counts as an integer (draft 4).
    """

    numbers: NumberSet = ANY_NUMBER
    is_literal: bool = False

    def meet(self, other: NumberShape) -> NumberShape | None:
        """Return what both allow, None where nothing."""
        numbers = self.numbers.meet(other.numbers)
        return None if numbers is None else NumberShape(numbers, self.is_literal or other.is_literal)

    @property
    def is_everything(self) -> bool:
        """Return whether every number is allowed."""
        return self.numbers == ANY_NUMBER and not self.is_literal


@dataclass(frozen=True, slots=True)
class StringShape:
    """Allow the strings of a language, or listed values alone where ``values`` is given."""

    texts: TextLanguage = ANY_TEXT
    values: tuple[str, ...] | None = None

    def meet(self, other: StringShape) -> StringShape | None:
        """Return what both allow, None where nothing."""
        if self.values is None and other.values is None:
            texts = common_texts(self.texts, other.texts)
            return None if texts is None else StringShape(texts)
        first, second = (self, other) if self.values is not None else (other, self)
        if second.values is not None:
            allowed = frozenset(second.values)
            values = tuple(value for value in first.values or () if value in allowed)
        else:
            values = tuple(value for value in first.values or () if second.texts.contains(value))
        return StringShape(values=values) if values else None

    @property
    def language(self) -> TextLanguage:
        """Return the strings as one language."""
        return self.texts if self.values is None else listed_texts(self.values)


@dataclass(frozen=True, slots=True)
class Contains:
    """Ask for a number of items that satisfy a node.

    Attributes:
        node: what is counted.
        least: fewest such items.
        most: most such items; None has no bound.
        first: index of the first item that is looked at.
        pointer: place of the schema that asks.
        keyword: the keyword by which it does.
        evaluates: items that satisfy it count as evaluated (2020-12).
    """

    node: Node
    least: int = 1
    most: int | None = None
    first: int = 0
    pointer: str = ""
    keyword: str = "contains"
    evaluates: bool = False


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Allow arrays: the first items by position, all further ones by ``items``.

    Attributes:
        prefix: nodes of the first items.
        items: node of all further ones.
        least: fewest items.
        most: most items; None has no bound.
        contains: items to be counted.
        unique: places of the schemas that ask for distinct items; none where items may be equal.
        evaluated: how many leading items some keyword has looked at, for ``unevaluatedItems``; None for all.
    """

    prefix: tuple[Node, ...] = ()
    items: Node = ANYTHING
    least: int = 0
    most: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: tuple[str, ...] = ()
    evaluated: int | None = 0
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if not self._hash:
            parts = (self.prefix, self.items, self.least, self.most, self.contains, self.unique, self.evaluated)
            object.__setattr__(self, "_hash", hash(parts) or 1)
        return self._hash

    def item(self, index: int) -> Node:
        """Return the node of the item at ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.items

    @property
    def uniform_from(self) -> int:
        """Return the index from which all items are judged alike."""
        return max(len(self.prefix), *(counted.first for counted in self.contains), 0)

    def options(self, index: int) -> Iterator[tuple[Node, tuple[int, ...]]]:
        """Yield each way to judge the item at ``index``: its node, and what it adds to the count of each ``contains``.

        An item that is counted where only a lower bound is asked for need not be told apart from others.
        """
        ways = [self._ways(counted, index) for counted in self.contains]
        node = self.item(index)
        for way in product(*ways):
            found = node
            for part, _ in way:
                found = meet_nodes(found, part)
            yield found, tuple(count for _, count in way)

    @staticmethod
    def _ways(counted: Contains, index: int) -> tuple[tuple[Node, int], ...]:
        if index < counted.first:
            return ((ANYTHING, 0),)
        other = ANYTHING if counted.most is None else opposite(counted.node, counted.pointer, counted.keyword)
        return ((counted.node, 1), (other, 0))

    def meet(self, other: ArrayShape) -> ArrayShape | None:
        """Return what both allow, None where nothing."""
        least, most = max(self.least, other.least), least_of(self.most, other.most)
        if most is not None and most < least:
            return None
        length = max(len(self.prefix), len(other.prefix))
        prefix = tuple(meet_nodes(self.item(index), other.item(index)) for index in range(length))
        evaluated = None
        if self.evaluated is not None and other.evaluated is not None:
            evaluated = max(self.evaluated, other.evaluated)
        return ArrayShape(
            prefix,
            meet_nodes(self.items, other.items),
            least,
            most,
            tuple(dict.fromkeys([*self.contains, *other.contains])),
            tuple(dict.fromkeys([*self.unique, *other.unique])),
            evaluated,
        )


@dataclass(frozen=True, slots=True)
class Property:
    """Say what a declared key may hold, and whether some keyword has looked at it (for unevaluatedProperties)."""

    name: str
    node: Node
    is_evaluated: bool = False
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        # Alternatives share most of their properties, and each of them is told from the others by all of these.
        if not self._hash:
            object.__setattr__(self, "_hash", hash((self.name, self.node, self.is_evaluated)) or 1)
        return self._hash


@dataclass(frozen=True, slots=True)
class KeyClass:
    """Say what undeclared keys of one language may hold."""

    texts: TextLanguage = ANY_TEXT
    node: Node = ANYTHING
    is_evaluated: bool = False


@dataclass(frozen=True, slots=True)
class Some:
    """Ask for at least one key of a language, declared or not, that holds a value of a node.

    Attributes:
        pointer: place of the schema that asks.
        keyword: the keyword by which it does.
    """

    texts: TextLanguage
    node: Node
    pointer: str = ""
    keyword: str = "not"


MAX_NAMED_KEYS = 64
"""Most undeclared keys of one class that are told apart by name."""

ANY_KEY = (KeyClass(),)


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """Allow objects.

    Attributes:
        properties: declared keys in order of first appearance.
        classes: languages of undeclared keys, no two with a text in common; a key of none is forbidden.
        required: keys that must be there, declared or not.
        least: fewest keys.
        most: most keys; None has no bound.
        needs: keys that a key's presence requires.
        some: keys of which one must be there.
        is_open: some place wrote out what undeclared keys may hold.
        bounded_by: place and keyword that ask for ``most``.
    """

    properties: tuple[Property, ...] = ()
    classes: tuple[KeyClass, ...] = ANY_KEY
    required: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    some: tuple[Some, ...] = ()
    is_open: bool = False
    bounded_by: tuple[str, str] = field(default=("", "maxProperties"), compare=False)
    by_name: dict[str, Property] = field(init=False, repr=False, compare=False)
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {entry.name: entry for entry in self.properties})

    def __hash__(self) -> int:
        if not self._hash:
            parts = (self.properties, self.classes, self.required, self.least, self.most, self.needs, self.some)
            object.__setattr__(self, "_hash", hash(parts) or 1)
        return self._hash

    def entry(self, name: str) -> Property:
        """Return what a key may hold, declared or not."""
        found = self.by_name.get(name)
        if found is not None:
            return found
        for keys in self.classes:
            if keys.texts == ANY_TEXT or holds_text(keys.texts, name):
                return Property(name, keys.node, keys.is_evaluated)
        return Property(name, NO_VALUE)

    def node_of(self, name: str) -> Node:
        """Return the node of a key, declared or not."""
        found = self.by_name.get(name)
        if found is not None:
            return found.node
        classes = self.classes
        return classes[0].node if classes and classes[0].texts is ANY_TEXT else self.entry(name).node

    @property
    def is_plain(self) -> bool:
        """Return whether no key depends on another, nor on how many there are."""
        return not (self.least or self.some or self.needs or self.most is not None)

    @property
    def is_contradictory(self) -> bool:
        """Return whether a required key is forbidden, at first sight."""
        # Most nodes are told from the one that allows nothing by their kind, without comparing.
        return any(forbids(node) and node == NO_VALUE for node in map(self.node_of, self.required))

    @property
    def _says_nothing_of_keys(self) -> bool:
        return not self.properties and self.classes == ANY_KEY

    def names(self) -> tuple[str, ...]:
        """Return every key that the shape speaks of by name or that is one of a few, declared ones first."""
        needed = (name for key, others in self.needs for name in (key, *others))
        return tuple(dict.fromkeys([*self.by_name, *self.required, *needed, *self._few()]))

    def split_classes(self) -> tuple[KeyClass, ...]:
        """Return the classes of undeclared keys, split such that each ``some`` speaks of all keys of one or of none."""
        found = list(self.classes)
        for asked in self.some:
            split: list[KeyClass] = []
            for keys in found:
                inside = common_texts(keys.texts, asked.texts)
                if inside is None:
                    split.append(keys)
                    continue
                split.append(KeyClass(inside, keys.node, keys.is_evaluated))
                outside = texts_without(keys.texts, asked.texts)
                split.extend(KeyClass(piece, keys.node, keys.is_evaluated) for piece in outside)
            found = split
        return tuple(found)

    def _few(self) -> Iterator[str]:
        """Yield the keys of classes that have but a few, so that each is known by name once it was read."""
        for keys in self.split_classes():
            if keys.texts != ANY_TEXT:
                yield from few_texts(keys.texts, MAX_NAMED_KEYS) or ()

    def meet(self, other: ObjectShape) -> ObjectShape | None:
        """Return what both allow, None where nothing does at first sight."""
        least, most = max(self.least, other.least), least_of(self.most, other.most)
        required = tuple(dict.fromkeys([*self.required, *other.required]))
        if most is not None and most < max(least, len(required)):
            return None
        found = ObjectShape(
            self._common_properties(other),
            _common_classes(self.classes, other.classes),
            required,
            least,
            most,
            tuple(dict.fromkeys([*self.needs, *other.needs])),
            tuple(dict.fromkeys([*self.some, *other.some])),
            self.is_open or other.is_open,
            self.bounded_by if other.most is None or most != other.most else other.bounded_by,
        )
        return None if found.is_contradictory else found

    def _common_properties(self, other: ObjectShape) -> tuple[Property, ...]:
        if self._says_nothing_of_keys or other._says_nothing_of_keys:
            return self.properties or other.properties
        mine = self.by_name
        further = [entry for entry in other.properties if entry.name not in mine]
        return (*other._narrowed(self.properties), *self._narrowed(further))

    def _narrowed(self, entries: Iterable[Property]) -> Iterator[Property]:
        """Yield what each key may hold under this shape too."""
        by_name, says_nothing_of_others = self.by_name, self.classes == ANY_KEY
        for entry in entries:
            known = by_name.get(entry.name)
            if known is entry:
                yield entry
            elif known is not None:
                yield _both(entry, known)
            else:
                yield entry if says_nothing_of_others else _both(entry, self.entry(entry.name))


def _both(first: Property, second: Property) -> Property:
    if first is second:
        return first
    evaluated = first.is_evaluated or second.is_evaluated
    for mine, theirs in ((first, second), (second, first)):
        if not theirs.node and mine.is_evaluated == evaluated:
            return mine
    return Property(first.name, meet_nodes(first.node, second.node), evaluated)


def _common_classes(first: tuple[KeyClass, ...], second: tuple[KeyClass, ...]) -> tuple[KeyClass, ...]:
    if first == ANY_KEY or second == ANY_KEY:
        return second if first == ANY_KEY else first
    found: list[KeyClass] = []
    for mine, theirs in product(first, second):
        texts = common_texts(mine.texts, theirs.texts)
        node = meet_nodes(mine.node, theirs.node)
        if texts is not None and not forbids(node):
            found.append(KeyClass(texts, node, mine.is_evaluated or theirs.is_evaluated))
    return tuple(found)


def least_of(first: int | None, second: int | None) -> int | None:
    """Return the lower of two upper bounds, of which None is none."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def disjoint(texts: list[TextLanguage]) -> list[TextLanguage]:
    """Return languages with the same texts of which no two have one in common."""
    found: list[TextLanguage] = []
    for language in texts:
        pieces = [language]
        for taken in found:
            pieces = [rest for piece in pieces for rest in texts_without(piece, taken)]
        found.extend(pieces if len(pieces) < 2 else disjoint(pieces))
    return found


__all__ = [
    "ANY_KEY",
    "ArrayShape",
    "Contains",
    "InexpressibleError",
    "KeyClass",
    "NumberShape",
    "ObjectShape",
    "Property",
    "Some",
    "StringShape",
    "disjoint",
    "least_of",
]
