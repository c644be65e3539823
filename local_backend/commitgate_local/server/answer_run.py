"""Let the backend write one answer, and send it: whole once it is over, or frame by frame."""

from __future__ import annotations

from dataclasses import replace

from commitgate.backends.base import EventStream, ProseDelta, StepTaken, StreamEvent, TextDelta, ToolDelta, Usage
from commitgate.run.asking import TRACED_CHOICES
from commitgate.timeouts import Timeouts
from commitgate_local.server.answer_tally import AnswerTally, constraint_of
from commitgate_local.server.chat_order import ChatOrder
from commitgate_local.server.chat_reply import (
    KEEP_ALIVE,
    ReplyHead,
    ReplyStream,
    WholeReply,
    error_frame,
    system_fingerprint,
)
from commitgate_local.server.idempotency import Claim, StoredReply
from commitgate_local.server.inspection.answer_recording import AnswerRecording
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.reply_sender import JSON_TYPE, STREAM_TYPE, ReplySender
from commitgate_local.server.serving import LOGGER, Serving


class AnswerRun:
    """Write and send one answer.

    Args:
        serving: what all requests share.
        order: what is asked.
        sender: sends the answer.
        claim: the idempotency key under which a whole answer is kept; None where there is none.
        id: the answer's own name.
        began: when the request came, on the server's clock.

    Attributes:
        is_whole: the answer came to its end; only sending the rest of it may be left.
    """

    def __init__(
        self, serving: Serving, order: ChatOrder, sender: ReplySender, *, claim: Claim | None, id: str, began: float
    ) -> None:
        self._serving = serving
        self._order = order
        self._sender = sender
        self._claim = claim
        self._id = id
        self._began = began
        self._usage = Usage()
        self._has_text = False
        self._tally = AnswerTally(constraint=constraint_of(order.request))
        self._last_frames = b""
        self._sent: list[bytes] = []
        self._sent_bytes = 0
        self._is_ending = False
        self._recording: AnswerRecording | None = None
        self.is_whole = False

    @property
    def param(self) -> str | None:
        """Return the field of the body that the contract came in, for errors that only the backend can find."""
        return self._order.prepared.param

    async def answer(self) -> None:
        """Generate and send it.

        Raises:
            RequestRefused: it failed before anything was sent.
        """
        # Whoever reads slowly keeps a place while frames are on their way, but not for the last bytes.
        async with self._serving.admission.place():
            self._record()
            error: BaseException | None = None
            try:
                reply = await self._generate()
            except BaseException as raised:
                error = raised
                raise
            finally:
                self._serving.metrics.count_answer(self._tally)
                if self._recording is not None:
                    self._recording.end(self._tally, error)
        self._serving.metrics.count_tokens(prompt=self._usage.input_tokens, completion=self._usage.output_tokens)
        if isinstance(reply, WholeReply):
            body = reply.completion()
            self._keep(JSON_TYPE, body)
            self._is_ending = True
            await self._sender.whole(200, JSON_TYPE, body)
            return
        frames = self._last_frames if reply.is_over else reply.end()
        if reply.is_whole:
            self._keep(STREAM_TYPE, b"".join((*self._sent, frames)))
        self._is_ending = True
        await self._sender.frames(frames, is_last=True)

    async def fail(self, refused: RequestRefused) -> None:
        """End a stream that has begun with an error; where its last frame is on its way, leave it cut short."""
        if self._order.request.stream and not self._is_ending:
            self._is_ending = True
            await self._sender.frames(error_frame(refused), is_last=True)

    async def keep_alive(self) -> None:
        """Tell whoever waits for a stream that it will come."""
        if self._order.request.stream and not self._is_ending:
            await self._sender.comment(KEEP_ALIVE)

    def _record(self) -> None:
        if self._serving.recorder is not None:
            self._recording = AnswerRecording(
                self._serving.recorder,
                self._order.prepared.generation,
                name=self._id,
                model=self._order.request.model,
                clock=self._serving.clock,
            )

    async def _generate(self) -> WholeReply | ReplyStream:
        # The server's own limits bound every wait; the backend need not.
        generation = replace(
            self._order.prepared.generation,
            timeouts=Timeouts(pool_s=None),
            traced_choices=None if self._recording is None else TRACED_CHOICES,
        )
        reply: WholeReply | ReplyStream | None = None
        try:
            async with self._serving.backend.open(generation) as events:
                found = self._reply(events)
                try:
                    await self._read(events, found)
                finally:
                    if self._recording is not None:
                        self._recording.identify(events.identity)
                reply = found
        except Exception as error:
            # What leaving a stream raises changes nothing about an answer that was read.
            if reply is None:
                raise
            LOGGER.warning("closing the backend's stream failed: %s", type(error).__name__)
        assert reply is not None, "no context swallows an exception"
        return reply

    def _reply(self, events: EventStream) -> WholeReply | ReplyStream:
        request = self._order.request
        head = ReplyHead(
            id=self._id,
            created=int(self._serving.wall_clock()),
            model=request.model,
            system_fingerprint=system_fingerprint(events.identity),
        )
        if not request.stream:
            return WholeReply(self._order.prepared, head)
        return ReplyStream(self._order.prepared, head, include_usage=request.include_usage)

    async def _read(self, events: EventStream, reply: WholeReply | ReplyStream) -> None:
        async for event in events:
            if self._recording is not None:
                self._recording.event(event)
            if isinstance(event, StepTaken):
                continue
            self._note(event)
            frames = reply.feed(event)
            if isinstance(reply, WholeReply):
                continue
            if reply.is_over:
                self._last_frames = frames or b""
                return
            if frames:
                self._collect(frames)
                await self._sender.frames(frames)

    def _note(self, event: StreamEvent) -> None:
        self._tally.note(event, self._serving.clock())
        match event:
            case Usage():
                self._usage = event
            case TextDelta() | ToolDelta() | ProseDelta() if not self._has_text:
                self._has_text = True
                self._serving.metrics.count_first_token(self._serving.clock() - self._began)
            case _:
                pass

    def _collect(self, frames: bytes) -> None:
        if self._claim is None:
            return
        self._sent_bytes += len(frames)
        if self._sent_bytes <= self._serving.limits.idempotency_bytes:
            self._sent.append(frames)
        else:
            self._sent.clear()

    def _keep(self, content_type: str, body: bytes) -> None:
        """Keep a whole answer before its last bytes go out: a client that loses them can have it again."""
        self.is_whole = True
        if self._claim is None or self._sent_bytes > self._serving.limits.idempotency_bytes:
            return
        reply = StoredReply(status=200, content_type=content_type, body=body)
        self._serving.store.finish(self._claim, reply, self._serving.clock())


__all__ = ["AnswerRun"]
