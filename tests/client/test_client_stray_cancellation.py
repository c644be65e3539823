"""A cancellation that nobody asked for, or an exit, out of code that is not ours: it ends its own call and no other."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from scripts import GOOD, Pay, client_with

from commitgate.client import Client, StructuredRun
from commitgate.effect import EffectContext
from commitgate.errors import CommitgateError
from commitgate.gate.layers import Layer
from commitgate.ledger import MemoryLedger, State
from commitgate.outcome import Committed, InDoubt, Invalid
from commitgate.retry import operation_key
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


class Stop(BaseException):
    """Raised by user code, and no ``Exception``."""


async def raise_stray_cancellation(*_: object) -> None:
    """Raise the cancellation of a scope that is over by then."""
    caught: list[BaseException] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await anyio.lowlevel.checkpoint()
        except BaseException as error:
            caught.append(error)
            raise
    raise caught[0]


async def await_cancelled_task(*_: object) -> None:
    task = asyncio.ensure_future(asyncio.sleep(10))
    task.cancel()
    await task


def raise_natively(*_: object) -> None:
    raise asyncio.CancelledError


asyncio_alone = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
Faulty = Callable[..., Any]
STRAYS = [
    pytest.param(raise_stray_cancellation, "asyncio", id="of a past scope, asyncio"),
    pytest.param(raise_stray_cancellation, "trio", id="of a past scope, trio"),
    pytest.param(await_cancelled_task, "asyncio", id="of an own task"),
    pytest.param(raise_natively, "asyncio", id="raised by hand"),
]
strays = pytest.mark.parametrize(("faulty", "anyio_backend"), STRAYS, indirect=["anyio_backend"])


@asynccontextmanager
async def beside_another(backend: ScriptedBackend | None = None, ledger: MemoryLedger | None = None) -> Any:
    """Give a client whose other call stands in its middle, and hold that this call is unharmed in the end."""
    go_on = anyio.Event()
    waiting = ScriptedBackend([GOOD[0], {"wait": go_on}, *GOOD[1:]])
    backends = {"scripted": backend or ScriptedBackend(GOOD), "waiting": waiting}
    async with (
        Client(backends=backends, ledger=ledger or MemoryLedger()) as client,
        client.stream_structured("waiting", Pay, prompt="x") as other,
    ):
        await anext(other)
        yield client
        await anyio.lowlevel.checkpoint()
        go_on.set()
        assert isinstance(await other.outcome(), Committed)


@strays
async def test_stray_cancellation_in_a_rule_is_a_fault_of_the_rule(faulty: Faulty) -> None:
    async with beside_another() as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", rules=[faulty])
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].code) == (Layer.RULES, "rule_error")


@strays
async def test_stray_cancellation_in_an_effect_is_a_doubt(faulty: Faulty) -> None:
    ledger = MemoryLedger()
    async with beside_another(ledger=ledger) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", effect=faulty, operation_key="k")
    assert isinstance(outcome, InDoubt)
    row = await ledger.read(operation_key("k"))
    assert row is not None
    assert row.state is State.IN_DOUBT


class _Waiting:
    def __init__(self, wait: Callable[[], Awaitable[None]]) -> None:
        self._wait = wait

    async def wait(self) -> None:
        result: Any = self._wait()
        await result


@strays
async def test_stray_cancellation_in_a_backend_is_an_error_of_that_call(faulty: Faulty) -> None:
    backend = ScriptedBackend([{"wait": _Waiting(faulty)}])
    async with beside_another(backend) as client:
        with pytest.raises(CommitgateError, match="cancellation"):
            await client.generate_structured("scripted", Pay, prompt="x")


class StrayLedger(MemoryLedger):
    """Raises where a test says."""

    def __init__(self, method: str, faulty: Faulty) -> None:
        super().__init__()
        self._method = method
        self._faulty = faulty

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name != self._method:
            return super().__getattribute__(name)
        return self._broken

    async def _broken(self, *args: object, **options: object) -> None:
        result = self._faulty()
        if result is not None:
            await result


async def effect(value: Pay, context: EffectContext) -> None:
    del value, context


@strays
@pytest.mark.parametrize("method", ["claim", "start_effect"])
async def test_stray_cancellation_in_a_ledger_before_the_effect_is_an_error(method: str, faulty: Faulty) -> None:
    async with beside_another(ledger=StrayLedger(method, faulty)) as client:
        with pytest.raises(CommitgateError):
            await client.generate_structured("scripted", Pay, prompt="x", effect=effect, operation_key="k")


@strays
async def test_stray_cancellation_in_a_ledger_after_the_effect_is_a_doubt(faulty: Faulty) -> None:
    async with beside_another(ledger=StrayLedger("commit", faulty)) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", effect=effect, operation_key="k")
    assert isinstance(outcome, InDoubt)


def stop(*_: object) -> None:
    raise Stop


async def test_what_is_no_exception_out_of_a_rule_is_raised_to_its_caller_alone() -> None:
    async with beside_another() as client:
        with pytest.raises(Stop):
            await client.generate_structured("scripted", Pay, prompt="x", rules=[stop], operation_key="k")
        outcome = await client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
    assert isinstance(outcome, Committed)


async def stop_later(*_: object) -> None:
    stop()


@pytest.mark.parametrize("faulty", [stop, stop_later])
async def test_what_is_no_exception_out_of_an_effect_is_recorded_and_raised_to_its_caller_alone(faulty: Faulty) -> None:
    ledger = MemoryLedger()
    async with beside_another(ledger=ledger) as client:
        with pytest.raises(Stop):
            await client.generate_structured("scripted", Pay, prompt="x", effect=faulty, operation_key="k")
        outcome = await client.generate_structured("scripted", Pay, prompt="x", effect=faulty, operation_key="k")
    assert isinstance(outcome, InDoubt)


async def test_what_is_no_exception_out_of_a_backend_is_raised_to_its_caller_alone() -> None:
    async with beside_another(ScriptedBackend([{"wait": _Waiting(stop_later)}])) as client:
        with pytest.raises(Stop):
            await client.generate_structured("scripted", Pay, prompt="x")


@asyncio_alone
async def test_native_cancel_of_the_call_while_a_rule_awaits_its_own_task_is_still_a_cancellation() -> None:
    entered, gone = anyio.Event(), list[str]()

    async def rule(value: Pay) -> None:
        task = asyncio.ensure_future(asyncio.sleep(10))
        entered.set()
        try:
            await task
        except asyncio.CancelledError:
            gone.append("rule")
            raise

    async with client_with(ScriptedBackend(GOOD)) as client:
        run: StructuredRun[Pay, None] = client.stream_structured("scripted", Pay, prompt="x", rules=[rule])
        async with run:
            await entered.wait()
            run.cancel()
            assert (await run.outcome()).name == "cancelled"
    assert gone == ["rule"]
