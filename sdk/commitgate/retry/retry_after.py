"""Read how long a server asks to wait. Sans-IO: the time comes in as an argument.

Source: RFC 9110, sections 10.2.3 (Retry-After) and 5.6.7 (the three forms of an HTTP-date). ``retry-after-ms`` is no
standard, but sent by model servers for waits below a second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz

_MOST_CHARACTERS = 64
"""Longest value that is read: the longest date has 33 characters, and a wait of more digits is none."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_TWO_DIGIT_YEAR = re.compile(r"[A-Za-z]+, [0-9]{2}-[A-Za-z]{3}-[0-9]{2} ")
_LATEST_LOOK_AHEAD_DAYS = 50 * 365.25


def parse_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds that the server asks to wait, finite and >= 0; None where it asks for none.

    What is no time (text, a negative number, ``nan``, ``inf``) is as good as not sent. A date that is past is 0.0.

    Args:
        headers: the response's header fields, their names in any case.
        now: POSIX time in seconds.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(fields.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    value = fields.get("retry-after")
    seconds = _number(value)
    return _until(value, now) if seconds is None else seconds


def _number(value: str | None) -> float | None:
    """Read a decimal number without sign or exponent, as delay-seconds with a fraction."""
    text = _bounded(value)
    return float(text) if text is not None and _NUMBER.fullmatch(text) else None


def _until(value: str | None, now: float) -> float | None:
    """Return the seconds until an HTTP-date."""
    text = _bounded(value)
    if text is None:
        return None
    try:
        at = _date(text, datetime.fromtimestamp(now, UTC))
    except (ValueError, OverflowError, TypeError, IndexError):  # what the standard library raises for a crooked date
        return None
    return None if at is None else max(0.0, at.timestamp() - now)


def _date(text: str, today: datetime) -> datetime | None:
    parts = parsedate_tz(text)
    if parts is None:
        return None
    year, month, day, hour, minute, second = parts[:6]
    # A leap second is legal here, but not in datetime.
    at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC) - timedelta(seconds=parts[9] or 0)
    if _TWO_DIGIT_YEAR.match(text):
        return _nearest_century(at, today)
    return at


def _nearest_century(at: datetime, today: datetime) -> datetime:
    """Read two digits as the year that is at most 50 years ahead. Source: RFC 9110, section 5.6.7."""
    at = at.replace(year=today.year - today.year % 100 + at.year % 100)
    if at - today > timedelta(days=_LATEST_LOOK_AHEAD_DAYS):
        return at.replace(year=at.year - 100)
    return at


def _bounded(value: str | None) -> str | None:
    if value is None or len(value) > _MOST_CHARACTERS:
        return None
    return value.strip(" \t")


__all__ = ["parse_retry_after"]
