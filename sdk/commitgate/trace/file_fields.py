"""Read the fields of an object that stands in a file, and say where one is not what it must be."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, TypeVar, overload

from commitgate.errors import TraceError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child

T = TypeVar("T")

MAX_NUMBER = 2**53
"""Above every number of a trace, whether it counts tokens or seconds: what lies above is no trace."""


@dataclass(frozen=True, slots=True)
class Place:
    """Stand at one value of a file.

    Attributes:
        value: it.
        pointer: JSON pointer of it in the file.
    """

    value: JsonValue = field(repr=False)
    pointer: str = ""

    def wrong(self, wanted: str) -> TraceError:
        """Return the error that says what was wanted here, and what sort of thing was found."""
        where = self.pointer or "its root"
        return TraceError(f"the trace has at {where} {_kind(self.value)}, wanted {wanted}", pointer=self.pointer)

    def fields(self) -> Fields:
        """Return the object that stands here."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return Fields(self.value, self.pointer)

    def items(self) -> Iterator[Place]:
        """Yield the items of the list that stands here."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        for index, item in enumerate(self.value):
            yield Place(item, child(self.pointer, index))

    def text(self) -> str:
        """Return the text that stands here."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def flag(self) -> bool:
        """Return the true or false that stands here."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def count(self) -> int:
        """Return the whole number, at least 0, that stands here."""
        found = self.value
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < MAX_NUMBER:
            raise self.wrong("a whole number of at least 0")
        return found

    def amount(self) -> float:
        """Return the number, at least 0, that stands here."""
        found = self.value
        if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
            raise self.wrong("a number")
        if not 0 <= found < MAX_NUMBER:
            raise self.wrong("a number of at least 0")
        return float(found)

    def share(self) -> float:
        """Return the probability that stands here."""
        found = self.amount()
        if found > 1.000001:
            raise self.wrong("a number from 0 to 1")
        return found

    def data(self) -> bytes:
        """Return the bytes that stand here in base64."""
        try:
            return b64decode(self.text(), validate=True)
        except ValueError:
            raise self.wrong("bytes in base64") from None

    def word(self, words: tuple[T, ...]) -> T:
        """Return the one of these words that stands here."""
        for each in words:
            if self.value == each:
                return each
        raise self.wrong("one of " + ", ".join(map(str, words)))


@dataclass(frozen=True, slots=True)
class Fields:
    """Read the fields of one object. A field that is not there is as one that is null."""

    found: JsonObject = field(repr=False)
    pointer: str

    def at(self, name: str) -> Place:
        """Return the value of a field; of one that is not there, null."""
        return Place(self.found.get(name), child(self.pointer, name))

    @overload
    def maybe(self, name: str, read: Callable[[Place], T]) -> T | None: ...

    @overload
    def maybe(self, name: str, read: Callable[[Place], T], default: T) -> T: ...

    def maybe(self, name: str, read: Callable[[Place], T], default: T | None = None) -> T | None:
        """Return what a field holds, read so; the default where it is null or not there."""
        place = self.at(name)
        return default if place.value is None else read(place)

    def each(self, name: str, read: Callable[[Place], T]) -> tuple[T, ...]:
        """Return what the items of a field's list are, read so; nothing where it is null or not there."""
        place = self.at(name)
        return () if place.value is None else tuple(read(item) for item in place.items())


_Kind = Literal["null", "true or false", "a number", "a text", "a list", "an object"]


def _kind(value: JsonValue) -> _Kind:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"


__all__ = ["MAX_NUMBER", "Fields", "Place"]
