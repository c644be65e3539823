"""Look for a pattern in texts without building its automaton: for patterns whose automaton would be too large."""

from __future__ import annotations

from commitgate.automaton.regex.machine import Machine, Steps
from commitgate.automaton.regex.parser import parse
from commitgate.automaton.regex.program import Program

MAX_WALK_STEPS = 500_000
"""Most steps of looking for one pattern in one text, about 2 microseconds each."""


class PatternWalk:
    """Say whether a pattern is found in a text, working out only what the text needs.

    Args:
        pattern: a regular expression of ECMA-262, with the meaning of the ``u`` flag.

    Raises:
        PatternError: it is malformed.
        PatternUnsupported: it is well-formed, but refers back to groups or the like.
        TooManyStates: even its parts are too large.
    """

    def __init__(self, pattern: str) -> None:
        self._program = Program(parse(pattern))
        self._machine = self._fresh()

    def finds(self, text: str) -> bool:
        """Return whether the pattern is found in ``text``.

        Raises:
            TooManyStates: telling takes too many steps.
        """
        if self._machine.steps > MAX_WALK_STEPS // 2:
            # What earlier texts needed is forgotten, so that each has work left.
            self._machine = self._fresh()
        return self._machine.accepts(text)

    def _fresh(self) -> Machine:
        return Machine(self._program, Steps(MAX_WALK_STEPS))


__all__ = ["PatternWalk"]
