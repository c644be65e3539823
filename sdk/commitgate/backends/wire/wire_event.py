"""Hold one event of a stream, as its framing gives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.json_value import JsonObject

Framing: TypeAlias = Literal["sse", "ndjson", "json"]
"""How a body is cut into events: server-sent events, one JSON object a line, or JSON as it stands."""


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


__all__ = ["Framing", "WireEvent", "WireFaultError"]
