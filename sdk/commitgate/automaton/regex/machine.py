"""Run a pattern's program on all texts at once, and so build its automaton.

A state is a Boolean formula over *atoms*, each a run of characters that must still match: alternatives are a
disjunction, a look-ahead is a conjunction with what it wants, a negative one with its negation. Look-behinds are
matched alongside from the start of the text; each keeps the runs that it stands in, and for each a formula of what
its own look-aheads still want. Whether a look-behind holds at a place is then known when the place is reached.

Source: Chandra, Kozen and Stockmeyer, "Alternation", 1981 (alternating automata); Brzozowski, "Derivatives of Regular
Expressions", 1964 (Boolean operations on what remains).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

from commitgate.automaton.alphabet import Alphabet
from commitgate.automaton.characters import ANY_CHARACTER
from commitgate.automaton.dfa import Dfa, TooManyStates, explore
from commitgate.automaton.regex.classes import WORD
from commitgate.automaton.regex.formulas import FALSE, TRUE, Formula, both, either, literal, negated
from commitgate.automaton.regex.program import (
    ACCEPT,
    Accept,
    Ahead,
    AtBoundary,
    AtEnd,
    AtStart,
    Behind,
    Program,
    Run,
    Split,
)

MAX_STEPS = 3_000_000
"""Most steps of one construction: a step looks at one literal or one instruction."""

Atom: TypeAlias = "tuple[int, int, int | None]"
"""A run that must still match: its instruction, and how many characters it still takes at least and at most."""
Context: TypeAlias = "tuple[bool, bool, tuple[Formula, ...]]"
"""What is known of a place: it starts the text, it stands behind a word character, and what each look-behind wants."""
Track: TypeAlias = "frozenset[tuple[int, Formula]]"
"""The runs that a look-behind stands in, each with what its look-aheads still want."""
State: TypeAlias = "tuple[Formula, tuple[Track, ...]]"

END = 1
"""The atom that holds at the end of the text alone."""
WORD_FOLLOWS = 2
"""The atom that holds where a word character follows."""
_MATCHED = 0


class Machine:
    """Build the automaton of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._alphabet, masks = Alphabet.telling_apart([ANY_CHARACTER, WORD, *program.sets])
        self._word, self._masks = masks[1], masks[2:]
        self._is_uniform = not program.behinds and not program.has_boundaries
        self._atoms: list[Atom] = [(ACCEPT, 0, 0)] * 3
        self._numbers: dict[Atom, int] = {}
        self._reached: dict[tuple[int, Context], dict[int, Formula]] = {}
        self._derived: dict[tuple[int, int, Context], Formula] = {}
        self._steps = 0

    def automaton(self) -> Dfa | None:
        """Return the automaton; None where no text matches.

        Raises:
            TooManyStates: it takes too many states or steps.
        """
        return explore(self._alphabet, self._start(), self._successors, self._is_accepting)

    def _start(self) -> State:
        wanted: list[Formula] = []
        tracks: list[Track] = []
        for body in self._program.behinds:
            reached = self._reach(body, (True, False, tuple(wanted)))
            wanted.append(reached.get(_MATCHED, FALSE))
            tracks.append(_track(reached))
        return self._formula(self._program.start, (True, False, tuple(wanted))), tuple(tracks)

    def _successors(self, state: State) -> Iterator[tuple[int, State]]:
        for letters in self._groups(state):
            first = (letters & -letters).bit_length() - 1
            following = self._step(state, first)
            if following[0]:
                while letters:
                    letter = letters & -letters
                    letters ^= letter
                    yield letter.bit_length() - 1, following

    def _groups(self, state: State) -> Iterable[int]:
        """Return masks of letters that lead to one state each; they need not be as large as they could."""
        if not self._is_uniform:
            return [1 << letter for letter in range(self._alphabet.count)]
        numbers = {abs(number) for clause in state[0] for number in clause if abs(number) > WORD_FOLLOWS}
        groups = [(1 << self._alphabet.count) - 1]
        for mask in {self._mask(number) for number in numbers}:
            groups = [part for group in groups for part in (group & mask, group & ~mask) if part]
        return groups

    def _mask(self, number: int) -> int:
        run = self._program.instructions[self._atoms[number][0]]
        assert isinstance(run, Run)
        return self._masks[run.members]

    def _step(self, state: State, letter: int) -> State:
        is_word = self._program.has_boundaries and bool(self._word >> letter & 1)
        wanted: list[Formula] = []
        tracks: list[Track] = []
        for body, track in zip(self._program.behinds, state[1], strict=True):
            context = (False, is_word, tuple(wanted))
            reached = dict(self._reach(body, context))
            for number, guard in track:
                left = self._derive_formula(guard, letter, context)
                for target, condition in self._follow(number, letter, context).items():
                    reached[target] = either(reached.get(target, FALSE), both(left, condition))
            wanted.append(reached.get(_MATCHED, FALSE))
            tracks.append(_track(reached))
        return self._derive_formula(state[0], letter, (False, is_word, tuple(wanted))), tuple(tracks)

    def _derive_formula(self, formula: Formula, letter: int, context: Context) -> Formula:
        parts: list[Formula] = []
        for clause in formula:
            self._spend(len(clause))
            part = TRUE
            for number in clause:
                derived = self._derive(abs(number), letter, context)
                part = both(part, negated(derived) if number < 0 else derived)
                if not part:
                    break
            parts.append(part)
        return self._merged(parts)

    def _derive(self, number: int, letter: int, context: Context) -> Formula:
        if number == END:
            return FALSE
        if number == WORD_FOLLOWS:
            return TRUE if self._word >> letter & 1 else FALSE
        key = (number, letter, context)
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = self._joined(self._follow(number, letter, context))
        return found

    def _follow(self, number: int, letter: int, context: Context) -> dict[int, Formula]:
        """Return the atoms that follow one after a letter, each with its condition."""
        at, least, most = self._atoms[number]
        run = self._program.instructions[at]
        assert isinstance(run, Run)
        if not self._masks[run.members] >> letter & 1:
            return {}
        found = dict(self._reach(run.following, context)) if least == 1 else {}
        if most != 1:
            rest = self._number((at, max(least - 1, 1), None if most is None else most - 1))
            found[rest] = TRUE
        return found

    def _formula(self, at: int, context: Context) -> Formula:
        return self._joined(self._reach(at, context))

    def _joined(self, reached: dict[int, Formula]) -> Formula:
        return self._merged(
            [guard if number == _MATCHED else both(guard, literal(number)) for number, guard in reached.items()]
        )

    def _reach(self, start: int, context: Context) -> dict[int, Formula]:
        """Return the atoms that can be reached without a character, and under which conditions."""
        key = (start, context)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self._explore(start, context)
        return found

    def _explore(self, start: int, context: Context) -> dict[int, Formula]:
        found: dict[int, Formula] = {}
        seen: set[tuple[int, Formula]] = set()
        pending: list[tuple[int, Formula]] = [(start, TRUE)]
        while pending:
            entry = pending.pop()
            at, guard = entry
            if not guard or entry in seen:
                continue
            seen.add(entry)
            self._spend(1)
            match self._program.instructions[at]:
                case Split(targets):
                    pending.extend((target, guard) for target in targets)
                case Run(_, least, most):
                    number = self._number((at, least, most))
                    found[number] = either(found.get(number, FALSE), guard)
                case Accept():
                    found[_MATCHED] = either(found.get(_MATCHED, FALSE), guard)
                case AtStart(following):
                    pending.extend([(following, guard)] if context[0] else [])
                case AtEnd(following):
                    pending.append((following, both(guard, literal(END))))
                case AtBoundary(is_negated, following):
                    sign = 1 if context[1] == is_negated else -1
                    pending.append((following, both(guard, literal(sign * WORD_FOLLOWS))))
                case Ahead(body, is_negated, following):
                    condition = self._formula(body, context)
                    pending.append((following, both(guard, negated(condition) if is_negated else condition)))
                case Behind(number, is_negated, following):
                    condition = context[2][number]
                    pending.append((following, both(guard, negated(condition) if is_negated else condition)))
                case other:
                    assert_never(other)
        return found

    def _number(self, atom: Atom) -> int:
        number = self._numbers.get(atom)
        if number is None:
            number = self._numbers[atom] = len(self._atoms)
            self._atoms.append(atom)
        return number

    def _merged(self, parts: list[Formula]) -> Formula:
        """Return the disjunction, without runs whose texts another count of the same run takes as well."""
        formula = either(*parts)
        if len(formula) < 2:
            return formula
        counted: dict[int, list[int]] = {}
        for clause in formula:
            number = next(iter(clause))
            if len(clause) == 1 and number > WORD_FOLLOWS:
                counted.setdefault(self._atoms[number][0], []).append(number)
        weaker = {
            number
            for numbers in counted.values()
            if len(numbers) > 1
            for number in numbers
            if any(other != number and self._holds_more(other, number) for other in numbers)
        }
        if not weaker:
            return formula
        return frozenset(clause for clause in formula if not (len(clause) == 1 and next(iter(clause)) in weaker))

    def _holds_more(self, first: int, second: int) -> bool:
        """Return whether ``first`` takes all texts that ``second`` does."""
        _, least, most = self._atoms[first]
        _, other_least, other_most = self._atoms[second]
        return least <= other_least and (most is None or (other_most is not None and other_most <= most))

    def _is_accepting(self, state: State) -> bool:
        return any(all((abs(number) == END) == (number > 0) for number in clause) for clause in state[0])

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise TooManyStates(f"building a pattern takes more than {MAX_STEPS} steps", MAX_STEPS)


def _track(reached: dict[int, Formula]) -> Track:
    return frozenset((number, guard) for number, guard in reached.items() if number != _MATCHED and guard)


__all__ = ["Machine"]
