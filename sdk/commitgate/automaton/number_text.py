"""Hold how a number may be written: how long at most, and its plain spelling.

Source: RFC 8259 section 6.
"""

from __future__ import annotations

from decimal import Decimal

MAX_DIGITS = 1_000
"""Most digits of one number, exponent included; more cannot be meant and would let a number grow for ever."""
MAX_EXPONENT = 400
"""Largest magnitude of a written exponent; a float ends near 308."""


def plain_number(value: Decimal) -> str:
    """Return the value in digits alone: no exponent, no superfluous zero, no negative zero."""
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


__all__ = ["MAX_DIGITS", "MAX_EXPONENT", "plain_number"]
