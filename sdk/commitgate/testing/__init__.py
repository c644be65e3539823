"""Play scripted streams through the real client, for tests of programs that use this library.

Example::

    script = [{"text": '{"amount":1'}, {"text": "}"}, {"finish": "stop"}]
    async with Client(backends={"scripted": ScriptedBackend(script)}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "scripted", Payment, prompt="pay", effect=pay, operation_key="invoice-7"
        )

Without ``ledger=MemoryLedger()`` a call with an operation key writes into the user's own ledger.

Each step of a script is a dict with one main key:

- ``{"text": str | bytes}``: answer text; beside it ``legal_mass`` (float), ``forced`` (bool), ``tokens`` (int);
- ``{"refusal": str}``: text of a refusal;
- ``{"usage": [input_tokens, output_tokens]}``: counts;
- ``{"finish": word}``: a word of ``FinishReason``; any other word is one that nobody knows; beside it ``native``;
- ``{"fault": kind}``: the provider fails; the kind is ``rate_limit``, ``overload``, ``server``, ``auth``, ``quota``,
  ``bad_request``, ``protocol`` or ``model``; beside it ``message``, ``status``, ``code``, ``retry_after_s``;
- ``{"dead_end": cause}``: no token is legal; the cause is ``schema``, ``tokenizer``, ``prefix`` or
  ``truncation_order``; beside it ``prefix_tokens``, ``explanation``;
- ``{"wait": event}``: wait for an object with an async ``wait()``; None waits until the call gives up;
- ``{"raise": exception}``: the backend breaks; a str stands for a ``RuntimeError`` that says it;
- ``{"close": word}``: the stream ends here, whatever the word; what follows is not played.

A script that was played to its last step ends the stream too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, Protocol, TypeAlias, cast

import anyio

from commitgate.argument import check_kind, check_words
from commitgate.backends.base import (
    BackendIdentity,
    DeadEndCause,
    DeadEndReached,
    Event,
    EventStream,
    Fault,
    FaultKind,
    Finish,
    FinishReason,
    GenerationRequest,
    RefusalDelta,
    TextDelta,
    Usage,
)
from commitgate.testing.script_step import STEPS, check_step
from commitgate.errors import MisuseError
from commitgate.ledger import MemoryLedger

Step: TypeAlias = Mapping[str, object]
Chunking: TypeAlias = Literal["whole", "bytes"] | int | Random

_LONGEST_RANDOM_CHUNK = 8


class _Waitable(Protocol):
    async def wait(self) -> object: ...


class ScriptedBackend:
    """Answer every request with the same script.

    Args:
        script: the steps.
        name: the backend's name in receipts.
        chunking: how text is cut: ``whole`` as written, ``bytes`` one byte at a time, an int that many bytes at a
            time, a ``random.Random`` pieces of 1 to 8 bytes.

    Attributes:
        requests: the requests received, in order.
        open_streams: streams that are open now; 0 after every call, however it ended.

    Raises:
        MisuseError: a step has no main key, more than one, a key that means nothing beside it, or a value that none of
            its kind can have.
    """

    def __init__(self, script: Sequence[Step], *, name: str = "scripted", chunking: Chunking = "whole") -> None:
        check_kind("script", script, Sequence, "a list of steps")
        check_words("name", name)
        for number, step in enumerate(script):
            check_step(f"step {number}", step)
        _check_chunking(chunking)
        self._script = tuple(script)
        self._name = name
        self._chunking: Chunking = chunking
        self.requests: list[GenerationRequest] = []
        self.open_streams = 0

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._name

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start to play the script."""
        return self._open(request)

    async def aclose(self) -> None:
        """Free nothing."""

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        self.requests.append(request)
        self.open_streams += 1
        events = _play(self._script, self._chunking)
        try:
            yield _ScriptedStream(BackendIdentity(backend=self._name, model=request.model), events)
        finally:
            self.open_streams -= 1
            await events.aclose()


@dataclass(frozen=True, slots=True)
class _ScriptedStream:
    identity: BackendIdentity
    events: AsyncIterator[Event]

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events


def _check_chunking(chunking: object) -> None:
    if isinstance(chunking, Random) or (isinstance(chunking, str) and chunking in ("whole", "bytes")):
        return
    if isinstance(chunking, bool) or not isinstance(chunking, int) or chunking < 1:
        raise MisuseError("chunking must be 'whole', 'bytes', an int >= 1 or a random.Random")


async def _play(script: Sequence[Step], chunking: Chunking) -> AsyncGenerator[Event]:
    for step in script:
        if "close" in step:
            return
        if "raise" in step:
            error = cast("BaseException | str", step["raise"])
            raise RuntimeError(error) if isinstance(error, str) else error
        if "wait" in step:
            await _wait(cast("_Waitable | None", step["wait"]))
            continue
        event = _event(step)
        if isinstance(event, TextDelta):
            for piece in _pieces(event.data, chunking):
                yield replace(event, data=piece)
        else:
            yield event


async def _wait(event: _Waitable | None) -> None:
    if event is None:
        await anyio.sleep_forever()
    else:
        await event.wait()


def _event(step: Step) -> Event:
    if "text" in step:
        text = cast("str | bytes", step["text"])
        return TextDelta(
            text.encode() if isinstance(text, str) else text,
            legal_mass=cast("float | None", step.get("legal_mass")),
            is_forced=bool(step.get("forced", False)),
            tokens=cast("int | None", step.get("tokens")),
        )
    if "refusal" in step:
        return RefusalDelta(cast(str, step["refusal"]))
    if "usage" in step:
        return Usage(*cast("Sequence[int]", step["usage"]))
    if "finish" in step:
        return _finish(cast(str, step["finish"]), cast("str | None", step.get("native")))
    if "fault" in step:
        return Fault(
            cast(FaultKind, step["fault"]),
            cast(str, step.get("message", "scripted fault")),
            status=cast("int | None", step.get("status")),
            code=cast("str | None", step.get("code")),
            retry_after_s=cast("float | None", step.get("retry_after_s")),
        )
    return DeadEndReached(
        cast(DeadEndCause, step["dead_end"]),
        cast(int, step.get("prefix_tokens", 0)),
        cast(str, step.get("explanation", "scripted dead end")),
    )


def _finish(word: str, native: str | None) -> Finish:
    known = {reason.value: reason for reason in FinishReason}
    return Finish(known.get(word, FinishReason.UNKNOWN), native or word)


def _pieces(data: bytes, chunking: Chunking) -> Iterator[bytes]:
    if chunking == "whole":
        yield data
        return
    at = 0
    while at < len(data):
        match chunking:
            case Random():
                length = chunking.randint(1, _LONGEST_RANDOM_CHUNK)
            case int():
                length = chunking
            case _:
                length = 1
        yield data[at : at + length]
        at += length


__all__ = ["STEPS", "Chunking", "MemoryLedger", "ScriptedBackend", "Step"]
