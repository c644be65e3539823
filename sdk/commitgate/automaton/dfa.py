"""Hold deterministic automata over characters, in the one form that each language has.

Equal languages are equal objects, whatever they were made from. An automaton is never empty: an operation whose result
holds no text returns None. Every construction is bounded and raises ``TooManyStates`` where it passes the bound.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Literal, TypeAlias, TypeVar

from commitgate.automaton.alphabet import NO_CLASS, WHOLE_ALPHABET, Alphabet
from commitgate.automaton.lengths import Lengths
from commitgate.automaton.minimal import Row, minimal, numbered

MAX_DFA_STATES = 10_000
"""Most states of one automaton while it is built."""
MAX_DFA_WORK = 2_000_000
"""Most transitions, one a class, of one automaton while it is built."""

DEAD = -1
StateT = TypeVar("StateT", bound=Hashable)
Operation: TypeAlias = Literal["intersection", "union", "difference"]


class TooManyStates(Exception):  # noqa: N818 - a verdict that callers turn into a support row, not a failure
    """Raised when a construction passes its bound; the language is then left to a check after the fact.

    Attributes:
        limit: the bound that was passed.
    """

    def __init__(self, message: str, limit: int) -> None:
        super().__init__(message)
        self.limit = limit


class Dfa:
    """Hold a deterministic automaton in canonical form: minimal, every state live, numbered breadth first from 0.

    Attributes:
        alphabet: the classes of characters.
        rows: for each state where it leads.
        accepting: the states in which a text may end.
    """

    __slots__ = (
        "_hash",
        "_lengths",
        "_ranges",
        "_residuals",
        "_targets",
        "_universal",
        "accepting",
        "alphabet",
        "rows",
    )

    def __init__(self, alphabet: Alphabet, rows: tuple[Row, ...], accepting: frozenset[int]) -> None:
        self.alphabet = alphabet
        self.rows = rows
        self.accepting = accepting
        self._hash = hash((alphabet, rows, accepting))
        self._ranges: list[tuple[tuple[int, int, int], ...] | None] = [None] * len(rows)
        self._residuals: dict[int, tuple[Dfa, int]] = {}
        self._targets: list[dict[int, int] | None] = [None] * len(rows)
        self._lengths: Lengths | None = None
        self._universal = self._find_universal()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Dfa)
            and self._hash == other._hash
            and (self.alphabet, self.rows, self.accepting) == (other.alphabet, other.rows, other.accepting)
        )

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Dfa({len(self.rows)} states, {self.alphabet.count} classes)"

    def _find_universal(self) -> int | None:
        numbers = {number for first, _, number in self.alphabet.pieces() if first != 0xD800}
        if NO_CLASS in numbers:
            return None
        for state in self.accepting:
            row = self.rows[state]
            if len(row) == self.alphabet.count and all(target == state for _, target in row):
                return state
        return None

    @property
    def universal(self) -> int | None:
        """Return the state after which every text is accepted; None where there is none."""
        return self._universal

    @property
    def lengths(self) -> Lengths:
        """Return what is known of the lengths of the texts."""
        found = self._lengths
        if found is None:
            found = self._lengths = Lengths(self.rows, self.accepting, self.alphabet.sizes(), _refuse_work)
        return found

    @property
    def transitions(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """Return for each state ``(first, last, target)``, sorted and disjoint."""
        return tuple(self.ranges(state) for state in range(len(self.rows)))

    def ranges(self, state: int) -> tuple[tuple[int, int, int], ...]:
        """Return ``(first, last, target)`` of one state, sorted and disjoint, neighbours of one target joined."""
        found = self._ranges[state]
        if found is None:
            found = self._ranges[state] = self._ranges_of(dict(self.rows[state]))
        return found

    def _ranges_of(self, targets: dict[int, int]) -> tuple[tuple[int, int, int], ...]:
        found: list[tuple[int, int, int]] = []
        for first, last, number in self.alphabet.pieces():
            target = targets.get(number, DEAD)
            if target == DEAD:
                continue
            if found and found[-1][1] == first - 1 and found[-1][2] == target:
                found[-1] = (found[-1][0], last, target)
            else:
                found.append((first, last, target))
        return tuple(found)

    def step(self, state: int, point: int) -> int:
        """Return the state after a code point, ``DEAD`` where it cannot follow."""
        number = self.alphabet.number_of(point)
        return next((target for letter, target in self.rows[state] if letter == number), DEAD)

    def accepts(self, text: str) -> bool:
        """Return whether the text belongs to the language."""
        state, known = 0, self._targets
        starts, numbers = self.alphabet.starts, self.alphabet.numbers
        for character in text:
            targets = known[state]
            if targets is None:
                targets = known[state] = dict(self.rows[state])
            state = targets.get(numbers[bisect_right(starts, ord(character)) - 1], DEAD)
            if state == DEAD:
                return False
        return state in self.accepting

    def residual(self, state: int) -> tuple[Dfa, int]:
        """Return an automaton that holds what remains in ``state``, and the state there.

        Where few states are still ahead, it is the automaton of these alone. So the tails of different automata meet,
        such as the letters that end most names.
        """
        found = self._residuals.get(state)
        if found is None:
            found = self._residuals[state] = self._residual_of(state)
        return found

    def _residual_of(self, state: int) -> tuple[Dfa, int]:
        ahead = {state: 0}
        queue = [state]
        for member in queue:
            for _, target in self.rows[member]:
                if target not in ahead:
                    ahead[target] = len(ahead)
                    queue.append(target)
                    if len(queue) > _SHARED_STATES:
                        return self, state
        if len(queue) == len(self.rows):
            return self, state
        rows = [tuple((letter, ahead[target]) for letter, target in self.rows[member]) for member in queue]
        form = minimal(self.alphabet, rows, {ahead[member] for member in queue if member in self.accepting})
        assert form is not None
        return Dfa(*form), 0

    def intersection(self, other: Dfa) -> Dfa | None:
        """Return the texts of both."""
        if self == other or other == ANY_DFA:
            return self
        if self == ANY_DFA:
            return other
        return None if self._surely_shares_none(other) else self._product(other, "intersection")

    def _surely_shares_none(self, other: Dfa) -> bool:
        """Return whether a look at a few pairs of states, without a common alphabet, finds that no text is in both."""
        if len(self.alphabet.starts) > _FEW_INTERVALS or len(other.alphabet.starts) > _FEW_INTERVALS:
            return False
        pairs = [(0, 0)]
        seen = {(0, 0)}
        for mine, theirs in pairs:
            if (mine in self.accepting and theirs in other.accepting) or len(pairs) > _FEW_PAIRS:
                return False
            for pair in _common_targets(self.ranges(mine), other.ranges(theirs)):
                if pair not in seen:
                    seen.add(pair)
                    pairs.append(pair)
        return True

    def union(self, other: Dfa) -> Dfa:
        """Return the texts of either."""
        result = self._product(other, "union")
        assert result is not None
        return result

    def difference(self, other: Dfa) -> Dfa | None:
        """Return the texts of this one that the other lacks."""
        return other.complement() if self is ANY_DFA else self._product(other, "difference")

    def complement(self) -> Dfa | None:
        """Return the texts that this one lacks.

        Raises:
            TooManyStates: as ``explore``.
        """
        if self._universal == 0:
            return None
        # Of a minimal automaton so is the complement, once what was dead is a state and what takes all is gone.
        alphabet, sink = self.alphabet.completed(), len(self.rows)
        has_sink = any(len(row) < alphabet.count for row in self.rows)
        _check_size(sink + has_sink, (sink + has_sink) * alphabet.count)
        rows = [_filled(row, alphabet.count, sink, self._universal) for row in self.rows]
        rows += [_filled((), alphabet.count, sink, None)] if has_sink else []
        return Dfa(*numbered(alphabet, rows, set(range(len(rows))) - self.accepting))

    def _product(self, other: Dfa, operation: Operation) -> Dfa | None:
        alphabet, pairs = self.alphabet.product(other.alphabet)
        mine, theirs = ({DEAD: dict[int, int]()} for _ in range(2))
        mine |= {state: dict(row) for state, row in enumerate(self.rows)}
        theirs |= {state: dict(row) for state, row in enumerate(other.rows)}
        letters = [(number, *pair) for number, pair in enumerate(pairs)]
        needs_mine, needs_both = operation != "union", operation == "intersection"

        def successors(state: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
            my_row, their_row = mine[state[0]], theirs[state[1]]
            for number, my_letter, their_letter in letters:
                my_target, their_target = my_row.get(my_letter, DEAD), their_row.get(their_letter, DEAD)
                if my_target == DEAD and (needs_mine or their_target == DEAD):
                    continue
                if not needs_both or their_target != DEAD:
                    yield number, (my_target, their_target)

        def is_accepting(state: tuple[int, int]) -> bool:
            here, there = state[0] in self.accepting, state[1] in other.accepting
            if operation == "intersection":
                return here and there
            return here or there if operation == "union" else here and not there

        return explore(alphabet, (0, 0), successors, is_accepting)


def _filled(row: Row, count: int, sink: int, dead: int | None) -> Row:
    """Return a row that leads to ``sink`` where it led nowhere, of ``count`` classes; and nowhere where to ``dead``."""
    targets = [sink] * count
    for letter, target in row:
        targets[letter] = target
    if dead is None:
        return tuple(enumerate(targets))
    return tuple([step for step in enumerate(targets) if step[1] != dead])


def _common_targets(
    mine: tuple[tuple[int, int, int], ...], theirs: tuple[tuple[int, int, int], ...]
) -> Iterator[tuple[int, int]]:
    """Yield where characters that both ranges hold lead to."""
    at = 0
    for first, last, target in mine:
        while at < len(theirs) and theirs[at][1] < first:
            at += 1
        further = at
        while further < len(theirs) and theirs[further][0] <= last:
            yield target, theirs[further][2]
            further += 1


_FEW_INTERVALS = 64
_FEW_PAIRS = 64
_SHARED_STATES = 32
ANY_DFA = Dfa(WHOLE_ALPHABET, (((0, 0),),), frozenset({0}))
"""The automaton of all texts."""


def _refuse_work(limit: int) -> TooManyStates:
    return TooManyStates(f"telling the lengths of a pattern's texts takes more than {limit} steps", limit)


def _check_size(states: int, transitions: int) -> None:
    if states > MAX_DFA_STATES:
        raise TooManyStates(f"an automaton of more than {MAX_DFA_STATES} states", MAX_DFA_STATES)
    if transitions > MAX_DFA_WORK:
        raise TooManyStates(f"an automaton of more than {MAX_DFA_WORK} transitions", MAX_DFA_WORK)


def explore(
    alphabet: Alphabet,
    start: StateT,
    successors: Callable[[StateT], Iterable[tuple[int, StateT]]],
    is_accepting: Callable[[StateT], bool],
) -> Dfa | None:
    """Build the automaton that is reached from ``start``.

    Args:
        alphabet: the classes of characters that ``successors`` speaks of.
        successors: yields ``(class, state)``; a class that it leaves out is dead.

    Returns:
        None where no text is accepted.

    Raises:
        TooManyStates: more than ``MAX_DFA_STATES`` states or ``MAX_DFA_WORK`` transitions.
    """
    numbers: dict[StateT, int] = {start: 0}
    queue = [start]
    rows: list[Row] = []
    accepting: set[int] = set()
    work = 0
    for state in queue:
        if is_accepting(state):
            accepting.add(len(rows))
        row: list[tuple[int, int]] = []
        last, known = None, None
        for number, target in successors(state):
            # Many classes in a row lead to the same state, of which the hash takes longer than all else here.
            if known is None or target is not last:
                last, known = target, numbers.get(target)
            if known is None:
                known = numbers[target] = len(queue)
                queue.append(target)
                if len(queue) > MAX_DFA_STATES:
                    _check_size(len(queue), work)
            row.append((number, known))
        work += len(row)
        _check_size(len(queue), work)
        rows.append(tuple(sorted(row)))
    form = minimal(alphabet, rows, accepting)
    return None if form is None else Dfa(*form)


__all__ = ["ANY_DFA", "DEAD", "MAX_DFA_STATES", "MAX_DFA_WORK", "Dfa", "TooManyStates", "explore"]
