"""Follow a text that is no JSON while it grows: its whole characters may be shown, and none is final before its end.

Only the end tells that a text is whole: what a grammar takes may go on after any character. So the state of every text
that is not cut inside a character is the one of a JSON number at the root: whole if the text ends here.

Source: RFC 3629 section 4 (well-formed UTF-8).
"""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.preview.characters import CHARACTERS, utf8_fault
from commitgate.preview.state import ReaderState


class TextGrowth:
    """Follow one text.

    Args:
        is_held: show nothing of it before its end.
    """

    __slots__ = ("_document", "_fault", "_is_finished", "_is_held", "position")

    def __init__(self, *, is_held: bool) -> None:
        self._document = TextDocument()
        self._is_held = is_held
        self._is_finished = False
        self._fault: ReaderState | None = None
        self.position = 0

    @property
    def state(self) -> ReaderState:
        """Return where the text stands."""
        if self._fault is not None:
            return self._fault
        if self._document.whole_to < self.position:
            return ReaderState.OPEN
        return ReaderState.ACCEPT if self._is_finished else ReaderState.ACCEPT_IF_EOF

    def feed(self, data: bytes) -> None:
        """Take in more of the text; nothing once it is invalid."""
        if self._fault is None:
            self.position, self._fault = self._document.feed(data)

    def finish(self) -> None:
        """Take in the end of the text."""
        self._is_finished = True

    def moment(self) -> TextMoment:
        """Return what there is to show now."""
        is_whole = self.state is ReaderState.ACCEPT
        has_value = is_whole or (self._document.whole_to > 0 and not self._is_held)
        return TextMoment(self._document, self._document.whole_to, has_value=has_value, is_whole=is_whole)


class TextDocument:
    """Keep a text that only grows, and the characters that were read last.

    Attributes:
        whole_to: offset behind its last whole character.
    """

    __slots__ = ("_read", "_read_to", "_text", "whole_to")

    def __init__(self) -> None:
        self._text = bytearray()
        self._read, self._read_to = "", 0
        self.whole_to = 0

    def feed(self, data: bytes) -> tuple[int, ReaderState | None]:
        """Take in more of the text.

        Returns:
            How many bytes passed, and the reason why no more did, if any.
        """
        self._text += data
        # From the last whole character on: a cut one is walked again when more of it has come.
        found = CHARACTERS.match(self._text, self.whole_to)
        assert found is not None, "the pattern matches the empty text too"
        self.whole_to = found.end()
        fault = utf8_fault(self._text, self.whole_to) if self.whole_to < len(self._text) else None
        return (len(self._text), None) if fault is None else fault

    def read(self, end: int) -> str:
        """Return the characters up to an offset; only those behind the ones read last are decoded."""
        if end < self._read_to:
            return self._text[:end].decode()
        self._read += self._text[self._read_to : end].decode()
        self._read_to = end
        return self._read


class TextMoment:
    """Stand for what there was to show of a text at one moment, and keep it once it was read.

    Args:
        document: the text.
        end: offset behind its last whole character.
        has_value: there is something to show.
        is_whole: the text had ended.
    """

    __slots__ = ("_end", "_is_whole", "_value", "document", "has_value")

    def __init__(self, document: TextDocument, end: int, *, has_value: bool, is_whole: bool) -> None:
        self.document = document
        self.has_value = has_value
        self._end = end
        self._is_whole = is_whole
        self._value: str | None = None

    def value(self) -> str | None:
        """Return the characters; None where nothing is shown. The same object with each call."""
        if self._value is None and self.has_value:
            self._value = self.document.read(self._end)
        return self._value

    def open_nodes(self) -> int:
        """Return how many parts were open: the text, or none."""
        return int(self.has_value and not self._is_whole)

    def final_paths(self) -> Iterator[str]:
        """Yield ``""``, which is the whole text, once it cannot change any more."""
        if self._is_whole:
            yield ""


__all__ = ["TextGrowth", "TextMoment"]
