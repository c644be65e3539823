"""Take members of known types out of what a server sent. Absent and null are one; another type is no such format."""

from __future__ import annotations

from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.json_value import JsonObject, JsonValue

_MOST = 2**53 - 1
"""Largest count that is one: programs of every kind can hold it, and no server has counted so far."""

MAX_NAME_CHARACTERS = 4_096
"""Longest name of a part of an answer, as an id; some servers put what they know of it into its id."""


def text_of(holder: JsonObject, key: str) -> str | None:
    """Return a member that must be text.

    Raises:
        WireFaultError: it is something else.
    """
    value = holder.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(key, "text")


def name_of(holder: JsonObject, key: str) -> str | None:
    """Return a member that must be text short enough to be kept for as long as an answer lasts.

    Raises:
        WireFaultError: it is something else.
    """
    value = text_of(holder, key)
    if value is not None and len(value) > MAX_NAME_CHARACTERS:
        raise WireFaultError("name_too_long", f"{key} has more than {MAX_NAME_CHARACTERS} characters")
    return value


def count_of(holder: JsonObject, key: str) -> int | None:
    """Return a member that must be a whole number >= 0, and one that anything has as many of.

    Raises:
        WireFaultError: it is something else.
    """
    value = holder.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST):
        return value
    raise _wrong(key, "a count")


def flag_of(holder: JsonObject, key: str) -> bool:
    """Return a member that must be true or false; False where it is absent.

    Raises:
        WireFaultError: it is something else.
    """
    value = holder.get(key)
    if value is None or isinstance(value, bool):
        return value is True
    raise _wrong(key, "true or false")


def object_of(holder: JsonObject, key: str) -> JsonObject | None:
    """Return a member that must be an object.

    Raises:
        WireFaultError: it is something else.
    """
    value = holder.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise _wrong(key, "an object")


def array_of(holder: JsonObject, key: str) -> list[JsonValue] | None:
    """Return a member that must be an array.

    Raises:
        WireFaultError: it is something else.
    """
    value = holder.get(key)
    if value is None or isinstance(value, list):
        return value
    raise _wrong(key, "an array")


def objects_of(holder: JsonObject, key: str) -> list[JsonObject]:
    """Return the items of a member that must be an array of objects; none where it is absent.

    Raises:
        WireFaultError: it is something else.
    """
    items = array_of(holder, key) or []
    found = [item for item in items if isinstance(item, dict)]
    if len(found) < len(items):
        raise _wrong(key, "an array of objects")
    return found


def _wrong(key: str, wanted: str) -> WireFaultError:
    return WireFaultError("wrong_type", f"{key} is something else than {wanted}")


__all__ = ["MAX_NAME_CHARACTERS", "array_of", "count_of", "flag_of", "name_of", "object_of", "objects_of", "text_of"]
