"""Check the texts in a value."""

from __future__ import annotations

from commitgate.gate.asking import Kind
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RETURNS, RuleViolation

CONTENT_ERROR = "content_error"
"""Code of a content check that broke."""

CONTENT = Kind(layer=Layer.CONTENT, word="content check", error_code=CONTENT_ERROR, returns=RETURNS)


def refuse_hidden_characters(value: object) -> tuple[RuleViolation, ...]:
    """Refuse what untrusted texts in the value may hide."""
    return ()


__all__ = ["CONTENT", "CONTENT_ERROR", "refuse_hidden_characters"]
