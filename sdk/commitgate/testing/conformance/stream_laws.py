"""Hold the streams of a backend to their laws: answers over a real line, whole, in pieces and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import anyio
from anyio.lowlevel import checkpoint

from commitgate.backends.base import (
    Backend,
    ConnectionLost,
    DeadEndReached,
    Fault,
    GenerationRequest,
    Message,
    Remote,
    StepTaken,
    StreamEvent,
    WaitExpired,
)
from commitgate.backends.wire.wire_event import Framing
from commitgate.contract import Contract
from commitgate.languages import AnyJson
from commitgate.testing.conformance.law import ConformanceError, Law
from commitgate.testing.conformance.reading_laws import ToldReading, check_read, chunkings
from commitgate.testing.conformance.recorded_answer import ENDED, RecordedAnswer
from commitgate.testing.conformance.replaying_server import WAIT_S, Line, ReplayingServer, Respond, playing
from commitgate.testing.conformance.writing_laws import tool_request
from commitgate.testing.wire_reading import WireReading
from commitgate.timeouts import Timeouts

SEEN_S = 1.0
"""Longest time until a server sees that its answer was left, and until a place is free again."""

_CHUNKINGS = 3
_CUTS = 4
_LEFT = 3
_TURNS = 20
_USUAL: Framing = "sse"
_LAST = (Fault, ConnectionLost, DeadEndReached)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTrial:
    """Try the streams of a backend.

    Attributes:
        backend: it.
        server: what it asks.
        model: the model's name that it is asked for.
    """

    backend: Backend
    server: ReplayingServer
    model: str

    async def read(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Read an answer whole, and in pieces."""
        self.server.respond = playing(recording)
        check_read(recording, await self._told(recording, "whole"), Law.ANSWER_READ, "whole")
        for place, cuts in islice(chunkings(recording), _CHUNKINGS):
            self.server.respond = playing(recording, cuts)
            check_read(recording, await self._told(recording, place), Law.CUTS_FREE, place)
        boundaries = recording.boundaries(_USUAL)
        place = "event by event"
        self.server.respond = playing(recording, boundaries, is_slow=True)
        check_read(recording, await self._told(recording, place), Law.CUTS_FREE, place)
        apart = (Law.REASONING_APART,) if recording.reasoning else ()
        return (Law.ANSWER_READ, Law.CUTS_FREE, Law.FAILURES_ARE_EVENTS, Law.NOTHING_FOLLOWS, *apart)

    async def cut(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Let an answer end early, cleanly and not, at the ends of some events."""
        if not recording.is_answer:
            return ()
        for boundary in _spread(recording.boundaries(_USUAL)):
            await self._cut_at(recording, boundary, is_clean=True)
            await self._cut_at(recording, boundary, is_clean=False)
        return Law.END_PROVEN, Law.TEXT_GROWS

    async def leave(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Leave streams in their midst, cancel others, and see that the server notices and the next one is read."""
        for _ in range(_LEFT):
            await self._left(recording)
        await self._cancelled(recording, Law.CANCELLATION_PASSES, "before the head", has_head=False)
        await self._cancelled(recording, Law.CANCELLATION_PASSES, "within the body", has_head=True)
        self.server.respond = playing(recording)
        await self._told(recording, "after streams were left", law=Law.PLACES_RETURN)
        return Law.LEAVING_CLOSES, Law.CANCELLATION_PASSES, Law.PLACES_RETURN, Law.ENDS_IN_TIME

    async def _cut_at(self, recording: RecordedAnswer, boundary: int, *, is_clean: bool) -> None:
        head = recording.body[:boundary]
        place = f"cut at byte {boundary}, {'cleanly' if is_clean else 'broken'}"
        self.server.respond = playing(replace(recording, body=head, end="clean" if is_clean else "reset"))
        told = await self._told(recording, place)
        word = told.finish_native
        if told.outcome in ENDED and (word is None or word.rpartition(":")[2].encode() not in head):
            what = f"without the server's finish word it was read as {told.outcome}"
            raise ConformanceError(Law.END_PROVEN, what, recording=recording.name, place=place)
        if recording.text is not None and not recording.text.startswith(told.text.rstrip("\ufffd")):
            raise ConformanceError(Law.TEXT_GROWS, "the text is another one", recording=recording.name, place=place)

    async def _told(self, recording: RecordedAnswer, place: str, *, law: Law = Law.ENDS_IN_TIME) -> ToldReading:
        events = await self._events(recording, place, law)
        for number, event in enumerate(events):
            if isinstance(event, _LAST) and number < len(events) - 1:
                what = f"{len(events) - 1 - number} events followed {type(event).__name__}"
                raise ConformanceError(Law.NOTHING_FOLLOWS, what, recording=recording.name, place=place)
        found = WireReading()
        for event in events:
            found.take(event)
        # A failure behind the finish word takes the place of the finish.
        word = recording.finish_native if found.finish is None else found.finish.native or None
        if found.finish is None and found.outcome in ENDED:
            word = None
        text, reasoning = (bytes(each).decode(errors="replace") for each in (found.text, found.reasoning))
        return ToldReading(outcome=found.outcome, text=text, reasoning=reasoning, finish_native=word)

    async def _events(self, recording: RecordedAnswer, place: str, law: Law) -> list[StreamEvent]:
        found: list[StreamEvent] = []
        follows = False
        try:
            with anyio.fail_after(WAIT_S):
                async with self.backend.open(self._request(recording)) as stream:
                    events = aiter(stream)
                    while (event := await anext(events, None)) is not None:
                        if not isinstance(event, StepTaken):
                            found.append(event)
                    follows = await anext(events, None) is not None
        except WaitExpired as error:
            what = f"the wait for a {'place' if error.phase == 'pool' else 'connection'} ran out"
            raise ConformanceError(Law.PLACES_RETURN, what, recording=recording.name, place=place) from error
        except TimeoutError as error:
            what = f"there was no end within {WAIT_S:g} s"
            raise ConformanceError(law, what, recording=recording.name, place=place) from error
        except Exception as error:
            what = f"{type(error).__name__} was raised"
            raise ConformanceError(Law.FAILURES_ARE_EVENTS, what, recording=recording.name, place=place) from error
        if follows:
            what = "one more was there behind the end"
            raise ConformanceError(Law.NOTHING_FOLLOWS, what, recording=recording.name, place=place)
        return found

    async def _left(self, recording: RecordedAnswer) -> None:
        gone = anyio.Event()
        self.server.respond = _holding(recording, reached=anyio.Event(), gone=gone)
        place = "left at its first event"
        try:
            with anyio.fail_after(WAIT_S):
                async with self.backend.open(self._request(recording)) as stream:
                    await anext(aiter(stream), None)
        except (TimeoutError, WaitExpired) as error:
            what = "no place was free, or leaving took too long"
            raise ConformanceError(Law.PLACES_RETURN, what, recording=recording.name, place=place) from error
        await self._seen(recording, gone, place)

    async def _seen(self, recording: RecordedAnswer, gone: anyio.Event, place: str) -> None:
        with anyio.move_on_after(SEEN_S):
            await gone.wait()
        if not gone.is_set():
            what = f"the connection was open {SEEN_S:g} s later"
            raise ConformanceError(Law.LEAVING_CLOSES, what, recording=recording.name, place=place)

    async def _cancelled(self, recording: RecordedAnswer, law: Law, place: str, *, has_head: bool) -> None:
        reached, gone = anyio.Event(), anyio.Event()
        self.server.respond = _holding(recording, reached=reached, gone=gone, has_head=has_head)
        scope = anyio.CancelScope()
        raised: list[Exception] = []

        async def read() -> None:
            try:
                with scope:
                    async with self.backend.open(self._request(recording)) as stream:
                        async for _ in stream:
                            pass
            except Exception as error:  # noqa: BLE001 - told below, where no group wraps it
                raised.append(error)

        with anyio.move_on_after(2 * WAIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                with anyio.move_on_after(WAIT_S):
                    await reached.wait()
                for _ in range(_TURNS):
                    await checkpoint()
                scope.cancel()
        if raised and isinstance(raised[0], WaitExpired):
            law, what = Law.PLACES_RETURN, "no place was free"
        elif raised:
            what = f"{type(raised[0]).__name__} was raised in its place"
        else:
            what = "the stream went on, or ended as if nothing had happened"
        if raised or not scope.cancelled_caught:
            cause = raised[0] if raised else None
            raise ConformanceError(law, what, recording=recording.name, place=f"cancelled {place}") from cause
        await self._seen(recording, gone, f"cancelled {place}")

    def _request(self, recording: RecordedAnswer) -> GenerationRequest:
        request = GenerationRequest(
            model=self.model,
            contract=Contract[object].of(AnyJson()),
            messages=(Message("user", "Say it."),),
            idempotency_key="conformance",
            timeouts=Timeouts(pool_s=SEEN_S),
            is_constrained=False,
        )
        return tool_request(request) if recording.offers_tools and isinstance(self.backend, Remote) else request


def _holding(recording: RecordedAnswer, *, reached: anyio.Event, gone: anyio.Event, has_head: bool = True) -> Respond:
    """Return what begins an answer and then waits until it is left."""
    boundaries = recording.boundaries(_USUAL)
    begun = recording.body[: boundaries[len(boundaries) // 2] or len(recording.body) // 2]

    async def respond(line: Line) -> None:
        if has_head:
            await line.head(recording.status, recording.headers)
            await line.chunks([begun])
        reached.set()
        await line.closed()
        gone.set()

    return respond


def _spread(boundaries: Sequence[int]) -> list[int]:
    """Return some of the offsets, evenly spread."""
    step = max(1, len(boundaries) // _CUTS)
    return list(boundaries[::step])


__all__ = ["SEEN_S", "StreamTrial"]
