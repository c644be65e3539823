"""Read the fields of a JSON object that a client sent, each by its kind, and refuse by its name what is another kind.

A field that is null counts as left out, as in OpenAI's API. A value is never quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from typing import Final

from commitgate.json_value import JsonObject, JsonValue
from commitgate_local.server.refusal import RequestRefused, bad_request

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Fields:
    """Hold the members of one object and where it stands.

    Args:
        members: the object.
        place: where it stands in the body, as ``messages[0]``; ``""`` for the body itself.
    """

    __slots__ = ("_members", "_place")

    def __init__(self, members: JsonObject, place: str = "") -> None:
        self._members = members
        self._place = place

    @staticmethod
    def of(value: JsonValue, place: str) -> Fields:
        """Return the fields of a value that must be an object.

        Raises:
            RequestRefused: it is none.
        """
        if not isinstance(value, dict):
            raise wrong_kind(place, "an object", value)
        return Fields(value, place)

    def __contains__(self, name: str) -> bool:
        return self._members.get(name) is not None

    def place(self, name: str) -> str:
        """Return where a field stands in the body."""
        return f"{self._place}.{name}" if self._place else name

    def value(self, name: str) -> JsonValue:
        """Return a field as it is; None where it is left out."""
        return self._members.get(name)

    def check_known(self, names: Collection[str]) -> None:
        """Check that no field has any other name.

        Raises:
            RequestRefused: one has, and is not null.
        """
        for name, value in self._members.items():
            if name not in names and value is not None:
                raise self.unknown(name)

    def unknown(self, name: str) -> RequestRefused:
        """Return the refusal of a field that nobody here knows."""
        if not _PLAIN_NAME.fullmatch(name):
            where = f"{self._place} has a field" if self._place else "there is a field"
            return bad_request(f"{where} whose name is no plain word; it is not known", code="unknown_parameter")
        place = self.place(name)
        return bad_request(
            f"{place} is not known here, and might change the answer; leave it out",
            param=place,
            code="unknown_parameter",
        )

    def text(self, name: str) -> str | None:
        """Return a field that must be a text."""
        value = self.value(name)
        if value is not None and not isinstance(value, str):
            raise wrong_kind(self.place(name), "a string", value)
        return value

    def required_text(self, name: str) -> str:
        """Return a field that must be there and a text."""
        value = self.text(name)
        if value is None:
            raise self.missing(name)
        return value

    def flag(self, name: str) -> bool | None:
        """Return a field that must be true or false."""
        value = self.value(name)
        if value is not None and not isinstance(value, bool):
            raise wrong_kind(self.place(name), "true or false", value)
        return value

    def word(self, name: str, words: Collection[str]) -> str | None:
        """Return a field that must be one of a few words."""
        value = self.text(name)
        if value is not None and value not in words:
            wanted = " or ".join(map(repr, words))
            raise bad_request(f"{self.place(name)} must be {wanted}, found another word", param=self.place(name))
        return value

    def integer(self, name: str, least: int, most: int) -> int | None:
        """Return a field that must be a whole number, written as one, within bounds."""
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_kind(self.place(name), "an integer", value)
        if not least <= value <= most:
            raise self._out_of_range(name, f"from {least} to {most}")
        return value

    def number(self, name: str, least: int, most: int, *, is_open: bool = False) -> float | None:
        """Return a field that must be a number within bounds.

        Args:
            name: the field.
            least: the lower bound; itself out of range where ``is_open``.
            most: the upper bound.
            is_open: the lower bound is no value.
        """
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise wrong_kind(self.place(name), "a number", value)
        if not least <= value <= most or (is_open and not float(value) > least):
            raise self._out_of_range(name, f"{'above' if is_open else 'from'} {least} to {most}")
        return float(value)

    def fields(self, name: str) -> Fields | None:
        """Return a field that must be an object."""
        value = self.value(name)
        return None if value is None else Fields.of(value, self.place(name))

    def items(self, name: str) -> list[JsonValue] | None:
        """Return a field that must be an array."""
        value = self.value(name)
        if value is not None and not isinstance(value, list):
            raise wrong_kind(self.place(name), "an array", value)
        return value

    def missing(self, name: str) -> RequestRefused:
        """Return the refusal of a request without a field that it needs."""
        place = self.place(name)
        return bad_request(f"{place} is missing", param=place, code="missing_required_parameter")

    def _out_of_range(self, name: str, wanted: str) -> RequestRefused:
        place = self.place(name)
        return bad_request(f"{place} must lie in the range {wanted}", param=place)


def wrong_kind(place: str, wanted: str, found: JsonValue) -> RequestRefused:
    """Return the refusal of a value of another kind than ``wanted``."""
    return bad_request(f"{place} must be {wanted}, found {_kind(found)}", param=place, code="invalid_type")


def _kind(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float() | Decimal():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"


__all__ = ["Fields", "wrong_kind"]
