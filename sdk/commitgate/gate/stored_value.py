"""Write a typed value down so that the same value can be made again, and make it again.

What is stored is what the type layer made, defaults included, and not the model's text: making it again from the text
would run the type's default factories anew and give another value. Whether it can be made again is tried out before
anything is stored: the copy must be equal to the value and must be written down as the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.json_value import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.contract import Contract

T = TypeVar("T")

NOT_STORABLE = "not_storable"
"""Code of a value that is not the same any more once it was stored as JSON and loaded."""

_STORED_NESTING = 200
"""Deepest nesting of a stored value: a type may wrap the answer's levels in own ones, up to what the parser takes."""


def store(contract: Contract[T], parsed: JsonValue, typed: T) -> tuple[T, bytes] | Failure:
    """Write a value down.

    Args:
        contract: its contract.
        parsed: the answer as ``strict_parse`` gives it.
        typed: the value that the type layer made of it.

    Returns:
        The value as it is loaded again, so that a replay cannot differ from it, and its JSON; or why there is none.
    """
    adapter = contract.type_adapter
    if adapter is None:
        return typed, encode(parsed)
    for by_alias in (True, False):
        stored = _dump(adapter, typed, by_alias)
        loaded = None if stored is None else load(contract, stored)
        if isinstance(loaded, Typed) and _is_same(loaded.value, typed):
            again = _dump(adapter, loaded.value, by_alias)
            if stored is not None and again == stored:
                return loaded.value, stored
    message = "the value changes when the type writes it as JSON and reads it back, so it cannot be stored under a key"
    return Failure(layer=Layer.TYPE, code=NOT_STORABLE, pointer="", message=message, retryable=False)


def load(contract: Contract[T], stored: bytes) -> Typed[T] | tuple[Failure, ...]:
    """Make a value again from its JSON, or say what stands against it."""
    parsed = strict_parse(stored, nesting=_STORED_NESTING)
    if not isinstance(parsed, Parsed):
        return (parsed,)
    return TypeLayer(contract, takes_names=True).judge(parsed.value)


def _dump(adapter: TypeAdapter[T], value: T, by_alias: bool) -> bytes | None:
    try:
        return adapter.dump_json(value, round_trip=True, by_alias=by_alias, warnings=False)
    except Exception:  # noqa: BLE001 - serialisers are the caller's code and may raise anything
        return None


def _is_same(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - equality of the caller's classes may raise anything
        return False


__all__ = ["NOT_STORABLE", "load", "store"]
