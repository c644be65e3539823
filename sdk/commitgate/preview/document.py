"""Keep a text that only grows, and read values out of it, each as of one moment.

The text itself is all that is kept while it is fed: a moment is a pair of offsets, so taking one copies nothing and
what it shows can never change. Values come into being when a moment is read. Moments read in the order of the text go
on from each other and share their finished parts; an earlier one is read from the text again. One thread may read while
another feeds, because feeding only appends to the text; two threads may not read at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.json_value import JsonValue
from commitgate.pointer import child
from commitgate.preview.atomic import Places
from commitgate.preview.characters import decode_units
from commitgate.preview.events import EventSource
from commitgate.preview.values import ValueBuilder


class Document:
    """Hold the text, and the values read from it last.

    Args:
        text: appended to by the lexer alone.
        places: says which strings are held until they are closed; None where none is.
    """

    __slots__ = ("_places", "_reading", "text")

    def __init__(self, text: bytearray, places: Places | None) -> None:
        self.text = text
        self._places = places
        self._reading = _Reading(text, places)

    def reading_at(self, tokens_to: int, shown_to: int) -> _Reading:
        """Return the values as they were when whole tokens went to one offset, and what was shown to another."""
        # A reading goes on and never back, not even inside one string.
        is_later = (tokens_to, shown_to) >= (self._reading.position, self._reading.shown_to)
        reading = self._reading if is_later else _Reading(self.text, self._places)
        reading.advance(tokens_to, shown_to)
        return reading


class _Reading:
    """Read values out of the whole tokens up to a position.

    Attributes:
        position: offset up to which tokens were read.
        shown_to: offset up to which the text was shown, an open string included.
        builder: has their values.
    """

    __slots__ = ("_events", "_text", "_text_from", "_text_shown", "_text_to", "builder", "position", "shown_to")

    def __init__(self, text: bytearray, places: Places | None) -> None:
        self.position = self.shown_to = 0
        self.builder = ValueBuilder(places)
        self._text = text
        self._events = EventSource(self.builder)
        self._text_from = self._text_to = 0
        self._text_shown = ""

    def advance(self, tokens_to: int, shown_to: int) -> None:
        """Read the tokens up to an offset."""
        self.shown_to = shown_to
        if tokens_to > self.position:
            self._events.feed(bytes(self._text[self.position : tokens_to]))
            self.position = tokens_to

    def open_text(self, start: int, end: int) -> str:
        """Return the text of whole units; of more units of the string read last, only the new ones are decoded."""
        if start != self._text_from:
            self._text_from = self._text_to = start
            self._text_shown = ""
        if end > self._text_to:
            self._text_shown += decode_units(bytes(self._text[self._text_to : end]))
            self._text_to = end
        return self._text_shown


class Moment:
    """Stand for what there was to show at one moment, and keep it once it was read.

    Args:
        document: the text.
        tokens_to: offset behind its last whole token.
        open_text: offsets of the whole units of the string value that was open; None where none was.
        has_value: there is something to show.
    """

    __slots__ = ("_open_nodes", "_open_text", "_value", "document", "has_value", "tokens_to")

    def __init__(
        self, document: Document, tokens_to: int, open_text: tuple[int, int] | None, *, has_value: bool
    ) -> None:
        self.document = document
        self.tokens_to = tokens_to
        self.has_value = has_value
        self._open_text = open_text
        self._open_nodes: int | None = None
        self._value: JsonValue = None

    def value(self) -> JsonValue:
        """Return the value; None where there is none. The same object with each call."""
        if self._open_nodes is None:
            self._read()
        return self._value

    def open_nodes(self) -> int:
        """Return how many parts were open: the root, the last child in it, the last child in that, and so on."""
        self.value()
        return self._open_nodes or 0

    def final_paths(self) -> Iterator[str]:
        """Yield the JSON pointer of every part of the value that could not change any more; ``""`` is its root."""
        if not self.has_value:
            return
        todo, left = [("", self.value(), True)], self.open_nodes()
        while todo:
            pointer, node, is_open = todo.pop()
            is_open = is_open and left > 0
            left -= is_open
            if not is_open:
                yield pointer
            inner: list[tuple[str | int, JsonValue]] = []
            if isinstance(node, dict):
                inner.extend(node.items())
            elif isinstance(node, list):
                inner.extend(enumerate(node))
            last = len(inner) - 1
            for index, (key, part) in enumerate(inner):
                todo.append((child(pointer, key), part, is_open and index == last))

    def _read(self) -> None:
        self._open_nodes = 0
        if self.has_value:
            shown_to = self.tokens_to if self._open_text is None else self._open_text[1]
            reading = self.document.reading_at(self.tokens_to, shown_to)
            text = None
            if self._open_text is not None and not reading.builder.holds_next():
                text = reading.open_text(*self._open_text)
            self._value = reading.builder.snapshot(text)
            self._open_nodes = reading.builder.depth + (text is not None)


__all__ = ["Document", "Moment"]
