"""Send recorded events through the whole way of reading, and say what came out, for tests of dialects."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from commitgate.backends.base import (
    ConnectionLost,
    Fault,
    Finish,
    Notice,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Dialect, Expected
from commitgate.backends.wire.response import ResponseReader

EVENTS = {"content-type": "text/event-stream; charset=utf-8"}
JSON = {"content-type": "application/json"}


@dataclass
class Answer:
    """What an answer said.

    Attributes:
        ends: finishes, faults, notices and lost connections, in their order.
        calls: id, name and arguments of each call, by its number.
    """

    text: bytes = b""
    prose: bytes = b""
    reasoning: bytes = b""
    refusal: str = ""
    usage: Usage | None = None
    ends: list[StreamEvent] = field(default_factory=list)
    calls: dict[int, tuple[str | None, str | None, bytes]] = field(default_factory=dict)
    native: str | None = None
    is_terminal: bool = False

    def take(self, event: StreamEvent) -> None:
        match event:
            case TextDelta():
                self.text += event.data
            case ProseDelta():
                self.prose += event.data
            case ReasoningDelta():
                self.reasoning += event.data
            case RefusalDelta():
                self.refusal += event.text
            case Usage():
                self.usage = event
            case ToolDelta():
                id, name, arguments = self.calls.get(event.index, (None, None, b""))
                self.calls[event.index] = (event.id or id, event.name or name, arguments + event.arguments)
            case Finish() | Fault() | Notice() | ConnectionLost():
                self.ends.append(event)
            case _:
                pass


def event(value: Any, *, is_named: bool = True) -> bytes:
    """Return one event of a stream."""
    head = f"event: {value['type']}\n" if is_named and "type" in value else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def read(
    dialect: Dialect,
    body: bytes,
    *,
    headers: Any = None,
    is_clean: bool = True,
    cuts: Iterable[int] = (),
    **expected: Any,
) -> Answer:
    """Return what a body says."""
    reader = dialect.reader(Expected(**expected))
    response = ResponseReader(reader, 200, headers or EVENTS, "sse", 0.0)
    found = Answer()
    at = [0, *sorted(cuts), len(body)]
    for start, stop in pairwise(at):
        for each in response.feed(body[start:stop]):
            found.take(each)
    for each in response.end(is_clean=is_clean):
        found.take(each)
    found.native, found.is_terminal = reader.finish_native, reader.is_terminal
    return found
