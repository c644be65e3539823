"""Play one script for one request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Literal, TypeAlias, cast

import anyio

from commitgate.backends.base import (
    ConnectionLost,
    DeadEndCause,
    DeadEndReached,
    Event,
    Fault,
    FaultKind,
    Finish,
    GenerationRequest,
    Notice,
    Ping,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
    WaitExpired,
)
from commitgate.backends.words import read_finish
from commitgate.testing.fault_point import FaultPoint, Trouble, Waitable, wait_for
from commitgate.testing.provider_event import Fields, read_event, read_http, read_raw
from commitgate.testing.script_step import Step

Chunking: TypeAlias = Literal["whole", "bytes"] | int | Random
"""How a recorded answer is cut: not, byte by byte, every so many bytes, or at places that are drawn."""

_LONGEST_RANDOM_CHUNK = 8


REPEATED_CHARACTERS = 4_096
"""Characters or bytes of a repeated text that are sent as one event, where ``chunking`` does not cut them further."""


class Playback:
    """Play one script, once.

    Args:
        script: the steps, checked.
        chunking: how text is cut.
        troubles: what happens at which place.
    """

    def __init__(self, script: Sequence[Step], chunking: Chunking, troubles: Mapping[FaultPoint, Trouble]) -> None:
        self._script = script
        self._chunking: Chunking = chunking
        self._waiting = dict(troubles)
        self._is_finished = False
        self._is_done = False
        self._offers_tools = False
        # A server that speaks of calls in its own form sends words beside them, and no text of a contract.
        self._speaks_of_calls = any("tool" in step or "prose" in step for step in map(_innermost, script))

    async def open(self, request: GenerationRequest) -> None:
        """Do what comes before the request is sent.

        Raises:
            WaitExpired: the script holds the request up until its limit.
        """
        self._offers_tools = request.tools is not None
        await self.reach(FaultPoint.OPENING)
        for step in self._script[:1]:
            if "pool" in step:
                await _hold_up("pool", request.timeouts.pool_s)
            if "connect" in step:
                await _hold_up("connect", request.timeouts.connect_s)

    async def events(self) -> AsyncGenerator[StreamEvent]:
        """Yield the events."""
        await self.reach(FaultPoint.FIRST_EVENT)
        closing = None
        for step in _unrolled(self._script):
            if "raise" in step:
                error = cast("BaseException | str", step["raise"])
                raise RuntimeError(error) if isinstance(error, str) else error
            if "wait" in step:
                await wait_for(cast("Waitable | None", step["wait"]))
                continue
            if "wait_s" in step:
                await anyio.sleep(cast(float, step["wait_s"]))
                continue
            if "close" in step:
                closing = cast(str, step["close"])
                break
            for event in self._cut(step):
                if isinstance(event, Finish):
                    await self.reach(FaultPoint.AFTER_TEXT)
                yield event
                await self._pass(event)
        await self.reach(FaultPoint.AFTER_TEXT)
        for event in self._ended(closing):
            yield event

    async def reach(self, point: FaultPoint) -> None:
        """Let happen what is to happen at a place, once."""
        if point in self._waiting:
            trouble = self._waiting.pop(point)
            if isinstance(trouble, BaseException):
                raise trouble
            await wait_for(trouble)

    async def _pass(self, event: StreamEvent) -> None:
        if isinstance(event, TextDelta | ToolDelta | ProseDelta):
            await self.reach(FaultPoint.MID_TEXT)
        elif isinstance(event, Finish):
            self._is_finished = True
            await self.reach(FaultPoint.AFTER_FINISH)

    def _cut(self, step: Step) -> Iterator[StreamEvent]:
        self._is_done = self._is_done or "done" in step
        for event in _events(step, offers_tools=self._offers_tools):
            match event:
                case TextDelta() if self._speaks_of_calls and self._offers_tools:
                    yield from map(ProseDelta, _pieces(event.data, self._chunking))
                case TextDelta() | ReasoningDelta() | ProseDelta():
                    for piece in _pieces(event.data, self._chunking):
                        yield replace(event, data=piece)
                case ToolDelta():
                    yield from _pieces_of_call(event, self._chunking)
                case _:
                    yield event

    def _ended(self, closing: str | None) -> Iterator[Event]:
        if closing in ("fin", "rst"):
            yield ConnectionLost()
        elif closing == "eof" and self._is_finished and not self._is_done:
            yield Notice("missing_done")


async def _hold_up(phase: Literal["pool", "connect"], limit_s: float | None) -> None:
    if limit_s is None:
        await anyio.sleep_forever()
    else:
        await anyio.sleep(limit_s)
        raise WaitExpired(phase, limit_s)


def _unrolled(script: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps with the repeated ones written out, one at a time: there may be more of them than memory."""
    for step in script:
        if "repeat" not in step:
            yield step
            continue
        if "prefix" in step:
            yield {"text": step["prefix"]}
        repeated = dict(cast(Step, step["repeat"]))
        count, every_s, for_s = (cast("float | None", repeated.pop(key, None)) for key in ("count", "every_s", "for_s"))
        times = int((for_s or 0) / (every_s or 1)) if count is None else int(count)
        if repeated.keys() == {"text"} and not every_s:
            yield from _repeated_text(cast("str | bytes", repeated["text"]), times)
            continue
        for _ in range(times):
            if every_s:
                yield {"wait_s": every_s}
            yield repeated


def _repeated_text(text: str | bytes, times: int) -> Iterator[Step]:
    """Yield a text written so many times, in pieces: an event for each letter of an endless one would take minutes."""
    at_once = max(1, REPEATED_CHARACTERS // max(1, len(text)))
    for start in range(0, times, at_once):
        yield {"text": text * min(at_once, times - start)}


def _innermost(step: Step) -> Step:
    return cast(Step, step["repeat"]) if "repeat" in step else step


def _events(step: Step, *, offers_tools: bool) -> Iterator[StreamEvent]:
    if "event" in step:
        yield from read_event(cast(Fields, step["event"]))
    elif "raw" in step:
        raw = cast("str | bytes", step["raw"])
        yield from read_raw(raw.encode() if isinstance(raw, str) else raw)
    elif "http" in step:
        yield from read_http(cast(Fields, step["http"]))
    elif "connect" not in step and "pool" not in step:
        yield _event(step, offers_tools=offers_tools)


def _event(step: Step, *, offers_tools: bool) -> StreamEvent:
    if "text" in step:
        return TextDelta(
            _bytes(step["text"]),
            legal_mass=cast("float | None", step.get("legal_mass")),
            is_forced=bool(step.get("forced", False)),
            tokens=cast("int | None", step.get("tokens")),
        )
    if "reasoning" in step:
        return ReasoningDelta(_bytes(step["reasoning"]))
    if "refusal" in step:
        return RefusalDelta(cast(str, step["refusal"]))
    if "tool" in step:
        return _call(cast(Step, step["tool"]))
    if "prose" in step:
        return ProseDelta(_bytes(step["prose"]))
    if "usage" in step:
        return Usage(*cast("Sequence[int]", step["usage"]))
    if "finish" in step:
        event = read_finish(cast(str, step["finish"]), offers_tools=offers_tools)
        native = cast("str | None", step.get("native"))
        return replace(event, native=native) if native and isinstance(event, Finish) else event
    if "fault" in step:
        return _fault(step)
    if "dead_end" in step:
        return DeadEndReached(
            cast(DeadEndCause, step["dead_end"]),
            cast(int, step.get("prefix_tokens", 0)),
            cast(str, step.get("explanation", "scripted dead end")),
        )
    return Ping()


def _call(call: Step) -> ToolDelta:
    return ToolDelta(
        cast(int, call["i"]),
        cast("str | None", call.get("id")),
        cast("str | None", call.get("name")),
        _bytes(call.get("args", b"")),
    )


def _bytes(text: object) -> bytes:
    return text.encode() if isinstance(text, str) else cast(bytes, text)


def _fault(step: Step) -> Fault:
    return Fault(
        cast(FaultKind, step["fault"]),
        cast(str, step.get("message", "scripted fault")),
        status=cast("int | None", step.get("status")),
        code=cast("str | None", step.get("code")),
        retry_after_s=cast("float | None", step.get("retry_after_s")),
        request_id=cast("str | None", step.get("request_id")),
    )


def _pieces_of_call(call: ToolDelta, chunking: Chunking) -> Iterator[ToolDelta]:
    first, *rest = list(_pieces(call.arguments, chunking)) or [b""]
    yield replace(call, arguments=first)
    yield from (ToolDelta(call.index, arguments=piece) for piece in rest)


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


__all__ = ["Chunking", "Playback"]
