"""Follow a JSON text while it grows: how far it may be shown, and the moments at which it was."""

from __future__ import annotations

from commitgate.preview.atomic import Places
from commitgate.preview.document import Document, Moment
from commitgate.preview.lexer import Lexer
from commitgate.preview.state import ReaderState


class JsonGrowth:
    """Follow one JSON text.

    Args:
        places: says which strings are held until they are closed; None where none is.
        max_depth: most containers inside each other, at least 1.
    """

    __slots__ = ("_document", "_is_root_held", "_lexer")

    def __init__(self, places: Places | None, max_depth: int) -> None:
        self._lexer = Lexer(max_depth)
        self._document = Document(self._lexer.text, places)
        self._is_root_held = places is not None and places.is_atomic

    @property
    def state(self) -> ReaderState:
        """Return where the text stands while more may come."""
        return self._lexer.state

    @property
    def position(self) -> int:
        """Return how many bytes were passed; where the text is invalid, the offset of the first impossible byte."""
        return self._lexer.position

    def feed(self, data: bytes) -> None:
        """Take in more of the text; nothing once it is invalid."""
        if self._lexer.fault is None:
            self._lexer.feed(data)

    def finish(self) -> None:
        """Take in the end of the text."""
        self._lexer.finish()

    def moment(self) -> Moment:
        """Return what there is to show now."""
        lexer, open_text = self._lexer, self._lexer.open_text
        is_held = self._is_root_held and not lexer.is_nested and open_text is not None
        return Moment(self._document, lexer.tokens_to, open_text, has_value=lexer.has_root and not is_held)


__all__ = ["JsonGrowth"]
