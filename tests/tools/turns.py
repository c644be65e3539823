"""Tools and small programs that the tests of tools share."""

from collections.abc import Sequence

from commitgate.backends.base import Event, Fault, Finish, FinishReason, StreamEvent, TextDelta, ToolDelta
from commitgate.contract import Contract
from commitgate.tools import ToolSet, tool
from commitgate.tools.joining import TurnJoining
from commitgate.tools.turn_language import TurnLanguage

STOP = Finish(FinishReason.STOP, "tool_calls")


@tool(effect="once")
def pay(amount: int, to: str = "me") -> str:
    """Pay an amount."""
    return f"paid {amount} to {to}"


@tool(effect="read")
def look_up(name: str) -> str:
    """Look up a person."""
    return name


def language(*, most_calls: int = 8, must_call: bool = False) -> TurnLanguage:
    answer = None if must_call else Contract[object].of(str)
    return TurnLanguage(ToolSet.of([pay, look_up]), answer=answer, most_calls=most_calls)


def join(events: Sequence[StreamEvent], *, given: TurnLanguage | None = None, most_bytes: int = 100_000) -> list[Event]:
    joining = TurnJoining((given or language()).offer, most_bytes=most_bytes)
    return [joined for event in events for joined in joining.feed(event)]


def text_of(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, TextDelta))


def fault_of(events: Sequence[Event]) -> str | None:
    return next((event.code for event in events if isinstance(event, Fault)), None)


def call(index: int, arguments: str | bytes = "", *, name: str | None = None, id: str | None = None) -> ToolDelta:
    data = arguments.encode() if isinstance(arguments, str) else arguments
    return ToolDelta(index, id, name, data)
