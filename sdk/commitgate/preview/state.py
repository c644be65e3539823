"""Name the states of a reader, and with them every reason for which a text is refused."""

from __future__ import annotations

from enum import StrEnum


class ReaderState(StrEnum):
    """Say where a reader stands. The words in the first column of values are stable.

    ``ACCEPT`` says that the bytes so far are a whole JSON text. It is a state and no proof of the end: more bytes can
    leave it. The ``INVALID_`` states are never left.
    """

    OPEN = "open"
    ACCEPT = "accept"
    ACCEPT_IF_EOF = "accept_if_eof"
    """A number at the root: whole if the text ends here, another number if a digit follows."""
    INCOMPLETE = "incomplete"
    """The text ended before the value did."""

    INVALID_BOM = "invalid:bom"
    INVALID_CONTROL_CHAR = "invalid:control_char"
    INVALID_DEPTH = "invalid:depth"
    INVALID_DUPLICATE_KEY = "invalid:duplicate_key"
    INVALID_ESCAPE = "invalid:escape"
    INVALID_LITERAL = "invalid:literal"
    INVALID_LONE_SURROGATE = "invalid:lone_surrogate"
    INVALID_NUMBER = "invalid:number"
    INVALID_NUMBER_SIZE = "invalid:number_size"
    INVALID_SYNTAX = "invalid:syntax"
    INVALID_TRAILING_DATA = "invalid:trailing_data"
    INVALID_UTF8 = "invalid:utf8"

    @property
    def is_invalid(self) -> bool:
        """Return whether the text can no longer become JSON."""
        return self.value.startswith("invalid:")


__all__ = ["ReaderState"]
