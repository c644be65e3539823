"""Make one deterministic automaton over characters of rules that are regular, as patterns and most machines are.

A rule whose name stands at the end of another one's row leads on to the states of that rule, however recursive it is. A
recursive rule before anything else needs ever more states, and so passes the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from commitgate.automaton.alphabet import Alphabet
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.dfa import Dfa, TooManyStates, explore
from commitgate.automaton.grammar.expression import (
    Characters,
    Either,
    Embedded,
    Expression,
    Named,
    Regular,
    Row,
    Rules,
    Times,
    Word,
    Words,
)
from commitgate.automaton.grammar.flattening import flattened
from commitgate.automaton.text_language import TextLanguage, of_texts

_OVERLAPS_IN_A_STEP = 8
_END = 0


class NotRegularError(Exception):
    """Raised when the rules hold what is no automaton over characters: the JSON of a contract."""


def regular_automaton(rules: Rules, *, most_steps: int) -> Dfa | None:
    """Return the automaton of the texts of the rules, in canonical form; None where there is no text.

    Args:
        rules: of a pattern, choices, a machine, or a grammar that is recursive at most at the end of its rows.
        most_steps: what it may take, counts unrolled; each is about a microsecond.

    Raises:
        TooManyStates: it takes more steps or states.
        NotRegularError: a contract of JSON is embedded.
    """
    ways = _Ways(rules, _Steps(most_steps))
    return ways.determined()


class _Steps:
    """Count the work of one automaton.

    Args:
        most: how much it may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most

    def spend(self, steps: int) -> None:
        """Count steps that are about to be taken.

        Raises:
            TooManyStates: they are too many.
        """
        self._left -= steps
        if self._left < 0:
            raise TooManyStates(f"an automaton that takes more than {self._most} steps to make", self._most)


class _Ways:
    """Hold the ways through the rules: from state to state by a character of a set, or by nothing.

    Each expression is laid out from its end to its beginning: ``_to`` returns where to begin so as to end at a state.
    """

    def __init__(self, rules: Rules, steps: _Steps) -> None:
        self._steps = steps
        self._rules = flattened(rules.rules)
        self._letters: dict[CharacterSet, int] = {}
        self._by_letter: list[list[tuple[int, int]]] = []
        self._by_nothing: list[list[int]] = []
        self._entries: dict[tuple[str, int], int] = {}
        self._unread: list[tuple[str, int]] = []
        self._new()
        self._start = self._to(Named(rules.start), _END)
        for name, end in self._unread:
            self._by_nothing[self._entries[name, end]].append(self._to(self._rules[name], end))

    def _new(self) -> int:
        self._steps.spend(1)
        self._by_letter.append([])
        self._by_nothing.append([])
        return len(self._by_letter) - 1

    def _to(self, expression: Expression, end: int) -> int:
        self._steps.spend(1)
        match expression:
            case Word(text):
                for character in reversed(text):
                    end = self._by(CharacterSet.of_text(character), end)
                return end
            case Words(texts):
                language = of_texts(texts)
                return self._new() if language is None else self._language(language, end)
            case Characters(members):
                return self._by(members, end)
            case Row(parts):
                for part in reversed(parts):
                    end = self._to(part, end)
                return end
            case Either(options):
                return self._any([self._to(option, end) for option in options])
            case Times(item, least, most):
                return self._times(item, least, most, end)
            case Named(name):
                return self._named(name, end)
            case Regular(language):
                return self._language(language, end)
            case Embedded():
                raise NotRegularError
            case _:
                assert_never(expression)

    def _by(self, members: CharacterSet, end: int) -> int:
        start = self._new()
        if not members.is_empty:
            self._by_letter[start].append((self._letters.setdefault(members, len(self._letters)), end))
        return start

    def _any(self, targets: Sequence[int]) -> int:
        start = self._new()
        self._by_nothing[start].extend(targets)
        return start

    def _times(self, item: Expression, least: int, most: int | None, end: int) -> int:
        if most is None:
            again = self._any([end])
            self._by_nothing[again].append(self._to(item, again))
            first = again
        else:
            first = end
            for _ in range(most - least):
                first = self._any([end, self._to(item, first)])
        for _ in range(least):
            first = self._to(item, first)
        return first

    def _named(self, name: str, end: int) -> int:
        found = self._entries.get((name, end))
        if found is None:
            found = self._entries[name, end] = self._new()
            self._unread.append((name, end))
        return found

    def _language(self, language: TextLanguage, end: int) -> int:
        """Lay out a finished automaton, once for each number of characters that its bounds tell apart."""
        dfa, least, most = language.dfa, language.least, language.most
        states = {(0, 0): self._new()}
        for at, length in (waiting := [(0, 0)]):
            state = states[at, length]
            if at in dfa.accepting and length >= least:
                self._by_nothing[state].append(end)
            if length == most:
                continue
            further = length + 1 if most is not None else min(length + 1, least)
            for target, members in _sets(dfa, at):
                self._steps.spend(1)
                if (target, further) not in states:
                    states[target, further] = self._new()
                    waiting.append((target, further))
                letter = self._letters.setdefault(members, len(self._letters))
                self._by_letter[state].append((letter, states[target, further]))
        return states[0, 0]

    def determined(self) -> Dfa | None:
        """Return the automaton in which no character leads two ways."""
        sets = list(self._letters)
        self._steps.spend(len(sets) * sum(len(members.ranges) for members in sets) // _OVERLAPS_IN_A_STEP)
        alphabet, masks = Alphabet.telling_apart(sets)
        classes = [[number for number in range(alphabet.count) if mask >> number & 1] for mask in masks]
        reached = self._reached([self._start])

        def successors(state: frozenset[int]) -> Iterable[tuple[int, frozenset[int]]]:
            targets: dict[int, set[int]] = {}
            for member in state:
                for letter, target in self._by_letter[member]:
                    self._steps.spend(1 + len(classes[letter]))
                    for number in classes[letter]:
                        targets.setdefault(number, set()).add(target)
            known: dict[frozenset[int], frozenset[int]] = {}
            for number, found in targets.items():
                same = frozenset(found)
                if same not in known:
                    known[same] = self._reached(same)
                yield number, known[same]

        return explore(alphabet, reached, successors, lambda state: _END in state)

    def _reached(self, states: Iterable[int]) -> frozenset[int]:
        """Return the states that are reached by nothing and where it matters to be: by a letter on, or at the end."""
        waiting = list(states)
        seen = set(waiting)
        for state in waiting:
            self._steps.spend(1)
            for target in self._by_nothing[state]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return frozenset(state for state in seen if state == _END or self._by_letter[state])


def _sets(dfa: Dfa, at: int) -> list[tuple[int, CharacterSet]]:
    """Return where a state leads, and by which characters."""
    found: dict[int, list[tuple[int, int]]] = {}
    for first, last, target in dfa.ranges(at):
        found.setdefault(target, []).append((first, last))
    return [(target, CharacterSet.of(ranges)) for target, ranges in found.items()]


__all__ = ["NotRegularError", "regular_automaton"]
