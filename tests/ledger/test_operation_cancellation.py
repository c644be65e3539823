"""Cancelling an operation at every await: what the ledger says is what happened."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup

from commitgate.effect import Effect, EffectContext
from commitgate.ledger import (
    Applied,
    FaultLedger,
    FaultPoint,
    Fingerprint,
    Ledger,
    MemoryLedger,
    Operation,
    SqliteLedger,
    State,
)
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
MOST_STEPS = 200
COMMIT_POINTS = [point for point in FaultPoint if point not in (FaultPoint.BEFORE_CLAIM, FaultPoint.AFTER_CLAIM)]


def ignore() -> None:
    pass


@dataclass
class Run:
    """Remember what one call did."""

    ledger: Ledger
    fingerprint: Fingerprint
    reach: Callable[[FaultPoint], Awaitable[None]] | None = None
    effects: int = 0
    driven: Operation[object, str] | None = None
    verdicts: list[object] = field(default_factory=list[object])
    is_out: bool = False

    async def effect(self, value: object, context: EffectContext) -> str:
        del value, context
        self.effects += 1
        if self.reach is not None:
            await self.reach(FaultPoint.INSIDE_EFFECT)
        await anyio.lowlevel.checkpoint()
        return "T-1"

    async def call(self, group: TaskGroup) -> None:
        """Claim, generate for three steps, commit."""
        ledger = self.ledger if self.reach is None else FaultLedger(self.ledger, self.reach)
        effect = Effect[object, str](self.effect, name="shop.refund", version="1", adapter=None)
        driven = Operation(ledger, group, KEY, self.fingerprint, effect, owner="first", on_lease_lost=ignore)
        self.driven = driven
        try:
            async with driven:
                for _ in range(3):
                    await anyio.lowlevel.checkpoint()
                self.verdicts.append(await driven.commit(None, value_json=b"1", receipt_json=b"{}"))
        finally:
            self.is_out = True

    async def check(self) -> None:
        """Hold the ledger against what happened."""
        row = await self.ledger.read(KEY)
        assert self.driven is not None
        assert row is not None
        if self.effects:
            assert (self.effects, row.state, self.driven.verdict) == (1, State.COMMITTED, Applied("T-1"))
        else:
            assert (row.state, row.reason) == (State.RELEASED, "cancelled")
            assert self.driven.verdict is None
        found = await self.ledger.claim(KEY, self.fingerprint, owner="second", lease_s=30.0)
        assert found is not None


async def cancel_scope_after(steps: int, run: Run) -> bool:
    """Cancel a scope around the call after so many turns of the event loop; return whether that came too late."""
    async with anyio.create_task_group() as client, anyio.create_task_group() as caller:

        async def cancel() -> None:
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            caller.cancel_scope.cancel()

        caller.start_soon(cancel)
        await run.call(client)
        return bool(run.verdicts) and not caller.cancel_scope.cancel_called
    return False


@pytest.mark.anyio
async def test_a_cancelled_scope_leaves_a_release_or_a_commit_at_every_step(fingerprint: Fingerprint) -> None:
    states: set[State] = set()
    for steps in range(MOST_STEPS):
        run = Run(MemoryLedger(), fingerprint)
        is_late = await cancel_scope_after(steps, run)
        row = await run.ledger.read(KEY)
        assert row is not None
        states.add(row.state)
        if run.effects:
            # Held back from the commit on, so that the verdict is handed over.
            assert run.verdicts == [Applied("T-1")]
        await run.check()
        if is_late:
            break
    else:
        pytest.fail("never ran to its end")
    assert states == {State.RELEASED, State.COMMITTED}


async def cancel_natively_after(steps: int, run: Run) -> bool:
    """Cancel the calling task itself after so many turns of the event loop; return whether that came too late."""
    is_late = False
    async with anyio.create_task_group() as client:
        task = asyncio.ensure_future(run.call(client))
        for _ in range(steps):
            await asyncio.sleep(0)
        is_late = not task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert run.is_out or steps == 0
    return is_late


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_native_cancellation_leaves_a_release_or_a_commit_at_every_step(fingerprint: Fingerprint) -> None:
    states: set[State] = set()
    for steps in range(1, MOST_STEPS):
        run = Run(MemoryLedger(), fingerprint)
        is_late = await cancel_natively_after(steps, run)
        row = await run.ledger.read(KEY)
        assert row is not None
        states.add(row.state)
        await run.check()
        if is_late:
            break
    else:
        pytest.fail("never ran to its end")
    assert states == {State.RELEASED, State.COMMITTED}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_native_cancellation_twice_does_not_reach_the_commit_either(fingerprint: Fingerprint) -> None:
    for steps in range(1, 60):
        run = Run(MemoryLedger(), fingerprint)
        async with anyio.create_task_group() as client:
            task = asyncio.ensure_future(run.call(client))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await run.check()


class Gate:
    """Hold a call at one fault point until a test lets it go on."""

    def __init__(self, point: FaultPoint) -> None:
        self.point = point
        self.reached = anyio.Event()
        self.go_on = anyio.Event()

    async def __call__(self, point: FaultPoint) -> None:
        if point is self.point:
            self.reached.set()
            await self.go_on.wait()


@pytest.mark.anyio
@pytest.mark.parametrize("point", COMMIT_POINTS)
async def test_a_scope_cancelled_during_the_commit_gets_the_verdict(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    gate = Gate(point)
    run = Run(ledger, fingerprint, gate)
    async with anyio.create_task_group() as client:
        async with anyio.create_task_group() as caller:
            caller.start_soon(run.call, client)
            await gate.reached.wait()
            caller.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
            assert not run.is_out
            gate.go_on.set()
        assert run.verdicts == [Applied("T-1")]
    await run.check()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("point", list(FaultPoint))
async def test_a_task_cancelled_natively_waits_for_the_ledger_before_it_ends(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    gate = Gate(point)
    run = Run(ledger, fingerprint, gate)
    async with anyio.create_task_group() as client:
        task = asyncio.ensure_future(run.call(client))
        await gate.reached.wait()
        task.cancel()
        await anyio.wait_all_tasks_blocked()
        assert not task.done()
        gate.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert run.verdicts == []
    await run.check()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("point", list(FaultPoint))
async def test_a_client_cancelled_natively_as_a_whole_waits_for_its_keeper(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    gate = Gate(point)
    run = Run(ledger, fingerprint, gate)

    async def program() -> None:
        async with anyio.create_task_group() as client:
            await run.call(client)

    task = asyncio.ensure_future(program())
    await gate.reached.wait()
    task.cancel()
    await anyio.wait_all_tasks_blocked()
    assert not task.done()
    gate.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await run.check()


@pytest.mark.anyio
@pytest.mark.parametrize("point", list(FaultPoint))
async def test_a_client_closed_by_a_cancelled_scope_waits_for_its_keeper(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    gate = Gate(point)
    run = Run(ledger, fingerprint, gate)

    async def program() -> None:
        async with anyio.create_task_group() as client:
            await run.call(client)

    async with anyio.create_task_group() as outside:
        outside.start_soon(program)
        await gate.reached.wait()
        outside.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        gate.go_on.set()
    await run.check()


@pytest.mark.anyio
async def test_a_call_cancelled_beforehand_claims_nothing(ledger: Ledger, fingerprint: Fingerprint) -> None:
    run = Run(ledger, fingerprint)
    async with anyio.create_task_group() as client:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run.call(client)
    assert await ledger.read(KEY) is None


@pytest.mark.parametrize("point", [FaultPoint.BEFORE_INTENT, FaultPoint.INSIDE_EFFECT, FaultPoint.AFTER_EFFECT])
def test_an_event_loop_that_shuts_down_leaves_no_claim_that_says_too_little(
    sqlite_path: object, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    """The loop cancels every task, the keeper too: an effect that had begun must not look as if it had not."""
    run = Run(SqliteLedger(str(sqlite_path)), fingerprint)

    async def program() -> None:
        gate = Gate(point)
        run.reach = gate

        async def client() -> None:
            async with anyio.create_task_group() as group:
                await run.call(group)

        task = asyncio.ensure_future(client())
        await gate.reached.wait()
        assert not task.done()

    asyncio.run(program())
    row = asyncio.run(run.ledger.read(KEY))
    asyncio.run(run.ledger.aclose())
    assert row is not None
    if run.effects:
        assert row.state in (State.EFFECT_STARTED, State.IN_DOUBT)
    else:
        assert row.state is State.CLAIMED
