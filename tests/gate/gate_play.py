"""Play events through a gate, in any chunking, and build the gate of a schema."""

from collections.abc import Iterable

from commitgate.automaton import compile
from commitgate.backends.base import Event, TextDelta
from commitgate.gate.gate import Gate
from commitgate.gate.states import State
from commitgate.gate.verdict import Verdict

PAY = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
    "required": ["amount", "to"],
    "additionalProperties": False,
}
PAYMENT = b'{"amount":100,"to":"bob"}'


def gate_of(schema: object = PAY, *, text_bytes: int = 1_000_000) -> Gate:
    return Gate(
        compile(schema).acceptor(),
        json_acceptor=lambda: compile(True).acceptor(),
        text_bytes=text_bytes,
        key_bytes=16_384,
    )


def chunked(events: Iterable[Event], size: int | None) -> list[Event]:
    """Cut the text of events into pieces of ``size`` bytes; None leaves it whole."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, TextDelta) and size is not None:
            found += [TextDelta(event.data[at : at + size]) for at in range(0, len(event.data), size)]
        else:
            found.append(event)
    return found


def play(events: Iterable[Event], gate: Gate | None = None) -> tuple[Verdict, bytes]:
    """Feed all events and the end; return the verdict and what was passed on for display."""
    gate = gate or gate_of()
    shown = b""
    for event in events:
        if gate.state is State.ENDED:
            break
        shown += gate.feed(event)
    if gate.state is not State.ENDED:
        gate.close()
    assert gate.verdict is not None
    return gate.verdict, shown
