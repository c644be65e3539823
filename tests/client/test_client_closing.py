"""A stream that closes badly changes nothing of how its call ended, and holds nobody up for long."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest
from client.scripts import GOOD, Pay, client_with

from commitgate import Client, Outcome, Retry, Timeouts
from commitgate.backends.base import BackendIdentity, Event, EventStream, GenerationRequest, TextDelta
from commitgate.errors import MisuseError
from commitgate.run.attempt import CLOSE_S
from commitgate.testing import FaultPoint, MemoryLedger, ScriptedBackend, Step, fake_time

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


HALF: list[Step] = [{"text": '{"a'}, {"wait": None}]
BROKEN: list[Step] = [{"text": '{"a'}, {"raise": ZeroDivisionError()}]
NO_LIMIT = Timeouts(pool_s=None, connect_s=None, first_event_s=None, idle_s=None, progress_s=None, total_s=None)


async def asked(backend: ScriptedBackend, timeouts: Timeouts = NO_LIMIT) -> Outcome[Pay, None]:
    async with client_with(backend) as client:
        return await client.generate_structured("scripted", Pay, prompt="x", timeouts=timeouts, retry=Retry(attempts=1))


async def cancelled(client: Client) -> Outcome[Pay, None]:
    async with client.stream_structured("scripted", Pay, prompt="x", timeouts=NO_LIMIT) as run:
        await anyio.sleep(1)
        run.cancel()
        return await run.outcome()


@pytest.mark.parametrize("trouble", [OSError("broken"), None], ids=["raises", "hangs"])
async def test_answer_that_was_read_is_committed_however_its_stream_closes(trouble: OSError | None) -> None:
    backend = ScriptedBackend(GOOD, fault_at={FaultPoint.CLOSING: trouble})
    outcome = await asked(backend)
    assert (outcome.name, outcome.receipt.warnings) == ("committed", ("close_failed",))
    assert backend.open_streams == 0
    assert anyio.current_time() == pytest.approx(0.0 if trouble else CLOSE_S)


async def test_stream_that_closes_well_is_not_worth_a_warning() -> None:
    assert (await asked(ScriptedBackend(GOOD))).receipt.warnings == ()


async def test_closing_is_not_counted_against_an_earlier_request() -> None:
    backend = ScriptedBackend([{"fault": "overload"}], then=[GOOD], fault_at={FaultPoint.CLOSING: OSError("broken")})
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x")
    assert (outcome.name, outcome.receipt.warnings) == ("committed", ())


@pytest.mark.parametrize("trouble", [OSError("broken"), None], ids=["raises", "hangs"])
async def test_limit_that_ran_out_is_told_however_the_stream_closes(trouble: OSError | None) -> None:
    outcome = await asked(
        ScriptedBackend(HALF, fault_at={FaultPoint.CLOSING: trouble}), Timeouts(idle_s=5, total_s=None)
    )
    assert (outcome.name, outcome.receipt.warnings) == ("timed_out", ("close_failed",))
    assert anyio.current_time() == pytest.approx(5.0 if trouble else 5.0 + CLOSE_S)


@pytest.mark.parametrize("trouble", [OSError("broken"), None], ids=["raises", "hangs"])
async def test_total_that_ran_out_while_reading_is_told_however_the_stream_closes(trouble: OSError | None) -> None:
    outcome = await asked(ScriptedBackend(HALF, fault_at={FaultPoint.CLOSING: trouble}), Timeouts(total_s=5))
    assert (outcome.name, anyio.current_time()) == ("timed_out", pytest.approx(5.0))


@pytest.mark.parametrize("trouble", [OSError("broken"), None], ids=["raises", "hangs"])
async def test_cancelled_call_is_cancelled_at_once_however_its_stream_closes(trouble: OSError | None) -> None:
    backend = ScriptedBackend(HALF, fault_at={FaultPoint.CLOSING: trouble})
    async with client_with(backend) as client:
        assert (await cancelled(client)).name == "cancelled"
    assert (backend.open_streams, anyio.current_time()) == (0, pytest.approx(1.0))


@pytest.mark.parametrize("trouble", [OSError("broken"), None], ids=["raises", "hangs"])
async def test_backend_that_broke_is_told_however_its_stream_closes(trouble: OSError | None) -> None:
    # Where both break, Python tells the later one and keeps the first as its context.
    with pytest.raises(OSError if trouble else ZeroDivisionError) as caught:
        await asked(ScriptedBackend(BROKEN, fault_at={FaultPoint.CLOSING: trouble}))
    assert isinstance(caught.value if trouble is None else caught.value.__context__, ZeroDivisionError)


class OwnBackend:
    """Opens what a test hands in."""

    name = "scripted"

    def __init__(self, stream: AbstractAsyncContextManager[EventStream]) -> None:
        self._stream = stream

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        return self._stream

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def turning_a_cancellation_into_an_error() -> AsyncGenerator[EventStream]:
    try:
        await anyio.sleep_forever()
    finally:
        raise OSError("broken")
    yield  # pyright: ignore[reportUnreachable] - makes it a generator


@asynccontextmanager
async def with_a_task_that_breaks_in_closing() -> AsyncGenerator[EventStream]:
    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("broken")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        yield Generated()


class Generated:
    """A stream whose iterator is a generator, which must be closed by whoever leaves it in its middle."""

    identity = BackendIdentity(backend="own", model="")

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.is_closed = False

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncGenerator[Event]:
        try:
            for text in self._texts:
                yield TextDelta(text.encode())
            await anyio.sleep_forever()
        finally:
            self.is_closed = True


@pytest.mark.parametrize("stream", [turning_a_cancellation_into_an_error, with_a_task_that_breaks_in_closing])
async def test_error_out_of_a_cancelled_backend_does_not_hide_the_cancellation(
    stream: "type[AbstractAsyncContextManager[EventStream]]",
) -> None:
    async with Client(backends={"scripted": OwnBackend(stream())}, ledger=MemoryLedger()) as client:
        assert (await cancelled(client)).name == "cancelled"


async def test_generator_that_is_left_in_its_middle_is_closed_before_its_stream() -> None:
    found: list[bool] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[EventStream]:
        stream = Generated("[" + "x" * 5_000, "more")
        yield stream
        found.append(stream.is_closed)

    async with Client(backends={"scripted": OwnBackend(opened())}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", retry=Retry(attempts=1))
    assert (outcome.name, found) == ("violated", [True])


async def test_run_cannot_be_entered_once_its_client_was_left() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        run = client.stream_structured("scripted", Pay, prompt="x")
    with pytest.raises(MisuseError, match="was left"):
        await run.__aenter__()
    with pytest.raises(MisuseError, match="enter the run first"):
        await run.outcome()
