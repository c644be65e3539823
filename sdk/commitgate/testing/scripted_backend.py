"""Answer requests with scripts, in place of a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import cast

import anyio

from commitgate.argument import check_kind, check_words
from commitgate.backends.base import BackendIdentity, EventStream, GenerationRequest, StreamEvent
from commitgate.errors import MisuseError
from commitgate.testing.fault_point import FaultPoint, Trouble, check_troubles
from commitgate.testing.playback import Chunking, Playback
from commitgate.testing.script_step import Step, check_answer_head, check_script


class ScriptedBackend:
    """Answer the first request with the first script, the second with the second, and all others with the last.

    Args:
        script: the steps of the first answer.
        then: the scripts of the answers after it.
        name: the backend's name in receipts.
        chunking: how text is cut: ``whole`` as written, ``bytes`` one byte at a time, an int that many bytes at a
            time, a ``random.Random`` pieces of 1 to 8 bytes.
        fault_at: what happens at which place while the first script is played: an exception that is raised there,
            an object with an async ``wait()`` that is waited for, or None, which hangs for ever.

    Attributes:
        requests: the requests that came past ``FaultPoint.BEFORE_OPEN``, in order.
        opened_at: when each came, in seconds on the event loop's clock.
        open_streams: streams that are open now; 0 after every call, however it ended.

    Raises:
        MisuseError: a step has no main key, more than one, a key that means nothing beside it, or a value that none of
            its kind can have; or another argument is none of these.
    """

    def __init__(
        self,
        script: Sequence[Step],
        *,
        then: Sequence[Sequence[Step]] = (),
        name: str = "scripted",
        chunking: Chunking = "whole",
        fault_at: Mapping[FaultPoint, Trouble] | None = None,
    ) -> None:
        check_script("script", script)
        check_kind("then", then, Sequence, "a list of scripts")
        for number, each in enumerate(then):
            check_script(f"then[{number}]", each)
        check_words("name", name)
        _check_chunking(chunking)
        if fault_at is not None:
            check_troubles("fault_at", fault_at)
        self._scripts = (tuple(script), *map(tuple, then))
        self._name = name
        self._chunking: Chunking = chunking
        self._troubles = dict(fault_at or {})
        self._played = 0
        self.requests: list[GenerationRequest] = []
        self.opened_at: list[float] = []
        self.open_streams = 0

    @staticmethod
    def of_responses(
        responses: Sequence[Mapping[str, object]],
        *,
        answer: Sequence[Step] = (),
        name: str = "scripted",
        chunking: Chunking = "whole",
    ) -> ScriptedBackend:
        """Make one that answers as an HTTP server would.

        Args:
            responses: one answer a request, the last one again and again: a dict of ``status`` (200), ``headers``,
                ``body`` and, below status 300, ``script``.
            answer: the script of answers that have none of their own.
            name: as ever.
            chunking: as ever.

        Raises:
            MisuseError: there is no response, or one has another key or a value that it cannot have.
        """
        check_kind("responses", responses, Sequence, "a list of dicts")
        if not responses:
            raise MisuseError("responses is empty; give at least one")
        first, *rest = (_script(f"responses[{number}]", each, answer) for number, each in enumerate(responses))
        return ScriptedBackend(first, then=rest, name=name, chunking=chunking)

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._name

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start to play a script."""
        at = min(self._played, len(self._scripts) - 1)
        self._played += 1
        troubles = self._troubles if at == 0 else {}
        trouble = troubles.get(FaultPoint.BEFORE_OPEN)
        if isinstance(trouble, BaseException):
            raise trouble
        self.requests.append(request)
        self.opened_at.append(anyio.current_time())
        return self._open(request, Playback(self._scripts[at], self._chunking, troubles))

    async def aclose(self) -> None:
        """Free nothing."""

    @asynccontextmanager
    async def _open(self, request: GenerationRequest, playback: Playback) -> AsyncGenerator[EventStream]:
        self.open_streams += 1
        try:
            await playback.open(request)
            async with aclosing(playback.events()) as events:
                try:
                    yield _ScriptedStream(BackendIdentity(backend=self._name, model=request.model), events)
                finally:
                    await playback.reach(FaultPoint.CLOSING)
        finally:
            self.open_streams -= 1


@dataclass(frozen=True, slots=True)
class _ScriptedStream:
    identity: BackendIdentity
    events: AsyncIterator[StreamEvent]

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self.events


def _script(name: str, response: object, answer: Sequence[Step]) -> Sequence[Step]:
    check_kind(name, response, Mapping, "a dict")
    given = dict(cast("Mapping[str, object]", response))
    script = cast("Sequence[Step]", given.pop("script", answer))
    check_script(f"{name}: script", script)
    check_answer_head(name, given)
    head: Step = {"http": given}
    is_failure = cast(int, given.get("status", 200)) >= 300
    if is_failure and "script" in cast("Mapping[str, object]", response):
        raise MisuseError(f"{name} may have no script: its status says that there is no answer")
    return [head] if is_failure else [head, *script] if given else script


def _check_chunking(chunking: object) -> None:
    if isinstance(chunking, Random) or (isinstance(chunking, str) and chunking in ("whole", "bytes")):
        return
    if isinstance(chunking, bool) or not isinstance(chunking, int) or chunking < 1:
        raise MisuseError("chunking must be 'whole', 'bytes', an int >= 1 or a random.Random")


__all__ = ["ScriptedBackend"]
