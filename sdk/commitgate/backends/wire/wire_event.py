"""Hold one event of a stream, as its framing gives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

from commitgate.json_value import JsonObject

Framing: TypeAlias = Literal["sse", "ndjson", "json"]
"""How a body is cut into events: server-sent events, one JSON object a line, or JSON as it stands."""

MAX_EVENT_BYTES = 1_048_576
"""Most bytes of one event, with its field names, and of one line; no server's event comes near."""


class RawEvent(NamedTuple):
    """Hold what stands between two marks of a framing. A tuple, because one is made for every token.

    Attributes:
        data: its data, undecoded.
        name: its ``event:`` field; empty where the framing has none.
        is_ended: its own end was read; False where only the end of the body ended it.
    """

    data: bytes
    name: str = ""
    is_ended: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WireEvent:
    """Hold one event.

    Attributes:
        name: its ``event:`` field; empty where the framing has none.
        data: its data as it came, strict UTF-8; what is cut out of it is byte for byte the server's.
        value: its JSON object; None where the data is the end marker ``[DONE]``.
    """

    name: str = ""
    data: bytes = field(repr=False)
    value: JsonObject | None = field(repr=False)


class WireFaultError(Exception):
    """Raised by decoders and readers of this package where bytes are not the format; becomes a ``protocol`` fault.

    Attributes:
        code: short stable name.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Decoder(Protocol):
    """Cut a body into events, piece by piece; any cut gives the same events as no cut.

    Attributes:
        fault: why the body cannot be read on; what comes after it is dropped.
    """

    fault: WireFaultError | None

    @property
    def is_whole(self) -> bool:
        """Say that the body may end here: no event was begun and not ended."""
        ...

    @property
    def stray(self) -> bytes:
        """Return the last text that belongs to no event."""
        ...

    def feed(self, data: bytes) -> list[RawEvent]:
        """Return the events that end in ``data``."""
        ...

    def finish(self) -> list[RawEvent]:
        """Return what a clean end of the body ends: an event without its own end."""
        ...


__all__ = ["MAX_EVENT_BYTES", "Decoder", "Framing", "RawEvent", "WireEvent", "WireFaultError"]
