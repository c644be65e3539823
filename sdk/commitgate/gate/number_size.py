"""Bound the written size of JSON numbers, as the automaton does: by their digits, not by their value.

A parsed ``Decimal`` does not tell how it was spelled (``15e-1`` and ``1.5`` are one), so the text itself is read.
"""

from __future__ import annotations

import re

from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT

NUMBER_SIZE = f"a number has more than {MAX_DIGITS} digits or an exponent beyond {MAX_EXPONENT}"
"""Says which bound a number broke."""

_SUSPECT = re.compile(rb"\d{%d}|[eE][+-]?\d{%d}" % (MAX_DIGITS // 3, len(str(MAX_EXPONENT))))
"""Found in every text with an oversized number: one of its three parts holds a third of the digits, or the exponent."""

_TOKEN = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?(?P<whole>\d+)(?:\.(?P<fraction>\d+))?(?:[eE][+-]?(?P<exponent>\d+))?', re.DOTALL
)
_TAIL = re.compile(rb"[-+.eE\d]+\Z")
_OPEN_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d*)?")


def oversized_number(text: bytes) -> int | None:
    """Return the byte offset of the first number that is too large as written; None where there is none.

    Args:
        text: JSON, at least up to that number.
    """
    if _SUSPECT.search(text) is None:
        return None
    return next((token.start() for token in _TOKEN.finditer(text) if _is_oversized(token)), None)


def continues_number(passed: bytes, following: bytes) -> bool:
    """Return whether a digit after ``passed`` is grammatical, so that only a number's size can speak against it.

    Args:
        passed: the start of a JSON text that ends outside strings.
        following: the one byte after it.
    """
    tail = _TAIL.search(passed[-2 * MAX_DIGITS :])
    return following.isdigit() and tail is not None and _OPEN_NUMBER.fullmatch(tail[0] + following) is not None


def _is_oversized(token: re.Match[bytes]) -> bool:
    whole, fraction, exponent = token["whole"], token["fraction"] or b"", token["exponent"] or b""
    if whole is None:
        return False
    digits = len(whole) + len(fraction) + len(exponent)
    magnitude = exponent.lstrip(b"0")
    return digits > MAX_DIGITS or len(magnitude) > len(str(MAX_EXPONENT)) or int(magnitude or b"0") > MAX_EXPONENT


__all__ = ["NUMBER_SIZE", "continues_number", "oversized_number"]
