"""Bring a deterministic automaton into the one form that its language has.

Dead states are cut off, states that mean the same are merged, classes of characters that no state tells apart are
joined, and states are numbered breadth first.

Source: Hopcroft, "An n log n algorithm for minimizing states in a finite automaton", 1971.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from commitgate.automaton.alphabet import NO_CLASS, Alphabet

Row: TypeAlias = "tuple[tuple[int, int], ...]"
"""Where a state leads: ``(class, target)``, sorted; a class without an entry is dead."""


def live_states(rows: Sequence[Row], accepting: set[int]) -> set[int]:
    """Return the states from which an accepting one can be reached."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for _, target in row:
            before[target].append(state)
    found = set(accepting)
    pending = list(accepting)
    while pending:
        for state in before[pending.pop()]:
            if state not in found:
                found.add(state)
                pending.append(state)
    return found


def trimmed(rows: Sequence[Row], accepting: set[int]) -> tuple[list[Row], set[int]] | None:
    """Return the automaton of the live states alone, state 0 first; None where no text is accepted."""
    live = live_states(rows, accepting)
    if 0 not in live:
        return None
    if len(live) == len(rows):
        return list(rows), accepting
    numbers = {state: number for number, state in enumerate(sorted(live))}
    kept = [
        tuple((letter, numbers[target]) for letter, target in rows[state] if target in numbers) for state in numbers
    ]
    return kept, {numbers[state] for state in accepting}


class Blocks:
    """Refine a partition of the states until no block tells members of another apart."""

    def __init__(self, rows: Sequence[Row], accepting: set[int]) -> None:
        self.block_of = [0] * len(rows)
        self._before: list[list[tuple[int, int]]] = [[] for _ in rows]
        for state, row in enumerate(rows):
            for letter, target in row:
                self._before[target].append((1 << letter, state))
        rejecting = set(range(len(rows))) - accepting
        self.members = [members for members in (set(accepting), rejecting) if members]
        for block, members in enumerate(self.members):
            for state in members:
                self.block_of[state] = block
        self._work = set(range(len(self.members)))

    def refine(self) -> None:
        """Split until nothing is left to split."""
        while self._work:
            self._split_by(self._work.pop())

    def _split_by(self, splitter: int) -> None:
        letters: dict[int, int] = {}
        for target in self.members[splitter]:
            for bit, state in self._before[target]:
                letters[state] = letters.get(state, 0) | bit
        touched: dict[int, dict[int, list[int]]] = {}
        for state, mask in letters.items():
            touched.setdefault(self.block_of[state], {}).setdefault(mask, []).append(state)
        for block, groups in touched.items():
            self._split(block, list(groups.values()))

    def _split(self, block: int, parts: list[list[int]]) -> None:
        members = self.members[block]
        if sum(len(part) for part in parts) == len(members):
            # One part keeps the block's number: the largest, so that the others are quick to move.
            parts.remove(max(parts, key=len))
        if not parts:
            return
        blocks = [block]
        for part in parts:
            members.difference_update(part)
            for state in part:
                self.block_of[state] = len(self.members)
            blocks.append(len(self.members))
            self.members.append(set(part))
        if block in self._work:
            self._work.update(blocks[1:])
        else:
            blocks.remove(max(blocks, key=lambda number: len(self.members[number])))
            self._work.update(blocks)


def minimal(alphabet: Alphabet, rows: Sequence[Row], accepting: set[int]) -> MinimalForm | None:
    """Return the canonical form of the automaton that starts in state 0; None where no text is accepted."""
    live = trimmed(rows, accepting)
    if live is None:
        return None
    kept, accepting = live
    blocks = Blocks(kept, accepting)
    blocks.refine()
    merged: list[Row] = []
    for members in blocks.members:
        row = kept[next(iter(members))]
        merged.append(tuple((letter, blocks.block_of[target]) for letter, target in row))
    final = {blocks.block_of[state] for state in accepting}
    return numbered(alphabet, merged, final, blocks.block_of[0])


def numbered(alphabet: Alphabet, rows: list[Row], accepting: set[int], start: int = 0) -> MinimalForm:
    """Return the canonical form of an automaton whose states in reach all live and all mean different things."""
    return _numbered(*_joined(alphabet, rows), accepting, start)


MinimalForm: TypeAlias = "tuple[Alphabet, tuple[Row, ...], frozenset[int]]"


def _joined(alphabet: Alphabet, rows: list[Row]) -> tuple[Alphabet, list[Row]]:
    columns: list[list[tuple[int, int]]] = [[] for _ in range(alphabet.count)]
    for state, row in enumerate(rows):
        for letter, target in row:
            columns[letter].append((state, target))
    names: dict[tuple[tuple[int, int], ...], int] = {(): NO_CLASS}
    numbers = [names.setdefault(tuple(column), len(names)) for column in columns]
    coarse, new_numbers = alphabet.coarsened(numbers)
    if new_numbers == list(range(alphabet.count)):
        return coarse, rows  # every row is sorted, and no class has another number
    return coarse, [tuple(sorted({(new_numbers[letter], target) for letter, target in row})) for row in rows]


def _numbered(alphabet: Alphabet, rows: list[Row], accepting: set[int], start: int) -> MinimalForm:
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, target in rows[state]:
            if target not in order:
                order[target] = len(order)
                queue.append(target)
    ordered = tuple(tuple((letter, order[target]) for letter, target in rows[state]) for state in queue)
    return alphabet, ordered, frozenset(order[state] for state in accepting if state in order)


__all__ = ["MinimalForm", "Row", "live_states", "minimal", "numbered", "trimmed"]
