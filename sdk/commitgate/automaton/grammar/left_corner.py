"""Turn symbols into terms whose derivatives always end, however the grammar recurs.

To read a text of a nonterminal top down, a left-recursive rule would be entered for ever. So it is read from its *left
corner*: its first terminal, from which the way up to the nonterminal is found afterwards. For a nonterminal A,

- the texts of A that are not empty are, for each terminal t with which one may begin, a text of t that is not empty,
  and then what completes A once t was read as its left corner;
- what completes A once X was read is nothing more, where A can be X and empty parts alone; or, for each production
  B -> a X b with a empty and B itself a left corner of A, a text of b that is not empty, and then what completes A once
  B was read.

Both kinds are ``Deferred`` terms, built when a text reaches them. Every alternative begins with what is not empty, and
what begins a nonterminal is a terminal, so a derivative never calls itself: left recursion, hidden left recursion,
cycles of rules and empty rules need no care of their own, and ambiguity is a union of terms, which are hash-consed.

Where completing A leads back to completing A alone, as for ``expr ::= expr "+" term | term``, it is a repetition, and
any number of them in a row is one. So sums as long as one likes come back to the same states.

Source: Rosenkrantz and Lewis, "Deterministic left corner parsing", 1970; Johnson, "Finite-state approximation of
constraint-based grammars using left-corner grammar transforms", 1998 (the two kinds of terms).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from commitgate.automaton.deferred import Deferred
from commitgate.automaton.grammar.symbols import (
    Nonterminal,
    Production,
    Repetition,
    Symbol,
    Terminal,
    beginnings,
    has_text,
    is_nullable,
)
from commitgate.automaton.raw_text import NonEmpty, Repeat
from commitgate.automaton.terms import Arena, Term

_LOOKS_OF_A_WAY = 10
"""Looks at alternatives that take about as long as following a production."""

_Use: TypeAlias = "tuple[Nonterminal, Production]"
"""A nonterminal, and what stands behind a symbol in one of its productions."""


@dataclass(frozen=True, slots=True)
class _WayOn:
    """Say how a goal may go on once one of its left corners was read.

    Attributes:
        is_whole: it may be whole.
        uses: the productions that may go on, each with what is left of it.
        key: equal for the same ways on.
    """

    is_whole: bool
    uses: tuple[_Use, ...]
    key: Hashable


class LeftCorners:
    """Make the terms of one grammar's symbols. Its nonterminals were pruned.

    Args:
        arena: where terms are made.
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._uses: dict[int, dict[int, tuple[Symbol, list[_Use]]]] = {}
        self._ways_on: dict[tuple[int, int], _WayOn] = {}
        self._completions: dict[Hashable, Term] = {}
        self._kept: list[object] = []

    def term(self, symbol: Symbol) -> Term:
        """Return the term of all texts of a symbol."""
        match symbol:
            case Terminal(term):
                return term
            case Nonterminal():
                some = self.some(symbol)
                return self.arena.choice((self.arena.epsilon, some)) if symbol.nullable else some
            case Repetition(item, least, most):
                return Repeat.make(self.some(item), 0 if item.nullable else least, most)

    def some(self, symbol: Symbol) -> Term:
        """Return the term of the texts of a symbol that are not empty."""
        match symbol:
            case Terminal(term):
                return NonEmpty.make(term)
            case Nonterminal(has_text=False):
                return self.arena.empty
            case Nonterminal():
                return self.arena.intern((Goal, id(self), id(symbol)), lambda: Goal(self, symbol))
            case Repetition():
                return NonEmpty.make(self.term(symbol))

    def row(self, production: Production) -> Term:
        """Return the term of all symbols in a row."""
        return self.arena.chain(*map(self.term, production))

    def some_of_row(self, production: Production) -> Term:
        """Return the term of a row's texts that are not empty; the empty term where there is none."""
        return NonEmpty.make(self.row(production)) if any(map(has_text, production)) else self.arena.empty

    def goal(self, nonterminal: Nonterminal) -> Term:
        """Return the alternatives of the texts of a nonterminal that are not empty, each beginning with a terminal."""
        return self.arena.choice(
            self.arena.sequence(NonEmpty.make(symbol.term), self.completion(nonterminal, symbol))
            for symbol, _ in self.uses(nonterminal).values()
            if isinstance(symbol, Terminal)
        )

    def completion(self, goal: Nonterminal, corner: Symbol) -> Term:
        """Return what completes ``goal`` once ``corner``, one of its left corners, was read."""
        way_on = self._way_on(goal, corner)
        if not way_on.uses:
            return self.arena.epsilon if way_on.is_whole else self.arena.empty
        # What it is does not depend on which corner it was found from, so equal ones are one term.
        key = (Completion, id(self), id(goal), way_on.key)
        found = self._completions.get(key)
        if found is None:
            is_loop = way_on.is_whole and all(self._way_on(goal, owner).key == way_on.key for owner, _ in way_on.uses)
            found = self._loop(way_on) if is_loop else Completion(self, goal, way_on)
            found = self._completions.setdefault(key, found)
        return found

    def _loop(self, way_on: _WayOn) -> Term:
        rounds = self.arena.choice(self.some_of_row(rest) for _, rest in way_on.uses)
        return Repeat.make(rounds, 0, None)

    def _way_on(self, goal: Nonterminal, corner: Symbol) -> _WayOn:
        """Return how ``goal`` may go on behind ``corner``."""
        known = (id(goal), id(corner))
        found = self._ways_on.get(known)
        if found is None:
            found = self._ways_on.setdefault(known, self._find_way_on(goal, corner))
        return found

    def _find_way_on(self, goal: Nonterminal, corner: Symbol) -> _WayOn:
        uses = self.uses(goal)
        reached: dict[int, Symbol] = {id(corner): corner}
        found: dict[tuple[int, ...], _Use] = {}
        waiting = [corner]
        while waiting:
            ways = uses.get(id(waiting.pop()), (goal, []))[1]
            self.arena.spend(_LOOKS_OF_A_WAY * len(ways))
            for owner, rest in ways:
                if rest:
                    found[id(owner), *map(id, rest)] = (owner, rest)
                if id(owner) not in reached and all(map(is_nullable, rest)):
                    reached[id(owner)] = owner
                    waiting.append(owner)
        self.arena.keep(2 * len(found))
        is_whole = id(goal) in reached
        return _WayOn(is_whole, tuple(found.values()), (is_whole, frozenset(found)))

    def uses(self, goal: Nonterminal) -> dict[int, tuple[Symbol, list[_Use]]]:
        """Return each left corner of ``goal``, by its id, with the productions that it may begin."""
        found = self._uses.get(id(goal))
        if found is None:
            # Of two threads that find them at once the first one's are kept, so that equal terms stay one.
            found = self._uses.setdefault(id(goal), self._find_uses(goal))
        return found

    def _find_uses(self, goal: Nonterminal) -> dict[int, tuple[Symbol, list[_Use]]]:
        found: dict[int, tuple[Symbol, list[_Use]]] = {}
        seen = {id(goal)}
        waiting: list[Nonterminal] = [goal]
        while waiting:
            owner = waiting.pop()
            self.arena.spend(_LOOKS_OF_A_WAY * len(owner.productions))
            for production in owner.productions:
                for symbol, rest in beginnings(production):
                    corner, left = self._entered(symbol)
                    found.setdefault(id(corner), (corner, []))[1].append((owner, left + rest))
                    if isinstance(corner, Nonterminal) and id(corner) not in seen:
                        seen.add(id(corner))
                        waiting.append(corner)
        self.arena.keep(2 * sum(len(uses) for _, uses in found.values()))
        return found

    def _entered(self, symbol: Symbol) -> tuple[Terminal | Nonterminal, Production]:
        """Return the corner that a symbol begins with, and what of the symbol stands behind it."""
        if not isinstance(symbol, Repetition):
            return symbol, ()
        least = 0 if symbol.item.nullable else max(symbol.least - 1, 0)
        if symbol.most == 1:
            return symbol.item, ()
        rest = Repetition(symbol.item, least, None if symbol.most is None else symbol.most - 1)
        return symbol.item, (self._keep(rest),)

    def _keep(self, symbol: Repetition) -> Repetition:
        # Symbols are told apart by their ids, so that those made on the way must outlive the tables that name them.
        self._kept.append(symbol)
        return symbol


class Goal(Deferred):
    """Denote the texts of a nonterminal that are not empty."""

    __slots__ = ("_corners", "_nonterminal")

    def __init__(self, corners: LeftCorners, nonterminal: Nonterminal) -> None:
        super().__init__(corners.arena, nullable=False)
        self._corners = corners
        self._nonterminal = nonterminal

    @property
    def comes_apart(self) -> bool:
        # Ways to read a text meet again in its own term; taken apart they would be walked once each.
        return False

    def _expand(self) -> Term:
        return self._corners.goal(self._nonterminal)


class Completion(Deferred):
    """Denote what completes a nonterminal once one of its left corners was read."""

    __slots__ = ("_corners", "_goal", "_way_on")

    def __init__(self, corners: LeftCorners, goal: Nonterminal, way_on: _WayOn) -> None:
        super().__init__(corners.arena, nullable=way_on.is_whole)
        self._corners = corners
        self._goal = goal
        self._way_on = way_on

    @property
    def comes_apart(self) -> bool:
        # Ways to read a text meet again in its own term; taken apart they would be walked once each.
        return False

    def _expand(self) -> Term:
        corners, arena = self._corners, self.arena
        rounds: list[Term] = []
        others: list[Term] = [arena.epsilon] if self.nullable else []
        for owner, rest in self._way_on.uses:
            following = corners.completion(self._goal, owner)
            if following is self:
                rounds.append(corners.some_of_row(rest))
            else:
                others.append(arena.sequence(corners.some_of_row(rest), following))
        again = Repeat.make(arena.choice(rounds), 0, None)
        return arena.sequence(again, arena.choice(others))


__all__ = ["LeftCorners"]
