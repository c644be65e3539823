"""Run a pattern's program on all texts at once, and so build its automaton.

A state is a Boolean formula over *atoms*, each a run of characters that must still match: alternatives are a
disjunction, a look-ahead is a conjunction with what it wants, a negative one with its negation. A look-ahead that
knows nothing of what came before has an automaton of its own, and its states are atoms. Look-behinds are
matched alongside from the start of the text; each keeps the runs that it stands in, and for each a formula of what
its own look-aheads still want. Whether a look-behind holds at a place is then known when the place is reached.

Source: Chandra, Kozen and Stockmeyer, "Alternation", 1981 (alternating automata); Brzozowski, "Derivatives of Regular
Expressions", 1964 (Boolean operations on what remains).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

from commitgate.automaton.alphabet import NO_CLASS, Alphabet
from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.dfa import DEAD, Dfa, TooManyStates, explore
from commitgate.automaton.regex.classes import WORD
from commitgate.automaton.regex.formulas import FALSE, TRUE, Clause, Formula, both, either, literal, negated
from commitgate.automaton.regex.parser import MAX_COUNT
from commitgate.automaton.regex.program import (
    ACCEPT,
    Accept,
    Ahead,
    AtBoundary,
    AtEnd,
    AtStart,
    Behind,
    Enclosed,
    Program,
    Run,
    Split,
)
from commitgate.automaton.regex.syntax import TextStart, concatenated

MAX_STEPS = 200_000
"""Most steps of one construction: a step looks at one literal or one instruction, and takes about 2 microseconds."""

_SET_UP_STEPS = 500
"""What it takes to set up one machine, in steps."""

_STEPS_OF_A_STATE = 20
"""What it takes to hold one state and to tell it from the others, in steps."""

Atom: TypeAlias = "tuple[int, int, int | None]"
"""A run that must still match: its instruction, and how many characters it still takes at least and at most.

Or, with a negative first number, a look-ahead's own automaton and the state there.
"""
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
    """Build the automaton of one program.

    Attributes:
        letters: how many characters ``accepts`` went on by.
    """

    def __init__(self, program: Program, steps: Steps | None = None) -> None:
        self._program = program
        self.letters = 0
        self._steps = Steps() if steps is None else steps
        self._spend = self._steps.spend
        self._spend(_SET_UP_STEPS)
        self._enclosed = [
            Machine(Program(concatenated((TextStart(), node))), self._steps).automaton() for node in program.enclosed
        ]
        sets = [_class_sets(dfa) for dfa in self._enclosed]
        self._alphabet, masks = Alphabet.telling_apart(
            [ANY_CHARACTER, WORD, *program.sets, *(members for group in sets for members in group)]
        )
        self._word, self._masks = masks[1], masks[2 : 2 + len(program.sets)]
        ends = iter(masks[2 + len(program.sets) :])
        self._class_masks = [[next(ends) for _ in group] for group in sets]
        self._is_uniform = not program.behinds and not program.has_boundaries
        self._atoms: list[Atom] = [(ACCEPT, 0, 0)] * 3
        self._clauses: list[Clause] = [frozenset()] * 3
        self._runs: list[tuple[int, int]] = [(0, ACCEPT)] * 3  # for each atom the letters it takes, and what follows
        self._numbers: dict[Atom, int] = {}
        self._counted = {
            at
            for at, run in enumerate(program.instructions)
            if isinstance(run, Run) and (run.least > 1 or run.most not in (1, None))
        }
        self._reached: dict[tuple[frozenset[int], Context], dict[int, Formula]] = {}
        self._derived_clauses: dict[tuple[Clause, int, Context], Formula] = {}
        self._derived: dict[tuple[int, int, Context], Formula] = {}

    def automaton(self) -> Dfa | None:
        """Return the automaton; None where no text matches.

        Raises:
            TooManyStates: it takes too many states or steps.
        """
        return explore(self._alphabet, self._start(), self._successors, self._is_accepting)

    def accepts(self, text: str) -> bool:
        """Return whether the automaton, of which only what the text needs is worked out, accepts a text.

        Raises:
            TooManyStates: it takes too many steps.
        """
        state = self._start()
        for character in text:
            self.letters += 1
            state = self._step(state, self._alphabet.number_of(ord(character)))
            if not state[0]:
                return False
        return self._is_accepting(state)

    @property
    def steps(self) -> int:
        """Return the steps taken so far."""
        return self._steps.count

    def _start(self) -> State:
        wanted: list[Formula] = []
        tracks: list[Track] = []
        for body in self._program.behinds:
            reached = self._reach(frozenset({body}), (True, False, tuple(wanted)))
            wanted.append(reached.get(_MATCHED, FALSE))
            tracks.append(_track(reached))
        start = self._reach(frozenset({self._program.start}), (True, False, tuple(wanted)))
        return self._joined(start), tuple(tracks)

    def _successors(self, state: State) -> Iterator[tuple[int, State]]:
        self._spend(_STEPS_OF_A_STATE)
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
        for mask in {mask for number in numbers for mask in self._masks_of(number)}:
            self._spend(len(groups))
            groups = [part for group in groups for part in (group & mask, group & ~mask) if part]
        return groups

    def _masks_of(self, number: int) -> list[int]:
        at = self._atoms[number][0]
        if at < 0:
            return self._class_masks[-1 - at]
        run = self._program.instructions[at]
        assert isinstance(run, Run)
        return [self._masks[run.members]]

    def _step(self, state: State, letter: int) -> State:
        is_word = self._program.has_boundaries and bool(self._word >> letter & 1)
        if not state[1]:
            return self._derive_formula(state[0], letter, (False, is_word, ())), ()
        # A context holds what every look-behind wants, and each of them looks its own context up.
        self._spend(len(state[1]) ** 2)
        wanted: list[Formula] = []
        tracks: list[Track] = []
        for body, track in zip(self._program.behinds, state[1], strict=True):
            context = (False, is_word, tuple(wanted))
            reached = dict(self._reach(frozenset({body}), context))
            for number, guard in track:
                left = self._derive_formula(guard, letter, context)
                for target, condition in self._follow([number], letter, context).items():
                    reached[target] = either(reached.get(target, FALSE), both(left, condition))
            wanted.append(reached.get(_MATCHED, FALSE))
            tracks.append(_track(reached))
        return self._derive_formula(state[0], letter, (False, is_word, tuple(wanted))), tuple(tracks)

    def _derive_formula(self, formula: Formula, letter: int, context: Context) -> Formula:
        plain: list[int] = []
        parts: list[Formula] = []
        for clause in formula:
            number = next(iter(clause), 0)
            if len(clause) == 1 and self._is_run(number):
                plain.append(number)
            else:
                parts.append(self._derive_clause(clause, letter, context))
        if plain:
            joined = self._joined(self._follow(plain, letter, context))
            if not parts and all(len(clause) == 1 for clause in joined):
                return joined  # merged as it is
            parts.append(joined)
        return self._merged(parts)

    def _derive_clause(self, clause: Clause, letter: int, context: Context) -> Formula:
        key = (clause, letter, context)
        known = self._derived_clauses.get(key)
        if known is not None:
            self._spend(1)
            return known
        found = TRUE
        for number in clause:
            derived = self._derive(abs(number), letter, context)
            derived = negated(derived) if number < 0 else derived
            self._spend(1 + len(found) * len(derived))
            found = both(found, derived)
            if not found:
                break
        self._derived_clauses[key] = found
        return found

    def _derive(self, number: int, letter: int, context: Context) -> Formula:
        if number == END:
            return FALSE
        if number == WORD_FOLLOWS:
            return TRUE if self._word >> letter & 1 else FALSE
        at, state, _ = self._atoms[number]
        if at < 0:
            return self._derive_enclosed(-1 - at, state, letter)
        key = (number, letter, context)
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = self._joined(self._follow([number], letter, context))
        return found

    def _derive_enclosed(self, number: int, state: int, letter: int) -> Formula:
        dfa = self._enclosed[number]
        assert dfa is not None
        masks = self._class_masks[number]
        target = next((target for name, target in dfa.rows[state] if masks[name] >> letter & 1), DEAD)
        return self._standing(number, target)

    def _standing(self, number: int, state: int) -> Formula:
        """Return the formula of one state of a look-ahead's own automaton."""
        dfa = self._enclosed[number]
        if dfa is None or state == DEAD:
            return FALSE
        return TRUE if state == dfa.universal else literal(self._number((-1 - number, state, None)))

    def _is_run(self, number: int) -> bool:
        return number > WORD_FOLLOWS and self._atoms[number][0] > 0

    def _follow(self, numbers: list[int], letter: int, context: Context) -> dict[int, Formula]:
        """Return the atoms that follow any of these after a letter, each with its condition."""
        starts: set[int] = set()
        rest: list[Atom] = []
        self._spend(len(numbers))
        for number in numbers:
            mask, following = self._runs[number]
            if mask >> letter & 1:
                at, least, most = self._atoms[number]
                if least == 1:
                    starts.add(following)
                if most != 1:
                    rest.append((at, max(least - 1, 1), None if most is None else most - 1))
        found = dict(self._reach(frozenset(starts), context))
        for atom in rest:
            found[self._number(atom)] = TRUE
        return found

    def _joined(self, reached: dict[int, Formula]) -> Formula:
        if reached.get(_MATCHED) == TRUE:
            return TRUE
        plain = frozenset(self._clauses[number] for number, guard in reached.items() if number and guard == TRUE)
        parts = [
            both(guard, literal(number)) if number else guard
            for number, guard in reached.items()
            if not number or guard != TRUE
        ]
        return self._merged([plain, *parts]) if parts else self._without_weaker(plain)

    def _reach(self, starts: frozenset[int], context: Context) -> dict[int, Formula]:
        """Return the atoms that can be reached without a character, and under which conditions."""
        key = (starts, context)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self._explore(starts, context)
        return found

    def _explore(self, starts: frozenset[int], context: Context) -> dict[int, Formula]:
        found: dict[int, Formula] = {}
        seen: set[tuple[int, Formula]] = set()
        pending: list[tuple[int, Formula]] = [(start, TRUE) for start in starts]
        while pending:
            entry = pending.pop()
            at, guard = entry
            if not guard or entry in seen:
                continue
            seen.add(entry)
            self._spend(1)
            instruction = self._program.instructions[at]
            match instruction:
                case Run(_, least, most):
                    number = self._number((at, least, most))
                    found[number] = either(found[number], guard) if number in found else guard
                case Split(targets):
                    pending.extend((target, guard) for target in targets)
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
                    condition = self._joined(self._reach(frozenset({body}), context))
                    pending.append((following, both(guard, negated(condition) if is_negated else condition)))
                case Enclosed(number, is_negated, following):
                    condition = self._standing(number, 0)
                    pending.append((following, both(guard, negated(condition) if is_negated else condition)))
                case Behind(number, is_negated, following):
                    condition = context[2][number]
                    pending.append((following, both(guard, negated(condition) if is_negated else condition)))
                case _:
                    assert_never(instruction)
        return found

    def _number(self, atom: Atom) -> int:
        number = self._numbers.get(atom)
        if number is None:
            number = self._numbers[atom] = len(self._atoms)
            self._atoms.append(atom)
            self._clauses.append(frozenset({number}))
            run = self._program.instructions[atom[0]] if atom[0] >= 0 else None
            self._runs.append((self._masks[run.members], run.following) if isinstance(run, Run) else (0, ACCEPT))
        return number

    def _merged(self, parts: list[Formula]) -> Formula:
        """Return the disjunction, without runs whose texts another count of the same run takes as well."""
        cases = sum([len(part) for part in parts if any(len(clause) > 1 for clause in part)])
        if cases:
            self._spend(cases * cases // 64)
        return self._without_weaker(either(*parts))

    def _without_weaker(self, formula: Formula) -> Formula:
        if not self._counted or len(formula) < 2:
            return formula
        counted: dict[int, list[int]] = {}
        for clause in formula:
            number = next(iter(clause), 0)
            if len(clause) == 1 and number > WORD_FOLLOWS and self._atoms[number][0] in self._counted:
                counted.setdefault(self._atoms[number][0], []).append(number)
        weaker: set[int] = set()
        for numbers in (numbers for numbers in counted.values() if len(numbers) > 1):
            weaker.update(self._weaker(numbers))
        if not weaker:
            return formula
        return frozenset(clause for clause in formula if not (len(clause) == 1 and next(iter(clause)) in weaker))

    def _weaker(self, numbers: list[int]) -> Iterator[int]:
        """Yield those of one run's atoms that another one takes all texts of: no fewer at least, no more at most."""
        largest = 0
        for _, most, number in sorted(self._bounds(number) for number in numbers):
            if -most <= largest:
                yield number
            largest = max(largest, -most)

    def _bounds(self, number: int) -> tuple[int, int, int]:
        _, least, most = self._atoms[number]
        return least, -MAX_COUNT if most is None else -most, number

    def _is_accepting(self, state: State) -> bool:
        return any(all(self._holds_at_end(abs(number)) == (number > 0) for number in clause) for clause in state[0])

    def _holds_at_end(self, number: int) -> bool:
        at, state, _ = self._atoms[number]
        dfa = self._enclosed[-1 - at] if at < 0 else None
        return number == END or (dfa is not None and state in dfa.accepting)


class Steps:
    """Count the steps of a construction, those of its look-aheads too.

    Args:
        limit: most steps.
    """

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.count = 0
        self.limit = limit

    def spend(self, steps: int) -> None:
        """Take so many steps.

        Raises:
            TooManyStates: they are more than the limit in all.
        """
        self.count += steps
        if self.count > self.limit:
            raise TooManyStates(f"building a pattern takes more than {self.limit} steps", self.limit)


def _class_sets(dfa: Dfa | None) -> list[CharacterSet]:
    """Return the characters of each class of an automaton."""
    ranges: list[list[tuple[int, int]]] = [[] for _ in range(0 if dfa is None else dfa.alphabet.count)]
    for first, last, number in () if dfa is None else dfa.alphabet.pieces():
        if number != NO_CLASS:
            ranges[number].append((first, last))
    return [CharacterSet.of(members) for members in ranges]


def _track(reached: dict[int, Formula]) -> Track:
    return frozenset((number, guard) for number, guard in reached.items() if number != _MATCHED and guard)


__all__ = ["MAX_STEPS", "Machine", "Steps"]
