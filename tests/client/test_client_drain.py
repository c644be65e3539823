"""Bringing a client to rest: no further calls, time to finish, and a report of how each ended."""

from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from scripts import GOOD, Pay, Payments, Stop, client_with, only_row

from commitgate import Drained, EffectContext
from commitgate.client import Client
from commitgate.errors import CommitgateError, MisuseError, ModelLoadError
from commitgate.ledger import FaultLedger, FaultPoint, MemoryLedger, State
from commitgate.outcome import Cancelled, Committed, NeedsApproval
from commitgate.testing import ScriptedBackend, Step, fake_time

pytestmark = pytest.mark.anyio

HANGS: list[Step] = [{"text": "{"}, {"wait": None}]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return fake_time(request.param)


async def call(client: Client, **options: Any) -> Any:
    return await client.generate_structured("scripted", Pay, **{"prompt": "x", **options})


class Calls:
    """Make calls in tasks of their own, and remember how they ended."""

    def __init__(self) -> None:
        self.endings: list[Any] = []
        self.reports: list[Drained] = []

    def start(self, client: Client, group: TaskGroup, **options: Any) -> None:
        group.start_soon(self._call, client, options)

    async def _call(self, client: Client, options: dict[str, Any]) -> None:
        try:
            self.endings.append(await call(client, **options))
        except CommitgateError as error:
            self.endings.append(error)


async def test_client_at_rest_is_closed_at_once() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        await call(client)
        assert await client.aclose(finish_s=100.0) == Drained(endings={})
        assert anyio.current_time() == 0.0


async def test_client_is_not_closed_from_inside_one_of_its_calls() -> None:
    told: list[MisuseError] = []

    async def close(value: Pay, context: EffectContext) -> str:
        with pytest.raises(MisuseError, match="inside") as caught:
            await client.aclose(finish_s=100.0)
        told.append(caught.value)
        return "done"

    async with client_with(ScriptedBackend(GOOD), MemoryLedger()) as client:
        assert isinstance(await call(client, operation_key="k", effect=close), Committed)
        # Nothing was closed by it.
        assert isinstance(await call(client), Committed)
        assert await client.aclose() == Drained(endings={})
    assert len(told) == 1


async def test_closed_client_takes_no_further_calls() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        await call(client, operation_key="k", approve=lambda value, context: True)
        await client.aclose()
        for attempt in (lambda: call(client), lambda: client.approve("k", by="ann")):
            with pytest.raises(MisuseError, match="being closed"):
                await attempt()
        with pytest.raises(MisuseError, match="being closed"):
            async with client.stream_structured("scripted", Pay, prompt="x"):
                pass
        # What is no call can still be looked at and decided.
        assert isinstance(await client.outcome("k"), NeedsApproval)
        assert (await only_row(ledger)).state is State.AWAITING_APPROVAL
        assert len(await client.approvals()) == 1
        assert await client.aclose() == Drained(endings={})
    assert len(backend.requests) == 1


async def test_calls_have_time_to_end_by_themselves() -> None:
    calls = Calls()
    async with client_with(ScriptedBackend([{"wait_s": 5.0}, *GOOD])) as client, anyio.create_task_group() as group:
        for _ in range(3):
            calls.start(client, group)
        await anyio.sleep(1)
        calls.reports.append(await client.aclose(finish_s=60.0))
    assert (calls.reports[0].endings, calls.reports[0].count, calls.reports[0].in_doubt) == ({"committed": 3}, 3, ())
    assert [type(each) for each in calls.endings] == [Committed] * 3
    assert anyio.current_time() < 60.0


async def test_calls_that_take_longer_are_cancelled_and_their_keys_given_back() -> None:
    calls = Calls()
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(HANGS), ledger) as client, anyio.create_task_group() as group:
        calls.start(client, group, operation_key="k")
        await anyio.sleep(1)
        calls.reports.append(await client.aclose(finish_s=10.0))
        assert anyio.current_time() == 11.0
    assert calls.reports[0] == Drained(endings={"cancelled": 1})
    assert [type(each) for each in calls.endings] == [Cancelled]
    row = await only_row(ledger)
    assert (row.state, row.reason) == (State.RELEASED, "cancelled")


async def test_without_time_everything_is_cancelled_at_once() -> None:
    calls = Calls()
    async with client_with(ScriptedBackend(HANGS)) as client, anyio.create_task_group() as group:
        calls.start(client, group)
        await anyio.sleep(1)
        assert (await client.aclose()).endings == {"cancelled": 1}
        assert anyio.current_time() == 1.0


async def test_commit_that_has_begun_is_finished_and_waited_for() -> None:
    calls = Calls()
    payments, ledger = Payments(), MemoryLedger()
    stop = Stop(FaultPoint.BEFORE_INTENT)
    client_of = client_with(ScriptedBackend(GOOD), FaultLedger(ledger, stop))
    async with client_of as client, anyio.create_task_group() as group:
        calls.start(client, group, operation_key="k", effect=payments)
        await stop.reached.wait()

        async def let_go() -> None:
            await anyio.sleep(100)
            stop.go_on.set()

        group.start_soon(let_go)
        calls.reports.append(await client.aclose(finish_s=1.0))
        assert anyio.current_time() == pytest.approx(100.0)
    assert calls.reports[0].endings == {"committed": 1}
    assert isinstance(calls.endings[0], Committed)
    assert (len(payments.made), (await only_row(ledger)).state) == (1, State.COMMITTED)


async def test_report_names_the_keys_in_doubt_and_shows_them_to_nobody() -> None:
    calls = Calls()

    async def broken(value: Pay, context: EffectContext) -> None:
        await anyio.sleep(5)
        raise OSError

    async with client_with(ScriptedBackend(GOOD)) as client, anyio.create_task_group() as group:
        calls.start(client, group, operation_key="secret-key", effect=broken)
        await anyio.sleep(1)
        calls.reports.append(await client.aclose(finish_s=60.0))
    assert calls.reports[0] == Drained(endings={"in_doubt": 1}, in_doubt=("secret-key",))
    assert "secret-key" not in repr(calls.reports[0])


async def test_call_that_raised_is_counted_by_its_error() -> None:
    calls = Calls()
    script: list[Step] = [{"wait_s": 5.0}, {"raise": ModelLoadError("gone")}]
    async with client_with(ScriptedBackend(script)) as client, anyio.create_task_group() as group:
        calls.start(client, group)
        await anyio.sleep(1)
        calls.reports.append(await client.aclose(finish_s=60.0))
    assert calls.reports == [Drained(endings={"ModelLoadError": 1})]
    assert [type(each) for each in calls.endings] == [ModelLoadError]


async def test_closing_that_is_cancelled_leaves_the_calls_to_the_client() -> None:
    calls = Calls()
    async with client_with(ScriptedBackend([{"wait_s": 5.0}, *GOOD])) as client, anyio.create_task_group() as group:
        calls.start(client, group)
        await anyio.sleep(1)
        with anyio.move_on_after(1) as scope:
            await client.aclose(finish_s=60.0)
        assert scope.cancelled_caught
        with pytest.raises(MisuseError, match="being closed"):
            await call(client)
    assert isinstance(calls.endings[0], Committed)


@pytest.mark.parametrize("finish_s", [-1, float("inf"), float("nan"), "soon", None, True])
async def test_time_that_is_none_is_misuse_and_closes_nothing(finish_s: Any) -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(MisuseError):
            await client.aclose(finish_s=finish_s)
        assert isinstance(await call(client), Committed)
