"""Define what a run shows while it lasts: previews, and the word that they are to be dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from commitgate.json_value import JsonValue
from commitgate.preview.document import Moment
from commitgate.preview.state import ReaderState
from commitgate.preview.text_growth import TextMoment


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Preview:
    """Show the value as far as it had come at one moment. For display: act on an outcome's value alone.

    A later preview of the same reader only ever adds to an earlier one: text grows at its end, items and members are
    added after the last, and what ``final_paths`` names stays as it is. What a preview shows never changes.

    Attributes:
        state: where the reader stood.
        text_bytes: bytes of the text passed until then.
        moment: what there was to show; for the parts of this package that read it in their own way.
        legal_mass: probability in [0, 1] that the unconstrained model gave to legal tokens at the last step; None
            where it is not known.
        attempt: number of the request that it belongs to, from 1; a ``Reset`` stands before the first of another one.
    """

    state: ReaderState
    text_bytes: int
    moment: Moment | TextMoment = field(repr=False)
    legal_mass: float | None = None
    attempt: int = 1

    @property
    def has_value(self) -> bool:
        """Return whether there is something to show; tells nothing yet from a JSON null."""
        return self.moment.has_value

    @property
    def value(self) -> JsonValue:
        """Return what is to be shown; None where there is nothing.

        Lists and dictionaries are read-only, and shared between previews: ``copy.deepcopy`` gives ones that may be
        changed. Integers are exact, other numbers are ``Decimal``. A number, a literal and a string held until it is
        closed are absent until they are whole; so are keys without a value to show. Of a contract whose answer is no
        JSON it is the text so far, in whole characters.

        The value comes into being when it is first read. That takes time for the text since the last preview that was
        read, and for copying the references that the open containers hold.
        """
        return self.moment.value()

    @property
    def final_paths(self) -> frozenset[str]:
        """Return the JSON pointers (RFC 6901, ``""`` for the root) of shown values that cannot change any more."""
        return frozenset(self.moment.final_paths())

    def noted(self, *, attempt: int, legal_mass: float | None) -> Preview:
        """Return the same preview with what its call knows of it."""
        if attempt == self.attempt and legal_mass is self.legal_mass:
            return self
        return replace(self, attempt=attempt, legal_mass=legal_mass)


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
