"""Read patterns, grammars, choices and machines, and turn them into automata over the bytes of a text."""

from commitgate.automaton.grammar.meaning import TextMeaning

__all__ = ["TextMeaning"]
