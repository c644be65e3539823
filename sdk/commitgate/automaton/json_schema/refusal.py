"""Let a model decline in the contract's own language: ``{"refusal": "<reason>"}``.

A masked model cannot refuse in prose, so without such a way out it must invent a value. A text of this one form is a
refusal whatever the schema says of it, so that declining can never be taken for a value.
Source: design, "Refusing and thinking".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import one_of
from commitgate.automaton.terms import Term
from commitgate.automaton.text_language import of_lengths
from commitgate.refusal import MOST_REFUSAL_CHARACTERS, REFUSAL_KEY

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.structure import Grammar


def refusal_term(grammar: Grammar) -> Term:
    """Return the term of a whole text that is a refusal, white space around it in ``accept``."""
    arena = grammar.arena
    reasons = grammar.written(of_lengths(1, MOST_REFUSAL_CHARACTERS), MOST_REFUSAL_CHARACTERS)
    if reasons is None:
        return arena.empty
    if grammar.is_generating:
        key = arena.literal_set(grammar.spelled([REFUSAL_KEY]))
    else:
        key = arena.sequence(arena.literal(b'"'), StringBody.make(arena, one_of((REFUSAL_KEY,)), grammar.spelling))
    reason = arena.sequence(arena.literal(b'"'), StringBody.make(arena, reasons.state(), grammar.spelling))
    opening, closing = arena.literal(b"{"), arena.literal(b"}")
    value = arena.chain(opening, grammar.space, key, grammar.key_separator, reason, grammar.space, closing)
    return value if grammar.is_generating else arena.chain(grammar.space, value, grammar.space)


__all__ = ["refusal_term"]
