"""Turn whole JSON tokens into flat events: the one module that knows ijson.

What ijson is used for, and what it is kept from, with ijson 3.6.0 and its C backend:

- It gives no offset with its errors, reads ``01`` as 0 before it fails, and reads a lone surrogate as ``?``. So the
  lexer judges every byte before ijson sees it, and ijson never has anything to refuse.
- It shows nothing of an open string, and reads a string that comes in pieces again from its start with each piece
  (400 KB in pieces of 8 bytes: 9.7 s). So it is given whole tokens alone.
- On close it takes a cut number for a whole one. So it is never closed before the root is.
- An integer of more digits than Python converts ends in ``SystemError``. So the lexer bounds numbers first.
- Its ``parse`` and ``items`` hold memory in the square of the depth. So ``basic_parse`` is used: flat events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, cast

import ijson  # pyright: ignore[reportMissingTypeStubs] - it has none; the names used get types below

from commitgate.json_value import JsonScalar

Event: TypeAlias = tuple[str, JsonScalar]
"""Name and value: ``start_map``, ``map_key``, ``end_map``, ``start_array``, ``end_array``, or a kind of scalar."""


class _PushParser(Protocol):
    def send(self, data: bytes, /) -> object: ...
    def close(self) -> object: ...


class EventSink(Protocol):
    """Stand for whoever takes events, each as soon as it is read."""

    def send(self, event: Event, /) -> object:
        """Take an event."""
        ...


class EventSource:
    """Push whole tokens in, and events into a sink. Integers are exact; other numbers are ``Decimal``."""

    __slots__ = ("_parser",)

    def __init__(self, sink: EventSink) -> None:
        new_parser = cast("Callable[..., _PushParser]", ijson.basic_parse_coro)
        self._parser = new_parser(sink, use_float=False)

    def feed(self, tokens: bytes) -> None:
        """Send the events of whole tokens."""
        self._parser.send(tokens)
        # The space ends the last token for any backend of ijson: some wait for the byte that follows.
        self._parser.send(b" ")

    def __del__(self) -> None:
        # A text may be dropped half-way. The pure-Python backend is made of generators, which would complain on
        # standard error that it is incomplete; nobody reads the sink any more.
        try:
            self._parser.close()
        except ijson.JSONError:
            return


__all__ = ["Event", "EventSink", "EventSource"]
