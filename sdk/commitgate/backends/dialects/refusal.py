"""Join the pieces of a refusal into text that can be kept and shown, whatever halves of characters they end in."""

from __future__ import annotations


class RefusalJoiner:
    """Turn pieces that came out of JSON strings into text without lone halves of surrogate pairs.

    A refusal is shown and never judged: a half that stays without its other becomes U+FFFD.
    """

    __slots__ = ("_high",)

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> str:
        """Return the text that a piece adds; a first half at its end waits for the next piece."""
        text = self._high + text
        self._high = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        text = text.removesuffix(self._high) if self._high else text
        if text.isascii():
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


__all__ = ["RefusalJoiner"]
