"""Tell a refusal in the contract's own language from a value."""

from __future__ import annotations

from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.refusal import MOST_REFUSAL_CHARACTERS, REFUSAL_KEY

_NESTING = 1
"""A refusal is one object around one text."""


def refusal_reason(text: bytes) -> str | None:
    """Return the reason of a whole text that is a refusal; None where it is something else.

    Args:
        text: what the acceptor of a contract with ``refusal`` passed whole.
    """
    parsed = strict_parse(text, nesting=_NESTING)
    value = parsed.value if isinstance(parsed, Parsed) else None
    if not isinstance(value, dict) or value.keys() != {REFUSAL_KEY}:
        return None
    reason = value[REFUSAL_KEY]
    return reason if isinstance(reason, str) and 1 <= len(reason) <= MOST_REFUSAL_CHARACTERS else None


__all__ = ["refusal_reason"]
