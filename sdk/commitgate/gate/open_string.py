"""Find the string in which the start of a JSON text ends."""

from __future__ import annotations

import re

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?P<rest>"|\\?\Z)', re.DOTALL)


def open_string(text: bytes) -> int | None:
    """Return the offset of the opening quote of the string that is still open at the end; None where none is.

    Args:
        text: the start of a JSON text.
    """
    return next((token.start() for token in _STRING.finditer(text) if token["rest"] != b'"'), None)


__all__ = ["open_string"]
