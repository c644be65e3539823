"""Read grammars in the notation of GBNF."""

from __future__ import annotations

from commitgate.automaton.grammar.expression import Rules
from commitgate.limits import Limits


def gbnf_rules(text: str, start: str | None, limits: Limits) -> Rules:
    """Return the rules of a grammar."""
    raise NotImplementedError


__all__ = ["gbnf_rules"]
