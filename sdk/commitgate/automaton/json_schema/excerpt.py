"""Show a part of a schema in a message: its text is no secret, but it may be long or hold anything."""

from __future__ import annotations

from difflib import get_close_matches
from typing import cast

from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.json_value import JsonValue

MAX_CHARACTERS = 80
"""Most characters of one excerpt."""

_ALIKE = 0.75


def excerpt(value: object) -> str:
    """Return a checked JSON value as JSON writes it, in printable ASCII and at most 80 characters."""
    text = canonical(_begun(value)).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 3] + "..."


def _begun(value: object) -> JsonValue:
    """Return so much of a value that the excerpt is the same; the rest may be megabytes."""
    if isinstance(value, str):
        return value[: MAX_CHARACTERS + 1]
    if isinstance(value, list):
        return [_begun(item) for item in cast("list[object]", value)[: MAX_CHARACTERS + 1]]
    return cast("JsonValue", value)


def nearest(word: str, known: list[str]) -> str | None:
    """Return the word of ``known`` that was likely meant; None where none is alike."""
    found = get_close_matches(word[:MAX_CHARACTERS], known, n=1, cutoff=_ALIKE)
    return found[0] if found else None


__all__ = ["MAX_CHARACTERS", "excerpt", "nearest"]
