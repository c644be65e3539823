"""Every backend of a server keeps the laws on both event loops, and one that breaks any of them is caught."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from itertools import count

import anyio
import httpx
import pytest
from testing.recorded_answers import TEXT, answers_of, chat_answer, whole_answer

from commitgate.backends.base import (
    Backend,
    BackendIdentity,
    ConnectionLost,
    EventStream,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    Ping,
    StreamEvent,
    TextDelta,
    WaitExpired,
)
from commitgate.backends.dialect import Dialect
from commitgate.backends.dialects.llamacpp_completion import LlamaCppCompletionDialect
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.dialects.tgi_generate import TgiGenerateDialect
from commitgate.backends.dialects.vllm_chat import VllmChatDialect
from commitgate.backends.remote import RemoteBackend
from commitgate.errors import MisuseError
from commitgate.testing import ConformanceError, Law, RecordedAnswer, check_backend, laws

pytestmark = pytest.mark.anyio

KEY = "zq-key-of-a-test"
NOT_FOR_ALL = frozenset({Law.REASONING_APART})


def told(messages: tuple[Message, ...]) -> str:
    """Write a conversation as a text to continue."""
    return "\n".join(f"{message.role}: {message.content}" for message in messages)


OF_TEXTS: dict[str, Callable[[], Dialect]] = {
    "llamacpp_completion": lambda: LlamaCppCompletionDialect(template=told),
    "tgi_generate": lambda: TgiGenerateDialect(template=told),
}
"""Dialects that continue a text need a template to be asked anew."""


def made(dialect: Callable[[], Dialect] = VllmChatDialect) -> Callable[[str], RemoteBackend]:
    """Return what makes a backend that asks one thing at a time."""
    return lambda url: RemoteBackend(dialect(), base_url=url, api_key=KEY, connections=1)


def one_of_each_kind(answers: Iterable[RecordedAnswer]) -> list[RecordedAnswer]:
    """Return one answer of each reading, with calls and without, with a contract and without; a line is slow."""
    kinds = {
        (each.outcome, each.offers_tools, each.contract is None, each.end, bool(each.reasoning)): each
        for each in answers
    }
    return list(kinds.values())


@pytest.mark.parametrize("name", sorted(DIALECTS))
async def test_backend_keeps_the_laws(name: str) -> None:
    dialect = OF_TEXTS.get(name, DIALECTS[name])
    tried = await check_backend(made(dialect), one_of_each_kind(answers_of(name)), key=KEY)
    assert tried | NOT_FOR_ALL >= {law for law in laws() if law.of != "dialect"}


class Odd:
    """Be a backend that does one thing otherwise."""

    def __init__(self, url: str) -> None:
        self.inner = made()(url)

    @property
    def name(self) -> str:
        return "odd"

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        return self._open(request)

    async def aclose(self) -> None:
        await self.inner.aclose()

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        async with self.inner.open(self.asked(request)) as stream, aclosing(self.events(stream)) as events:
            yield OddStream(stream.identity, events)

    def asked(self, request: GenerationRequest) -> GenerationRequest:
        return request

    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            yield event


class OddStream:
    def __init__(self, identity: BackendIdentity, events: AsyncIterator[StreamEvent]) -> None:
        self.identity = identity
        self._events = events

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self._events


async def test_backend_that_adds_nothing_of_its_own_keeps_the_laws() -> None:
    await check_backend(Odd, [whole_answer()])


class NeverClosing(Odd):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.inner = RemoteBackend(VllmChatDialect(), base_url=url)
        self.left_open = AsyncExitStack()

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        yield await self.left_open.enter_async_context(self.inner.open(request))

    async def aclose(self) -> None:
        await self.left_open.aclose()
        await super().aclose()


class KeepingPlaces(Odd):
    """Give a place back only where the answer was read to its end."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.places = 1

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        if not self.places:
            raise WaitExpired("pool", 1)
        self.places -= 1
        async with super()._open(request) as stream:
            yield stream

    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            yield event
        self.places += 1


class EatingCancellations(Odd):
    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        async with super()._open(request) as stream:
            try:
                yield stream
            except anyio.get_cancelled_exc_class():
                return


class TradingCancellations(Odd):
    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        async with super()._open(request) as stream:
            try:
                yield stream
            except anyio.get_cancelled_exc_class():
                raise RuntimeError("it was cancelled") from None


class NewKeyEachTime(Odd):
    numbers = count()

    def asked(self, request: GenerationRequest) -> GenerationRequest:
        return replace(request, idempotency_key=f"key-{next(self.numbers)}")


class OneKeyForAll(Odd):
    def asked(self, request: GenerationRequest) -> GenerationRequest:
        return replace(request, idempotency_key="key")


class NoKeys(Odd):
    def asked(self, request: GenerationRequest) -> GenerationRequest:
        return replace(request, idempotency_key="")


class AttemptsDiffer(Odd):
    def asked(self, request: GenerationRequest) -> GenerationRequest:
        said = Message("system", f"This is attempt {request.attempt}.")
        return replace(request, messages=(said, *request.messages))


class KeyInTheBody(Odd):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.inner = RemoteBackend(
            VllmChatDialect(), base_url=url, api_key=KEY, connections=1, extra_body={"api_key": KEY}
        )


class ClosingOnce(Odd):
    is_closed = False

    async def aclose(self) -> None:
        await super().aclose()
        if self.is_closed:
            raise RuntimeError("closed already")
        self.is_closed = True


class GoingOn(Odd):
    """Say something behind a failure."""

    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            yield event
            if isinstance(event, Fault):
                yield Ping()


class Raising(Odd):
    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            if isinstance(event, Fault):
                raise RuntimeError("Quito")
            yield event


class CutIsTheEnd(Odd):
    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            yield Finish(FinishReason.STOP, "stop") if isinstance(event, ConnectionLost) else event


class EveryEndIsGood(Odd):
    """Take each failure for an end."""

    async def events(self, stream: EventStream) -> AsyncGenerator[StreamEvent]:
        async for event in stream:
            yield Finish(FinishReason.STOP, "stop") if isinstance(event, Fault) else event


class BadlyNamed(Odd):
    @property
    def name(self) -> str:
        return "odd/one"


OVERLOADED = RecordedAnswer(name="overloaded", body=b"", status=503, outcome="server_error")


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (NeverClosing, Law.LEAVING_CLOSES),
        (KeepingPlaces, Law.PLACES_RETURN),
        (EatingCancellations, Law.CANCELLATION_PASSES),
        (TradingCancellations, Law.CANCELLATION_PASSES),
        (NewKeyEachTime, Law.RETRY_SAME),
        (NoKeys, Law.RETRY_SAME),
        (AttemptsDiffer, Law.RETRY_SAME),
        (OneKeyForAll, Law.QUESTION_NEW),
        (KeyInTheBody, Law.REQUEST_KEYLESS),
        (ClosingOnce, Law.CLOSES_TWICE),
        (GoingOn, Law.NOTHING_FOLLOWS),
        (Raising, Law.FAILURES_ARE_EVENTS),
        (CutIsTheEnd, Law.END_PROVEN),
        (EveryEndIsGood, Law.ANSWER_READ),
        (BadlyNamed, Law.NAMED),
    ],
)
async def test_wrong_backend_is_caught(kind: Callable[[str], Backend], law: Law) -> None:
    with pytest.raises(ConformanceError) as raised:
        await check_backend(kind, [whole_answer(), OVERLOADED], key=KEY)
    assert raised.value.law is law
    assert raised.value.place
    assert not any(word in str(raised.value) for word in ("Quito", KEY))


class PerChunk:
    """Be a backend without a dialect, that takes each chunk of the network for whole lines."""

    name = "per-chunk"

    def __init__(self, url: str) -> None:
        self._url = url

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        return self._open(request)

    async def aclose(self) -> None:
        pass

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        identity = BackendIdentity(backend=self.name, model=request.model)
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", self._url, headers={"idempotency-key": request.idempotency_key}) as response,
            aclosing(self._events(response)) as events,
        ):
            yield OddStream(identity, events)

    async def _events(self, response: httpx.Response) -> AsyncGenerator[StreamEvent]:
        async with aclosing(response.aiter_raw()) as chunks:
            async for chunk in chunks:
                for line in chunk.splitlines():
                    if line.startswith(b"data: {") and line.endswith(b"}"):
                        choice = json.loads(line[6:])["choices"][0]
                        if "content" in choice["delta"]:
                            yield TextDelta(choice["delta"]["content"].encode())
                        if "finish_reason" in choice:
                            yield Finish(FinishReason.STOP, choice["finish_reason"])


async def test_backend_that_takes_chunks_for_lines_is_caught() -> None:
    with pytest.raises(ConformanceError) as raised:
        await check_backend(PerChunk, [whole_answer()])
    assert (raised.value.law, raised.value.place) == (Law.CUTS_FREE, "byte by byte")


async def test_ending_that_the_recording_denies_is_caught() -> None:
    text = '{"city":"Quito","alt":"high"}'
    unfit = chat_answer({"content": text}, name="unfit")
    with pytest.raises(ConformanceError) as raised:
        await check_backend(made(), [whole_answer(), unfit])
    assert (raised.value.law, raised.value.recording) == (Law.CALL_ENDS, "unfit")


async def test_recordings_without_a_contract_are_refused() -> None:
    with pytest.raises(MisuseError, match="contract"):
        await check_backend(made(), [replace(whole_answer(), contract=None)])


async def test_what_is_no_backend_is_refused() -> None:
    with pytest.raises(MisuseError):
        await check_backend(lambda url: url, [whole_answer()])  # type: ignore[arg-type, return-value]


async def test_error_of_a_factory_is_its_own() -> None:
    def broken(url: str) -> Backend:
        raise LookupError(TEXT)

    with pytest.raises(LookupError):
        await check_backend(broken, [whole_answer()])
