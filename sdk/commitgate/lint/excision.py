"""Take parts out of a schema: copies without a keyword, a place or a required name."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from commitgate.json_value import JsonValue

_CHOICES = frozenset({"anyOf", "oneOf"})

_Way: TypeAlias = list[tuple[dict[str, JsonValue] | list[JsonValue], str | int]]


def value_at(root: JsonValue, tokens: list[str]) -> JsonValue:
    """Return what stands at a place; None where there is no such place."""
    found = _way_to(root, tokens)
    return None if found is None else found[1]


def without_keyword(root: JsonValue, tokens: list[str], keyword: str | None) -> JsonValue | None:
    """Return a copy without the keyword of the schema at a place, or with the whole schema there allowing anything.

    None where there is no such place, or where nothing would be left.
    """
    found = _way_to(root, tokens)
    if found is None:
        return None
    way, at = found
    # Objects, as draft 4 knows no booleans for schemas.
    made: JsonValue = {}
    if isinstance(at, dict) and keyword is not None and keyword in at:
        made = {name: item for name, item in at.items() if name != keyword}
    elif not way:
        return None
    if not made and len(way) > 1 and tokens[-2] in _CHOICES and len(way[-1][0]) > 1:
        # A branch that allows everything would hide the others.
        made = {} if "draft-04" in str(root.get("$schema") if isinstance(root, dict) else "") else False
    return _put(way, made)


def without_required(root: JsonValue, tokens: list[str], names: Collection[str]) -> JsonValue | None:
    """Return a copy in which the object at a place does not require some names; None where there is no such place."""
    found = _way_to(root, tokens)
    if found is None:
        return None
    way, schema = found
    if not isinstance(schema, dict):
        return None
    required = schema.get("required")
    left: JsonValue = [name for name in (required if isinstance(required, list) else ()) if name not in names]
    made = {word: held for word, held in schema.items() if word != "required"}
    # Draft 4 wants at least one name there.
    return _put(way, {**made, "required": left} if left else made)


def _way_to(root: JsonValue, tokens: list[str]) -> tuple[_Way, JsonValue] | None:
    """Return each object or array on the way to a place with the key that leads on, and what stands there."""
    way: _Way = []
    at = root
    for token in tokens:
        if isinstance(at, list):
            if not token.isdecimal() or int(token) >= len(at):
                return None
            way.append((at, int(token)))
            at = at[int(token)]
        elif isinstance(at, dict) and token in at:
            way.append((at, token))
            at = at[token]
        else:
            return None
    return way, at


def _put(way: _Way, made: JsonValue) -> JsonValue:
    for held, key in reversed(way):
        if isinstance(held, list):
            made = [made if index == key else item for index, item in enumerate(held)]
        else:
            made = {name: made if name == key else item for name, item in held.items()}
    return made


__all__ = ["value_at", "without_keyword", "without_required"]
