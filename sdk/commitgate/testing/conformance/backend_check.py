"""Check a backend over a real line: a server on loopback answers it with what was recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import anyio

from commitgate.argument import check_text, check_words, wrong_kind
from commitgate.backends.base import Backend
from commitgate.errors import MisuseError
from commitgate.testing.conformance.call_laws import CallTrial
from commitgate.testing.conformance.law import ConformanceError, Law
from commitgate.testing.conformance.recorded_answer import RecordedAnswer, checked
from commitgate.testing.conformance.replaying_server import WAIT_S, ReplayingServer, playing
from commitgate.testing.conformance.stream_laws import StreamTrial


async def check_backend(
    make: Callable[[str], Backend], recordings: Sequence[RecordedAnswer], *, key: str = "", model: str = "m"
) -> frozenset[Law]:
    """Hold a backend to its laws, on the event loop that runs: try it on asyncio and on trio. Takes seconds.

    Args:
        make: makes the backend of a server's base URL. Where it bounds its requests, let it take one at a time: a
            place that is never given back shows at once then.
        recordings: answers of its server, of all endings that it knows; at least one that is complete and has its
            ``contract``.
        key: the key that ``make`` gives to the backend; it must stand in no path and body. Empty where it has none.
        model: the model's name that is asked for.

    Returns:
        The laws that were tried: some need a recording of a kind.

    Raises:
        ConformanceError: a law is broken.
        MisuseError: the recordings prove nothing.
    """
    answers = checked(recordings)
    check_text("key", key)
    check_words("model", model)
    whole = [
        each for each in answers if each.outcome == "complete" and each.end == "clean" and each.contract is not None
    ]
    if not whole:
        raise MisuseError("recordings must hold a complete answer with its contract; without one no call is proven")
    server = ReplayingServer(respond=playing(whole[0]))
    tried: set[Law] = set()

    async def trial() -> None:
        backend = make(server.url)
        if not callable(getattr(backend, "open", None)):
            raise wrong_kind("what make returns", "a Backend", backend)
        try:
            streams = StreamTrial(backend=backend, server=server, model=model)
            calls = CallTrial(backend=backend, server=server, model=model)
            tried.update(await _tried(streams, calls, answers, whole[0]))
            tried.update(_named(backend), _keyless(server, key))
        finally:
            with anyio.move_on_after(WAIT_S, shield=True):
                await backend.aclose()
        tried.update(await _closed(backend.aclose))

    await server.run(trial)
    return frozenset(tried)


async def _tried(
    streams: StreamTrial, calls: CallTrial, answers: Sequence[RecordedAnswer], whole: RecordedAnswer
) -> set[Law]:
    tried: set[Law] = set()
    for recording in answers:
        tried.update(await streams.read(recording))
        tried.update(await streams.cut(recording))
        tried.update(await calls.ends(recording))
    tried.update(await streams.leave(whole))
    tried.update(await calls.retries(whole))
    tried.update(await calls.asks_anew(whole))
    return tried


def _named(backend: Backend) -> tuple[Law, ...]:
    name = cast(object, backend.name)
    if not isinstance(name, str) or not name.strip() or "/" in name:
        raise ConformanceError(Law.NAMED, "it has none", place="name")
    return (Law.NAMED,)


def _keyless(server: ReplayingServer, key: str) -> tuple[Law, ...]:
    if not key:
        return ()
    for number, asked in enumerate(server.asked):
        if key.encode() in asked.body or key in asked.target:
            raise ConformanceError(Law.REQUEST_KEYLESS, "the key is there", place=f"request {number}")
    return (Law.REQUEST_KEYLESS,)


async def _closed(close: Callable[[], Awaitable[None]]) -> tuple[Law, ...]:
    try:
        await close()
    except Exception as error:
        what = f"the second time raised {type(error).__name__}"
        raise ConformanceError(Law.CLOSES_TWICE, what, place="aclose") from error
    return (Law.CLOSES_TWICE,)


__all__ = ["check_backend"]
