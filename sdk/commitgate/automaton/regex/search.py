"""Look for a pattern in texts without building its automaton: for patterns whose automaton would be too large."""

from __future__ import annotations

from functools import lru_cache

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex.machine import Machine, Steps
from commitgate.automaton.regex.parser import parse
from commitgate.automaton.regex.program import Program

MAX_WALK_STEPS = 500_000
"""Most steps of looking for one pattern in one text, about 2 microseconds each; half of them to make it ready."""

_STEPS_OF_A_LETTER = 4
"""What it takes to go on by one character where all steps are known, in steps."""

_CACHED_PATTERNS = 512
"""Patterns of which it is kept what making them ready takes: a contract and its schema layer ask for the same ones."""


class PatternWalk:
    """Say whether a pattern is found in a text, working out only what the text needs.

    Args:
        pattern: a regular expression of ECMA-262, with the meaning of the ``u`` flag.

    Attributes:
        steps: all that were taken, for making it ready and in all texts.

    Raises:
        PatternError: it is malformed.
        PatternUnsupported: it is well-formed, but refers back to groups or the like.
        TooManyStates: even its parts are too large.
    """

    def __init__(self, pattern: str) -> None:
        self._program = Program(parse(pattern))
        self._machine = self._fresh()
        self.steps = len(self._program.instructions) + self._machine.steps

    def finds(self, text: str) -> bool:
        """Return whether the pattern is found in ``text``.

        Raises:
            TooManyStates: telling takes too many steps.
        """
        if self._machine.steps > MAX_WALK_STEPS // 2:
            # What earlier texts needed is forgotten, so that each has work left.
            self._machine = self._fresh()
            self.steps += self._machine.steps
        before = self._taken()
        try:
            return self._machine.accepts(text)
        finally:
            self.steps += self._taken() - before

    def _taken(self) -> int:
        return self._machine.steps + _STEPS_OF_A_LETTER * self._machine.letters

    def _fresh(self) -> Machine:
        steps = Steps(MAX_WALK_STEPS // 2)
        machine = Machine(self._program, steps)
        steps.limit = MAX_WALK_STEPS
        return machine


def walk_steps(pattern: str) -> int:
    """Return how many steps it takes to make a pattern ready to be looked for.

    Raises:
        PatternError, PatternUnsupported, TooManyStates: as ``PatternWalk``.
    """
    steps, obstacle = _ready(pattern)
    if obstacle:
        raise TooManyStates(obstacle, MAX_WALK_STEPS // 2)
    return steps


@lru_cache(maxsize=_CACHED_PATTERNS)
def _ready(pattern: str) -> tuple[int, str]:
    try:
        return PatternWalk(pattern).steps, ""
    except TooManyStates as error:
        return 0, str(error)


__all__ = ["MAX_WALK_STEPS", "PatternWalk", "walk_steps"]
