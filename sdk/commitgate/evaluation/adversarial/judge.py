"""Judge a committed value by other means than the gate's: Python's own JSON reader, and jsonschema-rs as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NoReturn, cast

from commitgate.json_value import JsonSchema, JsonValue


@dataclass(frozen=True, slots=True)
class Unforced:
    """Stand for a value that is not known beforehand."""


UNFORCED = Unforced()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueJudge:
    """Say what is wrong with a committed value of JSON.

    Attributes:
        schema: what it must be valid under.
        expected: what it must be; ``UNFORCED`` where several may come.
    """

    schema: JsonSchema = field(repr=False)
    expected: JsonValue | Unforced = field(default=UNFORCED, repr=False)

    def wrong(self, value: object, text: str | None) -> str:
        """Return what is wrong, in words; empty where nothing is.

        Args:
            value: as it was handed over, with decimals in place of floats.
            text: the answer as it was received; None where it has another shape than the value.
        """
        try:
            read = cast("JsonValue", value) if text is None else strictly_read(text)
        except ValueError:
            return "the committed text is no JSON"
        if not isinstance(self.expected, Unforced) and not alike(read, exact(self.expected)):
            return "the committed value is another one than the only legal one"
        if not _is_valid(self.schema, read):
            return "the committed value is not valid under the schema"
        return "" if alike(value, read) else "the value that was handed over is not the one of the text"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJudge:
    """Say what is wrong with a committed text that is no JSON.

    Attributes:
        is_right: knows the texts that are meant.
    """

    is_right: Callable[[str], bool] = field(repr=False)

    def wrong(self, value: object, text: str | None) -> str:
        """Return what is wrong, in words; empty where nothing is."""
        if text is not None and value != text:
            return "the value that was handed over is not the text"
        is_right = isinstance(value, str) and self.is_right(value)
        return "" if is_right else "the committed text is none of the language"


def strictly_read(text: str) -> JsonValue:
    """Return the value of a text of JSON, with every number exact.

    Raises:
        ValueError: it is no JSON, or holds a key twice, or a number that is none.
    """

    def once(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    return cast("JsonValue", json.loads(text, parse_float=Decimal, parse_constant=_none, object_pairs_hook=once))


def exact(value: JsonValue) -> JsonValue:
    """Return a value as it is read from its own text: with decimals in place of floats."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return value


def alike(first: object, second: object) -> bool:
    """Say whether two values are the same JSON in whatever order of keys: True is not 1, and 1.0 is 1."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        mine, its = cast("Mapping[object, object]", first), cast("Mapping[object, object]", second)
        return mine.keys() == its.keys() and all(alike(mine[key], its[key]) for key in mine)
    if isinstance(first, list) and isinstance(second, list):
        items, others = cast("Sequence[object]", first), cast("Sequence[object]", second)
        return len(items) == len(others) and all(map(alike, items, others))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return isinstance(first, list | Mapping) is isinstance(second, list | Mapping) and first == second


def _none(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _is_valid(schema: JsonSchema, value: JsonValue) -> bool:
    from jsonschema_rs import validator_for

    return validator_for(cast("JsonSchema", exact(schema)), validate_formats=True, retriever=_refuse).is_valid(value)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"nothing is fetched: {uri}")


__all__ = ["UNFORCED", "TextJudge", "Unforced", "ValueJudge", "alike", "exact", "strictly_read"]
