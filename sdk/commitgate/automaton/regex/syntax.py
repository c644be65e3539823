"""Hold parsed regular expressions.

Groups have no node of their own: capturing changes nothing about which texts match. Greedy and lazy quantifiers are
the same for the same reason.

Source: ECMA-262, 14th edition (2023), section 22.2.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from commitgate.automaton.characters import CharacterSet


@dataclass(frozen=True, slots=True)
class Characters:
    """Match one character of a set."""

    members: CharacterSet
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # A set may hold hundreds of ranges, and nodes are hashed once for each group around them.
        object.__setattr__(self, "_hash", hash(self.members))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Match all items, one after the other; none of them is itself a concatenation."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """Match one of the options."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Match ``item`` from ``least`` to ``most`` times; ``most`` None has no upper bound."""

    item: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class TextStart:
    """Match nothing, at the start of the text."""


@dataclass(frozen=True, slots=True)
class TextEnd:
    """Match nothing, at the end of the text."""


@dataclass(frozen=True, slots=True)
class WordBoundary:
    """Match nothing, where exactly one side is a word character; ``is_negated``: everywhere else."""

    is_negated: bool


@dataclass(frozen=True, slots=True)
class Look:
    """Match nothing, where ``item`` matches ahead or behind; ``is_negated``: where it does not."""

    item: Node
    is_behind: bool
    is_negated: bool


Node: TypeAlias = "Characters | Concatenation | Alternation | Repeat | TextStart | TextEnd | WordBoundary | Look"

MAX_SHARED_LETTERS = 24
"""How many letters from the start words of a choice share; each takes a level of nesting."""
NOTHING = Concatenation(())
"""Matches the empty text."""


def concatenated(items: Iterable[Node]) -> Node:
    """Return the items in a row."""
    flat: list[Node] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Concatenation) else (item,))
    return flat[0] if len(flat) == 1 else Concatenation(tuple(flat))


def alternated(options: Iterable[Node]) -> Node:
    """Return the choice of the options; those of one character are one set, and words share what they start with."""
    options = list(options)
    if len(options) == 1:
        return options[0]
    distinct = list(dict.fromkeys(options))
    words = [option for option in distinct if _is_word(option)]
    others = [option for option in distinct if not _is_word(option)]
    shared = _shared([_letters(word) for word in words], MAX_SHARED_LETTERS) if words else []
    found = [*others, *shared]
    return found[0] if len(found) == 1 else Alternation(tuple(found))


def _is_word(node: Node) -> bool:
    is_row = isinstance(node, Concatenation) and all(isinstance(item, Characters) for item in node.items)
    return is_row or isinstance(node, Characters)


def _letters(word: Node) -> tuple[Node, ...]:
    return word.items if isinstance(word, Concatenation) else (word,)


def _shared(words: list[tuple[Node, ...]], depth: int) -> list[Node]:
    """Return options that match the same as the words, of which no two start with the same letter."""
    if depth == 0:
        return [concatenated(word) for word in words]
    rests: dict[Node, list[tuple[Node, ...]]] = {}
    singles: list[CharacterSet] = []
    found: list[Node] = []
    for word in words:
        if word:
            rests.setdefault(word[0], []).append(word[1:])
        elif NOTHING not in found:
            found.append(NOTHING)
    for letter, ends in rests.items():
        tails = _shared(ends, depth - 1)
        tail = tails[0] if len(tails) == 1 else Alternation(tuple(tails))
        if tail == NOTHING and isinstance(letter, Characters):
            singles.append(letter.members)
        else:
            found.append(concatenated((letter, tail)))
    if singles:
        found.append(Characters(singles[0].union(*singles[1:])))
    return found


def repeated(item: Node, least: int, most: int | None) -> Node:
    """Return the item from ``least`` to ``most`` times."""
    if most == 0:
        return NOTHING
    if (least, most) == (1, 1):
        return item
    if width(item)[1] == 0:
        # What matches nothing but the empty text does so any number of times.
        return item if least else NOTHING
    return Repeat(item, least, most)


def width(node: Node) -> tuple[int, int | None]:
    """Return the fewest and the most characters that the node matches; most None has no bound."""
    match node:
        case Characters():
            return 1, 1
        case Concatenation(items):
            return _sum([width(item) for item in items])
        case Alternation(options):
            widths = [width(option) for option in options]
            mosts = [most for _, most in widths if most is not None]
            return min(least for least, _ in widths), max(mosts) if len(mosts) == len(widths) else None
        case Repeat(item, least, most):
            inner_least, inner_most = width(item)
            return inner_least * least, None if most is None or inner_most is None else inner_most * most
        case TextStart() | TextEnd() | WordBoundary() | Look():
            return 0, 0
        case _:
            assert_never(node)


def _sum(widths: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    mosts = [most for _, most in widths if most is not None]
    return sum(least for least, _ in widths), sum(mosts) if len(mosts) == len(widths) else None


def has_assertion(node: Node) -> bool:
    """Return whether what the node matches may depend on where it stands."""
    match node:
        case Characters():
            return False
        case Concatenation(parts) | Alternation(parts):
            return any(has_assertion(part) for part in parts)
        case Repeat(item):
            return has_assertion(item)
        case TextStart() | TextEnd() | WordBoundary() | Look():
            return True
        case _:
            assert_never(node)


def is_anchored(node: Node) -> bool:
    """Return whether the node can match at the start of the text alone."""
    match node:
        case TextStart():
            return True
        case Concatenation(items):
            return bool(items) and (is_anchored(items[0]) or (isinstance(items[0], Look) and _is_anchored_later(items)))
        case Alternation(options):
            return all(is_anchored(option) for option in options)
        case Repeat(item, least):
            return least > 0 and is_anchored(item)
        case Characters() | TextEnd() | WordBoundary() | Look():
            return False
        case _:
            assert_never(node)


def looks_behind(node: Node) -> bool:
    """Return whether what the node matches depends on the text before it."""
    match node:
        case Characters() | TextEnd():
            return False
        case TextStart() | WordBoundary():
            return True
        case Concatenation(parts) | Alternation(parts):
            return any(looks_behind(part) for part in parts)
        case Repeat(item):
            return looks_behind(item)
        case Look(item, is_behind):
            return is_behind or looks_behind(item)
        case _:
            assert_never(node)


def _is_anchored_later(items: tuple[Node, ...]) -> bool:
    # Look-arounds take no character, so that an anchor behind them still holds the start.
    for item in items:
        if not isinstance(item, Look):
            return is_anchored(item)
    return False


__all__ = [
    "NOTHING",
    "Alternation",
    "Characters",
    "Concatenation",
    "Look",
    "Node",
    "Repeat",
    "TextEnd",
    "TextStart",
    "WordBoundary",
    "alternated",
    "concatenated",
    "has_assertion",
    "is_anchored",
    "looks_behind",
    "repeated",
    "width",
]
