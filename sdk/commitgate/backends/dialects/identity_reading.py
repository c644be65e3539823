"""Read what servers answer when they are asked what they are. Sans-IO.

An identity is compared, kept and shown; it is no payload, but it comes from outside: short, and harmless to print.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, cast

from commitgate.backends.dialect import Answer
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue

_MOST_WORD_CHARACTERS: Final = 200
_MOST_MODELS: Final = 1_000


def is_ready(health: Answer, known: Answer) -> bool:
    """Say whether a server takes requests: by its own word, or where it has none, because it told something else."""
    return _is_ok(known) if health.status in (404, 405) else _is_ok(health)


def object_in(answer: Answer) -> JsonObject:
    """Return the JSON object of an answer; an empty one where it is none, or the request failed."""
    if not _is_ok(answer):
        return {}
    try:
        value: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def word(holder: JsonObject, *names: str) -> str | None:
    """Return the first of some members that is a text and says something, cut and made harmless."""
    for name in names:
        value = holder.get(name)
        if isinstance(value, str) and value:
            return harmless(value[:_MOST_WORD_CHARACTERS])
    return None


def objects(holder: JsonObject, name: str) -> Sequence[JsonObject]:
    """Return the objects in a member that should be an array of them."""
    value: JsonValue = holder.get(name)
    return [each for each in value[:_MOST_MODELS] if isinstance(each, dict)] if isinstance(value, list) else []


def names(holders: Sequence[JsonObject], *of: str) -> tuple[str, ...]:
    """Return what some objects are called, in their order."""
    found = (word(each, *of) for each in holders)
    return tuple(name for name in found if name is not None)


def named(holders: Sequence[JsonObject], model: str, *of: str) -> JsonObject:
    """Return the object that is called as the model; where no model is asked for, the first."""
    nothing: JsonObject = {}
    if not model:
        return holders[0] if holders else nothing
    return next((each for each in holders if any(each.get(name) == model for name in of)), nothing)


def joined(*parts: str | None) -> str | None:
    """Return what together tells two versions apart; None where nothing does."""
    known = [part for part in parts if part is not None]
    return " ".join(known) or None


def _is_ok(answer: Answer) -> bool:
    return 200 <= answer.status < 300


__all__ = ["is_ready", "joined", "named", "names", "object_in", "objects", "word"]
