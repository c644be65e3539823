"""Read the texts below a node of a vocabulary's tree as characters of a JSON string.

Walking a string's automaton byte by byte would take apart each character of each token, for each state anew. Here that
is done once: the nodes at which a character is whole are linked to each other by code points, those in the middle of a
character know what it can still become, and those at a closing quote know which character came last.

Source: RFC 3629 section 4 (well-formed UTF-8), RFC 8259 section 7 (escapes).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from commitgate_local.trie import Ints, child_ranges, ids_at

if TYPE_CHECKING:
    from commitgate.automaton.spelling import Spelling
    from commitgate_local.kept_arrays import ArrayFolder
    from commitgate_local.trie import Trie

Intervals: TypeAlias = "tuple[tuple[int, int], ...]"
Longs: TypeAlias = NDArray[np.int64]

_QUOTE = 0x22
_BACKSLASH = 0x5C
_ASCII_END = 0x80
_LAST_CODE_POINT = 0x10FFFF

# Kinds of nodes in the middle of a character, beside the states of the escape table, which count from 1: the bits read,
# how many bytes are left, and how many the character has.
_UTF8 = 1 << 40
_SIZE_SHIFT, _LEFT_SHIFT = 36, 32
_COUNT_BITS = 15
_VALUE_BITS = (1 << _LEFT_SHIFT) - 1

_LEADS = ((0xC2, 0xE0, 0xC0, 2), (0xE0, 0xF0, 0xE0, 3), (0xF0, 0xF5, 0xF0, 4))
"""First lead byte and one past the last, the lead's tag bits, and the size of the character (RFC 3629 section 3)."""
_LEAST = np.array((0, 0, 0x80, 0x800, 0x10000))
"""By size, the least code point that must not be spelled shorter."""

_ARRAYS = (
    "node",
    "parent",
    "code",
    "depth",
    "half_node",
    "half_after",
    "half_kind",
    "half_kinds",
    "exit_node",
    "exit_after",
)
"""What is kept of it between runs."""


@dataclass(frozen=True, slots=True)
class EscapeTable:
    """Hold the canonical escape sequences as a table.

    Attributes:
        following: by state and byte the next state; negative where a character is whole, -1 - its code point; 0 where
            the byte cannot follow. State 1 stands behind the backslash. [states, 256] int32
        becoming: for each state the code points that can still be meant, ascending.
    """

    following: Ints
    becoming: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(spelling: Spelling) -> EscapeTable:
        """Return the table of a canonical spelling."""
        spelled = {point: spelling.text(chr(point)) for point in range(_ASCII_END)}
        tails = {point: text[1:] for point, text in spelled.items() if text and text[0] == _BACKSLASH}
        numbers: dict[bytes, int] = {}
        rows: list[list[int]] = [[0] * 256]
        becoming: list[list[int]] = [[]]
        for point, tail in tails.items():
            for size in range(len(tail)):
                number = numbers.setdefault(tail[:size], len(rows))
                if number == len(rows):
                    rows.append([0] * 256)
                    becoming.append([])
                becoming[number].append(point)
                if size:
                    rows[numbers[tail[: size - 1]]][tail[size - 1]] = number
            rows[numbers[tail[:-1]]][tail[-1]] = -1 - point
        return EscapeTable(np.array(rows, np.int32), tuple(map(tuple, becoming)))


class CharacterTrie:
    """Arrange the texts below one node as characters. Character 0 is the beginning; others follow their parents.

    Args:
        trie: the tree of the vocabulary.
        start: the node at which a character begins.
        spelling: which spellings are legal; it must be canonical.
        escapes: its escape sequences; None works them out.

    Attributes:
        trie: the tree of the vocabulary.
        start: the node at which a character begins.
        spelling: which spellings are legal.
        node: the tree's node at which each character ends; ``start`` first. [characters] int32
        parent: the character before; the first is its own. [characters] int32
        code: code point of each character; 0 for the first. [characters] int32
        levels: the characters of depth n + 1 are ``levels[n] : levels[n + 1]``.
        depth: how many characters were read. [characters] int32
        half_node: the tree's nodes in the middle of a character. [halves] int32
        half_after: the last whole character before each of these. [halves] int32
        half_kind: what each of these can become, as an index into ``kinds``. [halves] int32
        half_kinds: the kinds of halves as numbers, ascending; see ``_UTF8``. [kinds] int64
        kinds: what each kind can become, as ranges of code points, sorted.
        escapes: the spelling's escape sequences.
        exit_node: the tree's nodes at a closing quote, ascending. [exits] int32
        exit_after: the last character before each of these. [exits] int32
    """

    def __init__(self, trie: Trie, start: int, spelling: Spelling, escapes: EscapeTable | None = None) -> None:
        self._begin(trie, start, spelling, escapes)
        self._read(start)

    def _begin(self, trie: Trie, start: int, spelling: Spelling, escapes: EscapeTable | None) -> None:
        self.trie = trie
        self.start = start
        self.spelling = spelling
        self.escapes = EscapeTable.of(spelling) if escapes is None else escapes
        self._raw_starts = np.array([low for low, _ in spelling.raw] or [0], np.int64)
        self._raw_ends = np.array([high for _, high in spelling.raw] or [-1], np.int64)

    @classmethod
    def kept(cls, trie: Trie, spelling: Spelling, folder: ArrayFolder, fingerprint: str) -> CharacterTrie:
        """Read the characters below the root from a folder, or find them and leave them there for the next start.

        Args:
            trie: the tree of the vocabulary.
            spelling: which spellings are legal; it must be canonical.
            folder: where they are kept.
            fingerprint: that of the vocabulary.
        """
        alphabet = "all" if spelling.alphabet is None else spelling.alphabet.hex()
        key = ("characters", fingerprint, alphabet)
        held = folder.get(*key)
        if held is None:
            found = cls(trie, 0, spelling)
            folder.put({name: getattr(found, name) for name in _ARRAYS} | {"levels": np.array(found.levels)}, *key)
            return found
        found = cls.__new__(cls)
        found._begin(trie, 0, spelling, None)
        for name in _ARRAYS:
            setattr(found, name, held[name])
        found.levels = held["levels"].tolist()
        found.kinds = tuple(found._becoming(kind) for kind in held["half_kinds"].tolist())
        return found

    def _read(self, start: int) -> None:
        characters = [(_ints([start]), _ints([0]), _ints([0]), _ints([0]))]
        halves: list[tuple[Ints, Ints, Longs]] = []
        exits: list[tuple[Ints, Ints]] = []
        nodes, after, depth, kinds = _ints([start]), _ints([0]), _ints([0]), np.zeros(1, np.int64)
        count = 1
        while len(nodes):
            children, counts = child_ranges(self.trie, nodes)
            after, depth, kinds = np.repeat(after, counts), np.repeat(depth, counts), np.repeat(kinds, counts)
            byte = self.trie.byte[children].astype(np.int64)
            code, kind = self._step(kinds, byte)
            is_exit = (kinds == 0) & (byte == _QUOTE) & self.spelling.may_write(_QUOTE)
            exits.append((children[is_exit], after[is_exit]))
            whole, half = code >= 0, kind > 0
            found = int(np.count_nonzero(whole))
            numbers = np.arange(count, count + found, dtype=np.int32)
            count += found
            characters.append((children[whole], after[whole], code[whole].astype(np.int32), depth[whole] + 1))
            halves.append((children[half], after[half], kind[half]))
            nodes = np.concatenate((children[whole], children[half]))
            after = np.concatenate((numbers, after[half]))
            depth = np.concatenate((depth[whole] + 1, depth[half]))
            kinds = np.concatenate((np.zeros(found, np.int64), kind[half]))
        number = self._arrange(*(np.concatenate([part[column] for part in characters]) for column in range(4)))
        self.half_node = np.concatenate([part[0] for part in halves])
        self.half_after = number[np.concatenate([part[1] for part in halves])]
        self.half_kinds, at = np.unique(np.concatenate([part[2] for part in halves]), return_inverse=True)
        self.half_kind: Ints = at.astype(np.int32)
        self.kinds: tuple[Intervals, ...] = tuple(self._becoming(kind) for kind in self.half_kinds.tolist())
        exit_node = np.concatenate([part[0] for part in exits])
        exit_order = np.argsort(exit_node)
        self.exit_node = exit_node[exit_order]
        self.exit_after = number[np.concatenate([part[1] for part in exits])[exit_order]]

    def _arrange(self, node: Ints, parent: Ints, code: Ints, depth: Ints) -> Ints:
        """Sort the characters by how many came before, so that a level is a slice; return each one's new number."""
        order = np.argsort(depth, kind="stable")
        number = np.empty(len(node), np.int32)
        number[order] = np.arange(len(node), dtype=np.int32)
        self.node, self.code, self.depth = node[order], code[order], depth[order]
        self.parent = number[parent[order]]
        self.levels: list[int] = np.cumsum(np.bincount(depth)).tolist()
        return number

    def _step(self, kinds: Longs, byte: Longs) -> tuple[Longs, Longs]:
        """Return the code point that is whole after each byte, else -1, and what is open, else 0."""
        code = np.full(len(byte), -1, np.int64)
        kind = np.zeros(len(byte), np.int64)
        begins = kinds == 0
        ascii_ = begins & (byte < _ASCII_END) & (byte != _QUOTE) & (byte != _BACKSLASH)
        code[ascii_] = byte[ascii_]
        if self.spelling.may_write(_BACKSLASH) and len(self.escapes.becoming) > 1:
            kind[begins & (byte == _BACKSLASH)] = 1
        for lead, end, tag, size in _LEADS:
            opens = begins & (byte >= lead) & (byte < end)
            kind[opens] = _UTF8 + (size << _SIZE_SHIFT) + (size - 1 << _LEFT_SHIFT) + (byte[opens] - tag)
        escaped = (kinds > 0) & (kinds < _UTF8)
        if escaped.any():
            target = self.escapes.following[kinds[escaped], byte[escaped]]
            code[escaped] = np.where(target < 0, -1 - target, -1)
            kind[escaped] = np.maximum(target, 0)
        goes_on = (kinds >= _UTF8) & (byte & 0xC0 == 0x80)
        if goes_on.any():
            read = kinds[goes_on]
            left = read >> _LEFT_SHIFT & _COUNT_BITS
            value = (read & _VALUE_BITS) << 6 | byte[goes_on] & 0x3F
            code[goes_on] = np.where(left == 1, value, -1)
            kind[goes_on] = np.where(left > 1, (read & ~_VALUE_BITS) - (1 << _LEFT_SHIFT) + value, 0)
        raw = (code >= 0) & ~escaped
        code[raw] = np.where(self._is_raw(code[raw]), code[raw], -1)
        return code, self._without_hopeless(kind)

    def _is_raw(self, code: Longs) -> NDArray[np.bool_]:
        at = np.searchsorted(self._raw_starts, code, side="right") - 1
        return (at >= 0) & (code <= self._raw_ends[np.maximum(at, 0)])

    def _without_hopeless(self, kind: Longs) -> Longs:
        open_ = kind >= _UTF8
        if open_.any():
            for value in np.unique(kind[open_]).tolist():
                if not self._becoming(value):
                    kind[kind == value] = 0
        return kind

    def _becoming(self, kind: int) -> Intervals:
        """Return the code points that a half-read character can become."""
        if kind < _UTF8:
            return tuple((point, point) for point in self.escapes.becoming[kind])
        left, value = kind >> _LEFT_SHIFT & _COUNT_BITS, kind & _VALUE_BITS
        low, high = value << 6 * left, (value + 1 << 6 * left) - 1
        # What is spelled longer than it must be is none (RFC 3629 section 3).
        low = max(low, int(_LEAST[kind >> _SIZE_SHIFT & _COUNT_BITS]))
        raw = self.spelling.raw
        found: list[tuple[int, int]] = []
        at = max(bisect_right(raw, low, key=lambda entry: entry[0]) - 1, 0)
        while at < len(raw) and raw[at][0] <= min(high, _LAST_CODE_POINT):
            first, last = max(low, raw[at][0]), min(high, raw[at][1])
            if first <= last:
                found.append((first, last))
            at += 1
        return tuple(found)

    @cached_property
    def character_tokens(self) -> tuple[Ints, Ints]:
        """Return the ids of the tokens that end with a whole character, and the character of each."""
        return _tokens(self.trie, self.node[1:], 1)

    @cached_property
    def half_tokens(self) -> tuple[Ints, Ints]:
        """Return the ids of the tokens that end in the middle of a character, and the index of each half."""
        return _tokens(self.trie, self.half_node, 0)

    @cached_property
    def kind_ranges(self) -> tuple[Ints, Ints, Ints]:
        """Return first and last code point of every range of ``kinds``, and where those of each kind begin."""
        ranges = [entry for kind in self.kinds for entry in kind]
        firsts = np.cumsum([0, *map(len, self.kinds)])[:-1]
        lows, highs = np.array(ranges or [(0, -1)], np.int32).T
        return lows, highs, firsts.astype(np.int32)

    @cached_property
    def distinct_codes(self) -> tuple[Ints, Ints]:
        """Return the code points that occur, ascending, and for each character which of them it is."""
        codes, at = np.unique(self.code, return_inverse=True)
        return codes, at.astype(np.int32)


def _tokens(trie: Trie, nodes: Ints, first: int) -> tuple[Ints, Ints]:
    counts = trie.first[nodes + 1] - trie.first[nodes]
    return ids_at(trie, nodes), np.repeat(np.arange(first, first + len(nodes), dtype=np.int32), counts)


def _ints(values: list[int]) -> Ints:
    return np.array(values, np.int32)


__all__ = ["CharacterTrie", "EscapeTable", "Intervals"]
