"""Hold regular sets of texts: a deterministic automaton, and bounds on the length that stay outside it.

A pattern such as ``^[a-z]{1,65535}$`` is the automaton of ``[a-z]*`` with a count from 1 to 65,535, so that no state
is spent on counting. Whether a state is still live under the bounds is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from commitgate.automaton.alphabet import NO_CLASS, Alphabet
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.dfa import ANY_DFA, MAX_DFA_STATES, MAX_DFA_WORK, Dfa, TooManyStates, explore
from commitgate.automaton.minimal import Row, numbered
from commitgate.automaton.strings import LAST_CODE_POINT, CharacterState, Length, Ranges


@dataclass(frozen=True, slots=True)
class DfaState(CharacterState):
    """Stand in a state of an automaton, with ``least`` to ``most`` characters still to come. Live."""

    dfa: Dfa
    at: int
    least: int
    most: int | None

    @property
    def nullable(self) -> bool:
        return self.least == 0 and self.at in self.dfa.accepting

    def ranges(self) -> Ranges:
        if self.most == 0:
            return ()
        least = max(self.least - 1, 0)
        most = None if self.most is None else self.most - 1
        following: dict[int, CharacterState | None] = {}
        found: list[tuple[int, int, CharacterState]] = []
        for first, last, target in self.dfa.ranges(self.at):
            if target not in following:
                following[target] = standing(self.dfa, target, least, most)
            state = following[target]
            if state is not None:
                found.append((first, last, state))
        return tuple(found)

    def saturated(self, reach: int) -> CharacterState:
        least, most = self.least, self.most
        lengths = self.dfa.lengths
        if most is not None:
            if least == 0:
                is_far = most - reach >= max(lengths.shortest())
            else:
                start, period = lengths.period()
                is_far = min(most - least, most - reach) >= start + period
                spare = (least - reach - start - 1) // period if not is_far else 0
                if spare > 0:
                    return DfaState(self.dfa, self.at, least - spare * period, most - spare * period)
            most = None if is_far else most
        if most is None and least > reach:
            finite = max((length for length in lengths.longest() if length is not None), default=0)
            least = min(least, reach + 1 + finite)
        return self if (least, most) == (self.least, self.most) else DfaState(self.dfa, self.at, least, most)

    @property
    def is_bounded(self) -> bool:
        return self.most is not None

    def uncounted(self) -> DfaState | None:
        if self.most == 0 or (self.most is None and self.least <= 1):
            return None
        least, most = max(self.least - 1, 0), None if self.most is None else self.most - 1
        targets = {target for _, target in self.dfa.rows[self.at]}
        if not all(is_live(self.dfa, target, least, most) for target in targets):
            return None
        return DfaState(self.dfa, self.at, min(self.least, 1), None)

    def after_one(self, target: CharacterState) -> CharacterState:
        return target.counted(max(self.least - 1, 0), None if self.most is None else self.most - 1)

    def counted(self, least: int, most: int | None) -> DfaState:
        return DfaState(self.dfa, self.at, least, most)

    def size(self, limit: int) -> int:
        return self.dfa.lengths.count(self.at, self.least, self.most, limit)

    def describe(self) -> str:
        ranges = self.dfa.ranges(self.at)
        if not ranges or self.most == 0:
            return "the closing quote"
        members = CharacterSet.of((first, last) for first, last, _ in ranges)
        bounds = [f"at least {self.least} more"] if self.least else []
        bounds += [f"at most {self.most} more"] if self.most is not None else []
        return characters_in_words(members) + (f" ({', '.join(bounds)})" if bounds else "")


def standing(dfa: Dfa, at: int, least: int, most: int | None) -> CharacterState | None:
    """Return the state of what remains at ``at`` under the bounds; None where no text is left."""
    if at == dfa.universal:
        return Length(least, most)
    return DfaState(*dfa.residual(at), least, most) if is_live(dfa, at, least, most) else None


def is_live(dfa: Dfa, at: int, least: int, most: int | None) -> bool:
    lengths = dfa.lengths
    if least > 0 and most is not None:
        return bool(lengths.within(least, most) >> at & 1)
    shortest, longest = lengths.shortest()[at], lengths.longest()[at]
    return (most is None or shortest <= most) and (longest is None or longest >= least)


@dataclass(frozen=True, slots=True)
class TextLanguage:
    """Hold the texts of ``dfa`` with ``least`` to ``most`` code points: at least one text.

    Attributes:
        most: None for no upper bound.
        label: what the language is in words, for people; no part of equality.
    """

    dfa: Dfa
    least: int = 0
    most: int | None = None
    label: str = field(default="", compare=False)

    def meet(self, other: TextLanguage) -> TextLanguage | None:
        """Return the texts of both; None where there is none.

        Raises:
            TooManyStates: the product is too large.
        """
        mosts = [most for most in (self.most, other.most) if most is not None]
        most = min(mosts, default=None)
        dfa = self.dfa.intersection(other.dfa)
        labels = dict.fromkeys(label for label in (self.label, other.label) if label)
        return bounded(dfa, max(self.least, other.least), most, " and ".join(labels))

    def complement(self) -> tuple[TextLanguage, ...]:
        """Return languages that together hold all other texts; no two of them share one.

        Raises:
            TooManyStates: the complement is too large.
        """
        label = f"none of {self.label}" if self.label else ""
        parts = [bounded(self.dfa.complement(), self.least, self.most, label)]
        if self.least > 0:
            parts.append(of_lengths(0, self.least - 1))
        if self.most is not None:
            parts.append(of_lengths(self.most + 1, None))
        return tuple(part for part in parts if part is not None)

    def without(self, other: TextLanguage) -> tuple[TextLanguage, ...]:
        """Return languages that together hold the texts that ``other`` lacks; no two of them share one.

        Raises:
            TooManyStates: an automaton is too large.
        """
        parts = [bounded(self.dfa.difference(other.dfa), self.least, self.most, self.label)]
        beside = [of_lengths(0, other.least - 1)] if other.least > 0 else []
        beside += [of_lengths(other.most + 1, None)] if other.most is not None else []
        if beside:
            # The texts that the other automaton lacks are already there, whatever their length.
            inside = bounded(self.dfa.intersection(other.dfa), self.least, self.most, self.label)
            parts += [inside.meet(part) for part in beside] if inside is not None else []
        return tuple(part for part in parts if part is not None)

    def contains(self, text: str) -> bool:
        """Return whether the text belongs to the language."""
        return self.least <= len(text) and (self.most is None or len(text) <= self.most) and self.dfa.accepts(text)

    def count(self, limit: int) -> int:
        """Return the number of texts, at most ``limit``.

        Raises:
            TooManyStates: counting takes too many steps.
        """
        return self.dfa.lengths.count(0, self.least, self.most, limit)

    def state(self) -> CharacterState:
        """Return the state of the whole language, for ``StringBody``."""
        state = standing(self.dfa, 0, self.least, self.most)
        assert state is not None
        return state

    def describe(self) -> str:
        """Say in words which texts these are."""
        bounds = [f"at least {self.least}"] if self.least else []
        bounds += [f"at most {self.most}"] if self.most is not None else []
        label = self.label or ("any text" if self.dfa == ANY_DFA else "texts of a pattern")
        return label + (f", {' and '.join(bounds)} characters long" if bounds else "")


def bounded(dfa: Dfa | None, least: int = 0, most: int | None = None, label: str = "") -> TextLanguage | None:
    """Return the language of the texts of ``dfa`` within the bounds; None where there is none.

    Bounds that change nothing are dropped, and those of a finite automaton are worked into it.

    Raises:
        TooManyStates: telling the lengths of the texts is too much work.
    """
    if dfa is None or (most is not None and least > most):
        return None
    shortest, longest = dfa.lengths.shortest()[0], dfa.lengths.longest()[0]
    least = 0 if least <= shortest else least
    most = None if most is not None and longest is not None and longest <= most else most
    if (longest is not None and longest < least) or (most is not None and most < shortest):
        return None
    if (least or most is not None) and longest is not None:
        return bounded(_cut(dfa, least, longest if most is None else most), label=label)
    if least and most is not None:
        # States that are reached later ask for this; what is too much work must be refused now.
        dfa.lengths.period()
    language = TextLanguage(dfa, least, most, label)
    return language if standing(dfa, 0, least, most) is not None else None


def _cut(dfa: Dfa, least: int, most: int) -> Dfa | None:
    """Return the automaton of the texts of a finite one that are within the bounds."""

    def successors(state: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
        at, read = state
        if read < most:
            for letter, target in dfa.rows[at]:
                yield letter, (target, read + 1)

    return explore(
        dfa.alphabet, (0, 0), successors, lambda state: state[0] in dfa.accepting and least <= state[1] <= most
    )


def of_lengths(least: int, most: int | None) -> TextLanguage:
    """Return the language of all texts of ``least`` to ``most`` code points."""
    return TextLanguage(ANY_DFA, least, most)


def over_characters(members: CharacterSet) -> TextLanguage | None:
    """Return the language of all texts of these characters; None where there is none, not even the empty one."""
    alphabet, (mask,) = Alphabet.telling_apart([members])
    row = tuple((number, 0) for number in range(alphabet.count) if mask >> number & 1)
    return bounded(explore(alphabet, 0, lambda _: row, lambda _: True))


def of_texts(texts: Iterable[str], label: str = "") -> TextLanguage | None:
    """Return the language of these texts; None where there is none. One with a lone surrogate is no text.

    Raises:
        TooManyStates: there are too many texts.
    """
    legal = sorted({text for text in texts if not any("\ud800" <= character <= "\udfff" for character in text)})
    if not legal:
        return None
    alphabet = _alphabet_of({ord(character) for text in legal for character in text})
    letters = {point: alphabet.number_of(point) for point in {ord(character) for text in legal for character in text}}
    graph = _WordGraph()
    for text in legal:
        graph.add(tuple(letters[ord(character)] for character in text))
    return bounded(Dfa(*numbered(alphabet, *graph.finished())), label=label)


class _WordGraph:
    """Build the automaton of sorted words so that equal ends are shared at once and not only when all is built.

    Source: Daciuk and others, "Incremental construction of minimal acyclic finite-state automata", 2000.
    """

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._accepting: set[int] = set()
        self._known: dict[tuple[bool, Row], int] = {}
        self._path: list[list[tuple[int, int]]] = [[]]
        self._ends = [False]
        self._word: tuple[int, ...] = ()
        self._work = 0

    def add(self, word: tuple[int, ...]) -> None:
        """Add a word that is larger than all before."""
        shared = 0
        while shared < min(len(word), len(self._word)) and word[shared] == self._word[shared]:
            shared += 1
        self._close(shared)
        self._work += len(word)
        if self._work > MAX_DFA_WORK:
            raise TooManyStates(f"texts of more than {MAX_DFA_WORK} characters", MAX_DFA_WORK)
        self._word = word
        for _ in word[shared:]:
            self._path.append([])
            self._ends.append(False)
        self._ends[-1] = True

    def _close(self, depth: int) -> None:
        while len(self._path) > depth + 1:
            state = self._settle(tuple(self._path.pop()), self._ends.pop())
            self._path[-1].append((self._word[len(self._path) - 1], state))

    def _settle(self, row: Row, is_accepting: bool) -> int:
        state = self._known.setdefault((is_accepting, row), len(self._rows))
        if state == len(self._rows):
            if state >= MAX_DFA_STATES:
                raise TooManyStates(f"an automaton of more than {MAX_DFA_STATES} states", MAX_DFA_STATES)
            self._rows.append(row)
            if is_accepting:
                self._accepting.add(state)
        return state

    def finished(self) -> tuple[list[Row], set[int]]:
        """Return the rows, the start first, and the states that accept."""
        self._close(0)
        rows = [tuple((letter, target + 1) for letter, target in row) for row in (tuple(self._path[0]), *self._rows)]
        accepting = {state + 1 for state in self._accepting}
        return rows, accepting | ({0} if self._ends[0] else set())


def _alphabet_of(points: set[int]) -> Alphabet:
    """Return the alphabet in which each of these code points is a class of its own, and others have none."""
    pieces = [(0, NO_CLASS)] if 0 not in points else []
    for number, point in enumerate(sorted(points)):
        pieces.append((point, number))
        if point + 1 not in points and point < LAST_CODE_POINT:
            pieces.append((point + 1, NO_CLASS))
    return Alphabet.of(pieces, len(points))


def labelled(language: TextLanguage, label: str) -> TextLanguage:
    """Return the same language with other words for people."""
    return replace(language, label=label)


def characters_in_words(members: CharacterSet) -> str:
    """Say in words which characters a set holds."""
    if len(members) > _FEW_CHARACTERS:
        others = members.complement()
        if others.is_empty:
            return "string characters"
        if len(others) <= _FEW_CHARACTERS:
            return f"string characters but {_listed(others)}"
    return f"a character of {_listed(members)}"


def _listed(members: CharacterSet) -> str:
    shown = [_named(first) if first == last else f"{_named(first)}-{_named(last)}" for first, last in members.ranges]
    return " ".join(shown[:8]) + (f" and {len(shown) - 8} more ranges" if len(shown) > 8 else "")


def _named(point: int) -> str:
    character = chr(point)
    return character if character.isprintable() and character != " " else f"U+{point:04X}"


_FEW_CHARACTERS = 10_000
ANY_TEXT = TextLanguage(ANY_DFA)
"""The language of all texts."""

__all__ = [
    "ANY_TEXT",
    "DfaState",
    "TextLanguage",
    "TooManyStates",
    "bounded",
    "characters_in_words",
    "is_live",
    "labelled",
    "of_lengths",
    "of_texts",
    "over_characters",
    "standing",
]
