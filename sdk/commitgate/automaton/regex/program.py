"""Compile parsed regular expressions to graphs of instructions.

A counted repeat of one class of characters is one instruction; repeats of anything longer are unrolled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex.syntax import (
    Alternation,
    Characters,
    Concatenation,
    Look,
    Node,
    Repeat,
    TextEnd,
    TextStart,
    WordBoundary,
    is_anchored,
    looks_behind,
)

MAX_INSTRUCTIONS = 20_000
"""Most instructions of one pattern, unrolled."""


@dataclass(frozen=True, slots=True)
class Run:
    """Take ``least`` to ``most`` characters of a set, at least one; ``most`` None has no bound."""

    members: int
    least: int
    most: int | None
    following: int


@dataclass(slots=True)
class Split:
    """Go on at any of the targets."""

    targets: list[int]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Go on where the instructions from ``body`` match here, or do not."""

    body: int
    is_negated: bool
    following: int


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Go on where the pattern of this number matches ahead, or does not; it knows nothing of what came before."""

    number: int
    is_negated: bool
    following: int


@dataclass(frozen=True, slots=True)
class Behind:
    """Go on where a text that ends here matches the look-behind of this number, or does not."""

    number: int
    is_negated: bool
    following: int


@dataclass(frozen=True, slots=True)
class AtStart:
    """Go on at the start of the text."""

    following: int


@dataclass(frozen=True, slots=True)
class AtEnd:
    """Go on at the end of the text."""

    following: int


@dataclass(frozen=True, slots=True)
class AtBoundary:
    """Go on at the edge of a word, or anywhere else."""

    is_negated: bool
    following: int


@dataclass(frozen=True, slots=True)
class Accept:
    """Match."""


Instruction: TypeAlias = "Run | Split | Ahead | Enclosed | Behind | AtStart | AtEnd | AtBoundary | Accept"
ACCEPT = 0
"""Where the one ``Accept`` stands."""


class Program:
    """Hold the instructions of a pattern.

    Attributes:
        instructions: all of them; targets are indices.
        sets: the sets of characters that runs refer to.
        behinds: where the body of each look-behind starts; those inside another come before it.
        start: where the search starts.
        has_boundaries: word boundaries are among them.
    """

    def __init__(self, node: Node) -> None:
        self.instructions: list[Instruction] = [Accept()]
        self.sets: list[CharacterSet] = []
        self.behinds: list[int] = []
        self.has_boundaries = False
        self._set_numbers: dict[CharacterSet, int] = {}
        self._enclosed_numbers: dict[Node, int] = {}
        self._behind_numbers: dict[Node, int] = {}
        body = self._compile(node, ACCEPT)
        if is_anchored(node):
            self.start = body
        else:
            self.start = self._add(Split([self._run(ANY_CHARACTER, 1, None, body), body]))

    @property
    def enclosed(self) -> tuple[Node, ...]:
        """Return the patterns ahead that have automata of their own, by their numbers."""
        return tuple(self._enclosed_numbers)

    def _add(self, instruction: Instruction) -> int:
        if len(self.instructions) >= MAX_INSTRUCTIONS:
            raise TooManyStates(f"a pattern of more than {MAX_INSTRUCTIONS} instructions", MAX_INSTRUCTIONS)
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _run(self, members: CharacterSet, least: int, most: int | None, following: int) -> int:
        number = self._set_numbers.setdefault(members, len(self.sets))
        if number == len(self.sets):
            self.sets.append(members)
        return self._add(Run(number, least, most, following))

    def _compile(self, node: Node, following: int) -> int:
        """Return where to start so that ``node`` is matched and then ``following``."""
        match node:
            case Characters(members):
                return self._run(members, 1, 1, following)
            case Concatenation(items):
                for item in reversed(items):
                    following = self._compile(item, following)
                return following
            case Alternation(options):
                return self._add(Split([self._compile(option, following) for option in options]))
            case Repeat():
                return self._repeat(node, following)
            case TextStart():
                return self._add(AtStart(following))
            case TextEnd():
                return self._add(AtEnd(following))
            case WordBoundary(is_negated):
                self.has_boundaries = True
                return self._add(AtBoundary(is_negated, following))
            case Look(item, False, is_negated) if not looks_behind(item):
                self._enclosed_numbers.setdefault(item, len(self._enclosed_numbers))
                return self._add(Enclosed(self._enclosed_numbers[item], is_negated, following))
            case Look(item, is_behind, is_negated):
                if is_behind:
                    return self._add(Behind(self._behind(item), is_negated, following))
                return self._add(Ahead(self._compile(item, ACCEPT), is_negated, following))
            case _:
                assert_never(node)

    def _behind(self, item: Node) -> int:
        number = self._behind_numbers.get(item)
        if number is None:
            body = self._compile(item, ACCEPT)
            number = self._behind_numbers[item] = len(self.behinds)
            self.behinds.append(body)
        return number

    def _repeat(self, node: Repeat, following: int) -> int:
        if isinstance(node.item, Characters):
            run = self._run(node.item.members, max(node.least, 1), node.most, following)
            return run if node.least else self._add(Split([run, following]))
        after, copies = following, node.least
        if node.most is None:
            loop = Split([following])
            following = self._add(loop)
            body = self._compile(node.item, following)
            loop.targets.append(body)
            if node.least:
                # The body of the loop is the last copy, so that repeats within repeats do not double.
                following, copies = body, node.least - 1
        else:
            for _ in range(node.most - node.least):
                following = self._add(Split([after, self._compile(node.item, following)]))
        for _ in range(copies):
            following = self._compile(node.item, following)
        return following


__all__ = [
    "ACCEPT",
    "Accept",
    "Ahead",
    "AtBoundary",
    "AtEnd",
    "AtStart",
    "Behind",
    "Enclosed",
    "Instruction",
    "Program",
    "Run",
    "Split",
]
