"""Define who may watch calls: what is told when, and that no text is told unless it is asked for.

An observer is told when a call begins, when its contract is built, when requests begin and end, and how the call ended.
What it is told is payload-free: names, digests, counts and times. A prompt, an answer and a value are handed over only
where the observer says, for that contract, that it wants them.

Every method is called in the task of the call and must return quickly: a context variable that ``call_began`` sets is
seen by everything in the call, its effect included. An observer that raises is left out for the rest of the call and
named in a log line; the call goes on as if it were not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from commitgate.backends.base import Message, Sampling, SentEvent
    from commitgate.contract import Contract
    from commitgate.outcome import Outcome, Receipt, TryRecord
    from commitgate.preview import Preview, Reset

CallKind: TypeAlias = Literal["generate", "tool", "stored"]
"""``generate``: a model is asked. ``tool``: the arguments of a tool's call are judged and the tool is run. ``stored``:
a value that is there already is gone on with: what a person allowed, or the answer of a run of tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBegan:
    """Tell that a call begins.

    Attributes:
        call_id: names this call among all calls; random.
        kind: what sort of call.
        backend: the backend's name; None where no model is asked.
        model: the model's name at the backend, as asked for.
        sampling: how tokens are to be drawn.
        effect: name of what a committed value sets off; None for nothing.
        tool: name of the tool that is run; None where none is.
        has_key: it has an operation key.
    """

    call_id: str
    kind: CallKind
    backend: str | None
    model: str
    sampling: Sampling
    effect: str | None = None
    tool: str | None = None
    has_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBegan:
    """Tell that a request goes out.

    Attributes:
        number: of the request within its call, from 1.
        waited_s: seconds of the wait before it.
        at_s: seconds since the call began.
        messages: what is sent; None unless content is wanted.
    """

    number: int
    waited_s: float
    at_s: float
    messages: tuple[Message, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """Tell how a call ended.

    Attributes:
        name: of its outcome; None where it raised.
        detail: the outcome's own kind, phase or layer; None where it has none.
        receipt: how it went; None where it raised.
        is_replayed: the ledger knew the value already.
        error: name of the type of what it raised; None where it has an outcome.
        ledger_state: where the call left the row of its key; None without a key, or where that is not known.
        at_s: seconds since it began.
        outcome: the whole outcome, its texts and value among it; None unless content is wanted.
    """

    name: str | None
    detail: str | None
    receipt: Receipt | None
    is_replayed: bool = False
    error: str | None = None
    ledger_state: str | None = None
    at_s: float
    outcome: Outcome[object, object] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wants:
    """Say what an observer wants to be told beside what is payload-free.

    Attributes:
        content: messages and outcomes.
        events: every event of the stream as the backend sent it, which costs next to nothing.
        steps: every event of the stream, previews, and of backends that decode by themselves each step; that makes
            every token slower, since the model's choices are looked at.
    """

    content: bool = False
    events: bool = False
    steps: bool = False


NOTHING_MORE = Wants()
"""What is payload-free, and nothing beside it."""


class CallObserver(Protocol):
    """Watch one call. Its methods are called in this order, each as often as it happens."""

    def contract_built(self, contract: Contract[object]) -> Wants:
        """Take the contract, and say what is wanted of this call beside what is payload-free."""
        ...

    def request_began(self, request: RequestBegan) -> None:
        """Take note that a request goes out."""
        ...

    def event(self, event: SentEvent, at_s: float) -> None:
        """Take what a backend sent; only where events or steps are wanted.

        Args:
            event: it.
            at_s: seconds since the call began.
        """
        ...

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Take what is shown after the event; only where steps are wanted."""
        ...

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        """Take note how the request ended.

        Args:
            record: the request.
            receipt: of the call as it stands now; its times and legal mass are those of this request.
        """
        ...

    def ended(self, end: CallEnded) -> None:
        """Take note how the call ended. Nothing follows."""
        ...


class Observer(Protocol):
    """Watch calls. One observer may watch many calls at once, each through an object of its own."""

    def call_began(self, call: CallBegan) -> CallObserver:
        """Return who watches this call. Called in the call's task, before anything else of it."""
        ...


__all__ = [
    "NOTHING_MORE",
    "CallBegan",
    "CallEnded",
    "CallKind",
    "CallObserver",
    "Observer",
    "RequestBegan",
    "Wants",
]
