"""Read regular expressions of ECMA-262 and turn them into automata."""

from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.pattern import pattern_language, pattern_steps
from commitgate.automaton.regex.search import MAX_WALK_STEPS, PatternWalk, walk_steps

__all__ = [
    "MAX_WALK_STEPS",
    "PatternError",
    "PatternUnsupported",
    "PatternWalk",
    "pattern_language",
    "pattern_steps",
    "walk_steps",
]
