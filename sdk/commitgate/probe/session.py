"""Send the requests of probes, within bounds of time and number, and read what comes back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

import anyio

from commitgate.backends.base import (
    ConnectionLost,
    EventStream,
    Fault,
    Finish,
    GenerationRequest,
    ProseDelta,
    RefusalDelta,
    Sampling,
    SentEvent,
    TextDelta,
    ToolDelta,
    Usage,
    WaitExpired,
)
from commitgate.backends.dialect import Answer, Dialect, Outgoing, ServerIdentity, UnwritableError
from commitgate.errors import ContractError
from commitgate.probe.judge import FATAL_FAULTS, fault_words
from commitgate.probe.question import Draw, Question, Reply
from commitgate.probe.result import Cost
from commitgate.reasoning import Reasoning
from commitgate.timeouts import Timeouts

MAX_ANSWER_BYTES = 65_536
"""Most bytes of one answer that a probe reads."""

MOST_FAILURES = 3
"""Most failures in a row, of whatever kind, before nothing more is asked."""


class Probed(Protocol):
    """Be a backend that can be probed, as ``RemoteBackend`` is."""

    @property
    def name(self) -> str:
        """Return the backend's name."""
        ...

    @property
    def dialect(self) -> Dialect:
        """Return what it speaks."""
        ...

    @property
    def base_url(self) -> str:
        """Return where the server is."""
        ...

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt."""
        ...

    async def handshake(self, model: str) -> ServerIdentity:
        """Return what the server says of itself."""
        ...

    async def exchange(self, outgoing: Outgoing, *, timeout_s: float = ...) -> Answer:
        """Make one request that is no generation."""
        ...


@dataclass
class _Reading:
    """Collect the events of one answer."""

    text: bytearray = field(default_factory=bytearray)
    arguments: bytearray | None = None
    reply: Reply = field(default_factory=Reply)

    def take(self, event: SentEvent) -> bool:
        """Take one event; return whether enough was read."""
        match event:
            case TextDelta(data=data) | ProseDelta(data=data):
                self.text += data
            case ToolDelta(index=0, arguments=data):
                self.arguments = (self.arguments or bytearray()) + data
            case RefusalDelta():
                self.reply = replace(self.reply, is_refused=True)
            case Usage(input_tokens=into, output_tokens=out):
                self.reply = replace(self.reply, input_tokens=into, output_tokens=out)
            case Finish():
                self.reply = replace(self.reply, finish=event)
            case Fault():
                self.reply = replace(self.reply, fault=event)
            case ConnectionLost() if self.reply.finish is None:
                lost = Fault("protocol", "the line broke")
                self.reply = replace(self.reply, fault=lost)
            case _:
                pass
        return len(self.text) + len(self.arguments or b"") > MAX_ANSWER_BYTES

    def read(self) -> Reply:
        """Return what was read so far."""
        arguments = None if self.arguments is None else bytes(self.arguments)
        return replace(self.reply, text=bytes(self.text[:MAX_ANSWER_BYTES]), arguments=arguments)


class Session:
    """Ask one server's model, and count what that takes.

    Args:
        backend: what is probed.
        model: the model's name there.
        draw: gives chance.
        key: makes a fresh idempotency key.
        timeout_s: most seconds for one request.
        most_requests: most requests of all together.
        reasoning: how the model may think before each answer; None where it answers at once.

    Attributes:
        backend: what is probed.
        model: the model's name there.
        draw: gives chance.
        timeout_s: most seconds for one request.
        ended: why nothing more is asked; empty while there may be more.
    """

    def __init__(
        self,
        backend: Probed,
        model: str,
        *,
        draw: Draw,
        key: Callable[[], str],
        timeout_s: float,
        most_requests: int,
        reasoning: Reasoning | None,
    ) -> None:
        self.backend = backend
        self.model = model
        self.draw = draw
        self.ended = ""
        self._key = key
        self.timeout_s = timeout_s
        self._most_requests = most_requests
        self._reasoning = reasoning
        self._requests = 0
        self._failures = 0
        self._tokens: list[tuple[int | None, int | None]] = []

    @property
    def requests(self) -> int:
        """Return how many requests were sent."""
        return self._requests

    def cost(self, time_s: float) -> Cost:
        """Return what it took so far."""
        into = [count for count, _ in self._tokens if count is not None]
        out = [count for _, count in self._tokens if count is not None]
        return Cost(
            requests=self._requests,
            input_tokens=sum(into) if into else None,
            output_tokens=sum(out) if out else None,
            time_s=time_s,
        )

    def request(self, question: Question) -> GenerationRequest:
        """Return the request of a question."""
        return GenerationRequest(
            model=self.model,
            contract=question.translation.sent,
            messages=question.messages,
            sampling=Sampling(max_tokens=question.max_tokens),
            idempotency_key=self._key(),
            timeouts=Timeouts(pool_s=self.timeout_s, connect_s=min(30.0, self.timeout_s)),
            tools=question.tools,
            reasoning=self._reasoning,
            translation=question.translation,
        )

    def new_key(self) -> str:
        """Return a fresh idempotency key."""
        return self._key()

    def count(self) -> bool:
        """Count one request, where there may be one more; return whether there may."""
        if self._requests >= self._most_requests and not self.ended:
            self.ended = f"{self._most_requests} requests were sent, and no more may be"
        if self.ended:
            return False
        self._requests += 1
        return True

    async def ask(self, question: Question) -> Reply | None:
        """Send a question and return the answer; None where nothing more may be asked."""
        if not self.count():
            return None
        reading = _Reading()
        with anyio.move_on_after(self.timeout_s) as scope:
            await self._read(self.request(question), reading)
        reply = reading.read()
        if scope.cancelled_caught:
            reply = replace(reply, is_late=True)
        self._note(reply)
        return reply

    async def _read(self, request: GenerationRequest, reading: _Reading) -> None:
        try:
            async with self.backend.open(request) as stream:
                async for event in stream:
                    if reading.take(event):
                        break
        except (ContractError, UnwritableError):
            self._requests -= 1
            reading.reply = Reply(is_unasked=True)
        except WaitExpired:
            reading.reply = replace(reading.reply, is_late=True)

    def _note(self, reply: Reply) -> None:
        self._tokens.append((reply.input_tokens, reply.output_tokens))
        fault = reply.fault
        if fault is not None and fault.kind in FATAL_FAULTS:
            self.ended = f"the server cannot be asked: {fault.message}"
        is_failure = reply.is_late or (fault is not None and fault.kind not in ("constraint", "bad_request"))
        self._failures = self._failures + 1 if is_failure else 0
        if self._failures >= MOST_FAILURES and not self.ended:
            last = "the time for it ran out" if fault is None else fault_words(fault)
            self.ended = f"{self._failures} requests in a row failed, the last one so: {last}"

    async def exchange(self, outgoing: Outgoing) -> Answer | None:
        """Make one request that is no stream; None where no more may be sent."""
        if not self.count():
            return None
        return await self.backend.exchange(outgoing, timeout_s=self.timeout_s)


__all__ = ["MAX_ANSWER_BYTES", "MOST_FAILURES", "Probed", "Session"]
