"""Turn values of the library into data that ``json`` can write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import cast


def plain(value: object) -> object:
    """Return a value of the library as data that ``json`` can write."""
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


__all__ = ["plain"]
