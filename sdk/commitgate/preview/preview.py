"""Define what a run shows while it lasts: previews, and the word that they are to be dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from commitgate.json_value import JsonValue
from commitgate.preview.state import ReaderState
from commitgate.preview.tree import Container, final_paths_at, value_at


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Preview:
    """Show the value as far as it had come at one moment. For display: act on an outcome's value alone.

    A later preview of the same reader only ever adds to an earlier one: text grows at its end, items and members are
    added after the last, and what ``final_paths`` names stays as it is. What a preview shows never changes.

    Attributes:
        state: where the reader stood.
        text_bytes: bytes of the text passed until then.
        legal_mass: probability in [0, 1] that the unconstrained model gave to legal tokens at the last step; None
            where it is not known.
    """

    state: ReaderState
    text_bytes: int
    legal_mass: float | None = None
    _document: Container = field(repr=False)
    _moment: int = field(repr=False)

    @property
    def has_value(self) -> bool:
        """Return whether there is something to show; tells nothing yet from a JSON null."""
        return self._document.count_at(self._moment) > 0

    @property
    def value(self) -> JsonValue:
        """Return what is to be shown, built anew with each read; None where there is nothing.

        Integers are exact, other numbers are ``Decimal``. A number, a literal and a string held until it is closed
        are absent until they are whole; so are keys without a value to show.
        """
        shown = value_at(self._document, self._moment)
        return shown[0] if shown else None

    @property
    def final_paths(self) -> frozenset[str]:
        """Return the JSON pointers (RFC 6901, ``""`` for the root) of shown values that cannot change any more."""
        return frozenset(final_paths_at(self._document, self._moment))

    def with_legal_mass(self, legal_mass: float | None) -> Preview:
        """Return the same preview with a legal mass attached."""
        return replace(self, legal_mass=legal_mass)


@dataclass(frozen=True, slots=True)
class Reset:
    """Say that all previews so far belong to a dropped attempt: a new one begins from nothing.

    Attributes:
        attempt: number of the attempt that begins, counted from 1.
        reason: short stable name of what ended the last one.
    """

    attempt: int
    reason: str


__all__ = ["Preview", "Reset"]
