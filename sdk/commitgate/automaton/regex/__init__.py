"""Read regular expressions of ECMA-262 and turn them into automata."""

from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.pattern import pattern_language

__all__ = ["PatternError", "PatternUnsupported", "pattern_language"]
