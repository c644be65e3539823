"""Spell text deltas as UTF-8 where a delta may end between the two halves of a character.

A delta that came out of a JSON string is a string of UTF-16 units (RFC 8259 section 8.2): an emitter that cuts by such
units leaves the first half of a character (a high surrogate) at the end of one delta and the other half (a low one) at
the beginning of the next.
"""

from __future__ import annotations

import re
from typing import Final

_HIGH: Final = re.compile("([\ud800-\udbff])")


class TextJoiner:
    """Turn deltas into bytes, so that any cut between two units gives the same bytes as no cut.

    Nothing waits: a first half says the first two of its character's four bytes, so these are given out at once and
    the other two with the other half. A half without the other is therefore a character cut short, or, for a second
    half alone, the three bytes that would spell a surrogate: neither is UTF-8 (RFC 3629 section 3), and whoever judges
    the bytes finds the first impossible one, also where the text ends, with nothing left to ask for here.
    """

    __slots__ = ("_high",)

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> bytes:
        """Return the bytes that a delta adds."""
        if not self._high:
            try:
                return text.encode()
            except UnicodeEncodeError:
                pass
        units = (self._high + text).encode("utf-16-le", "surrogatepass")
        joined = units.decode("utf-16-le", "surrogatepass")
        data = b"".join(_spell(part) for part in _HIGH.split(joined))
        given = 2 if self._high else 0
        self._high = joined[-1] if "\ud800" <= joined[-1] <= "\udbff" else ""
        return data[given:]


def _spell(part: str) -> bytes:
    if "\ud800" <= part <= "\udbff":
        # RFC 3629 section 3: the first two of four bytes hold bits 12 to 20, all of which the first half says.
        return chr(0x10000 + ((ord(part) - 0xD800) << 10)).encode()[:2]
    return part.encode("utf-8", "surrogatepass")


__all__ = ["TextJoiner"]
