"""Spell dates, times and durations as patterns.

Two decisions narrow or widen what RFC 3339 leaves open. A second of 60 stands only where the moment is 23:59:60 UTC,
and only beside ``Z`` or an offset of whole quarter hours: every offset in civil use since the first leap second (1972)
is one, and all 1,440 would cost ten thousand states. On which days a leap second was really announced is not asked.
Designators of a duration are capitals, as ISO 8601 writes them, although ABNF literals ignore case.

Source: RFC 3339, sections 5.6 and 5.7, appendices A and C.
"""

from __future__ import annotations

_MINUTES_A_DAY = 24 * 60
_LEAP_MINUTE = 23 * 60 + 59
_QUARTER = 15

_HOUR = "(?:[01][0-9]|2[0-3])"
_MINUTE = "[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR}:{_MINUTE})"

_DAYS_OF_ANY_YEAR = (
    "[0-9]{4}-(?:"
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8])"
    ")"
)
_MULTIPLE_OF_4_BUT_0 = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_MULTIPLE_OF_4_BUT_0}|(?:00|{_MULTIPLE_OF_4_BUT_0})00)"

DATE = f"(?:{_DAYS_OF_ANY_YEAR}|{_LEAP_YEAR}-02-29)"


def _clock(minutes: int) -> str:
    minutes %= _MINUTES_A_DAY
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _leap_seconds() -> str:
    """Return the pattern of every local time that is 23:59:60 UTC, each with the offsets that make it so."""
    found: list[str] = []
    for ahead in range(0, _MINUTES_A_DAY, _QUARTER):
        offsets = rf"\+{_clock(ahead)}|-{_clock(-ahead)}" + ("|[Zz]" if ahead == 0 else "")
        found.append(f"{_clock(_LEAP_MINUTE + ahead)}:60{_FRACTION}(?:{offsets})")
    return "|".join(found)


TIME = f"(?:{_HOUR}:{_MINUTE}:{_MINUTE}{_FRACTION}{_OFFSET}|{_leap_seconds()})"
DATE_TIME = f"{DATE}[Tt]{TIME}"

_SECONDS = "[0-9]+S"
_MINUTES = f"[0-9]+M(?:{_SECONDS})?"
_HOURS = f"[0-9]+H(?:{_MINUTES})?"
_CLOCK_PART = f"T(?:{_HOURS}|{_MINUTES}|{_SECONDS})"
_DAYS = "[0-9]+D"
_MONTHS = f"[0-9]+M(?:{_DAYS})?"
_YEARS = f"[0-9]+Y(?:{_MONTHS})?"

DURATION = f"P(?:(?:{_DAYS}|{_MONTHS}|{_YEARS})(?:{_CLOCK_PART})?|{_CLOCK_PART}|[0-9]+W)"


__all__ = ["DATE", "DATE_TIME", "DURATION", "TIME"]
