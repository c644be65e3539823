"""Keep what names things in spans and metrics short, and few: a label that anybody may make new brings a store down."""

from __future__ import annotations

import re
from typing import Final

MAX_NAME_CHARACTERS = 128
"""Most characters of a name in a span or a metric. A contract's name may be a title out of somebody's schema."""

MAX_LABEL_VALUES = 100
"""Most values of one label, each a series of its own that is kept for ever; further ones count together."""

OTHER: Final = "_OTHER"
"""What values beyond the most are called, as the conventions call an error without a name."""

_WORD: Final = re.compile(rf"[A-Za-z0-9._:/@+-]{{1,{MAX_NAME_CHARACTERS}}}")


class BoundedNames:
    """Remember the values of each label, and call those beyond the most by one name."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}

    def of(self, label: str, value: str) -> str:
        """Return the value, short, or ``OTHER`` where the label has too many."""
        value = short(value)
        seen = self._seen.setdefault(label, set())
        if value not in seen:
            if len(seen) >= MAX_LABEL_VALUES:
                return OTHER
            seen.add(value)
        return value


def short(name: str) -> str:
    """Return a name of bounded length, of signs that can be seen."""
    cut = name[:MAX_NAME_CHARACTERS]
    return cut if cut.isprintable() else "".join(sign if sign.isprintable() else "?" for sign in cut)


def word(text: str | None) -> str | None:
    """Return what looks like a name or an id; None of anything else, as a server may send a text in its place."""
    return text if text is not None and _WORD.fullmatch(text) else None


__all__ = ["MAX_LABEL_VALUES", "MAX_NAME_CHARACTERS", "OTHER", "BoundedNames", "short", "word"]
