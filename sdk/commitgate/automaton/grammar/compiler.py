"""Turn the rules of a text into terms."""

from __future__ import annotations

from commitgate.automaton.grammar.expression import Words
from commitgate.automaton.grammar.meaning import TextMeaning
from commitgate.automaton.terms import Arena, Term


def text_term(meaning: TextMeaning, arena: Arena, dialect: str, alphabet: bytes | None) -> Term:
    """Return the term of a whole text."""
    expression = meaning.rules.rules[meaning.rules.start]
    if isinstance(expression, Words):
        return arena.literal_set(tuple(sorted(text.encode() for text in expression.texts)))
    raise NotImplementedError
