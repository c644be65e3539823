"""Name the layers by which answers are measured. Each has a rate of its own, and none makes up for another."""

from __future__ import annotations

from enum import StrEnum


class Measure(StrEnum):
    """Name one layer. The order of definition is the order in which an answer passes them.

    An answer is counted in a layer only where it reached it: a text that is no JSON says nothing about the schema. Up
    to ``SCHEMA`` the layers are a chain, each reached where the one before it passed. What passed the schema is a
    value, and the layers after it look at that value each by itself, whatever the others found: wrong facts and
    overreach are told apart. ``TOOLS``, ``QUALITY`` and ``IDEMPOTENCY`` are reached only by what the gate let through.
    """

    LIVENESS = "liveness"
    """It ended, and not in a dead end, a fault of the backend, a broken line, a time limit, or a contract that could
    not be asked for."""
    REFUSAL = "refusal"
    """The model answered, and no filter cut it; where the case wants a refusal, it declined."""
    TRUNCATION = "truncation"
    """No limit on tokens or context cut it."""
    SYNTAX = "syntax"
    """It is JSON; of a pattern, grammar or choices, a text of that language."""
    SCHEMA = "schema"
    """The schema and the type hold."""
    RULES = "rules"
    """Business rules and checks of content hold."""
    FACTS = "facts"
    """What it says is what the case expects, and stands with the authority that the case names."""
    AUTHORIZATION = "authorization"
    """What it would do is allowed to who asks, and was allowed; what is not, was blocked."""
    TOOLS = "tools"
    """Its tools, or its effect, ran and ended well."""
    QUALITY = "quality"
    """The caller's own score is at least what the suite asks for."""
    IDEMPOTENCY = "idempotency"
    """Made again with the same key, it did nothing a second time."""


__all__ = ["Measure"]
