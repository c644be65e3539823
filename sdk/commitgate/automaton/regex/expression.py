"""Read a pattern as what a whole text is made of."""

from __future__ import annotations

from commitgate.automaton.grammar.expression import Expression
from commitgate.limits import Limits


def pattern_expression(pattern: str, flags: str, limits: Limits) -> Expression:
    """Return the texts that a pattern matches from their first character to their last."""
    raise NotImplementedError


__all__ = ["pattern_expression"]
