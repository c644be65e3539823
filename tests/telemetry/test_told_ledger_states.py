"""The state that is told of a call is the one in which its row stands."""

from typing import Any

import anyio
import pytest
from test_observers import Noting
from told_calls import BY_NAME, CANARY, ENDINGS, GOOD, Ending, Pay, client_of, pay

from commitgate.effect import EffectContext
from commitgate.effect_mark import by_key, once
from commitgate.errors import InProgressError, KeyConflictError, LedgerUnavailableError
from commitgate.finding import Applied
from commitgate.ledger import Ledger, MemoryLedger, State
from commitgate.retry.keys import OperationKey

pytestmark = pytest.mark.anyio

KEY = f"key {CANARY}"


def state_told(observer: Noting) -> Any:
    """Return what the last call told."""
    return [what for method, what in observer.told if method == "ended"][-1].ledger_state


class Noticing(MemoryLedger):
    """Notice that a key was claimed."""

    def __init__(self) -> None:
        super().__init__()
        self.was_claimed = anyio.Event()

    async def claim(self, *what: Any, **how: Any) -> Any:
        claimed = await super().claim(*what, **how)
        self.was_claimed.set()
        return claimed


async def state_of(ledger: Ledger) -> str | None:
    row = await ledger.read(OperationKey(KEY))
    return None if row is None else str(row.state)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.outcome)
async def test_state_of_every_ending_is_that_of_the_row(ending: Ending) -> None:
    observer, ledger = Noting(), MemoryLedger()
    async with client_of(ending.script, [observer], ledger) as client:
        await ending.run(client)
    expected = None if ending.outcome == "compile_failed" else ending.ledger_state  # before the key was claimed
    assert state_told(observer) == await state_of(ledger) == expected


async def test_state_is_not_told_of_a_call_without_a_key() -> None:
    observer = Noting()
    async with client_of(GOOD, [observer]) as client:
        await client.generate_structured("scripted", Pay, prompt="x")
    assert state_told(observer) is None


async def test_state_of_a_replay_is_the_one_that_was_found() -> None:
    observer, ledger = Noting(), MemoryLedger()
    for name in ("needs_approval", "in_doubt", "committed", "effect_failed"):
        ending, ledger = BY_NAME[name], MemoryLedger()
        async with client_of(ending.script, [observer], ledger) as client:
            for _ in range(2):
                await ending.run(client)
        assert state_told(observer) == await state_of(ledger) == ending.ledger_state


async def test_state_follows_a_decision() -> None:
    observer, ledger = Noting(), MemoryLedger()
    async with client_of(GOOD, [observer], ledger) as client:
        await BY_NAME["needs_approval"].run(client, effect=pay)
        await client.approve(KEY, by="ann")
    assert state_told(observer) == await state_of(ledger) == State.COMMITTED
    forbidden = MemoryLedger()
    async with client_of(GOOD, [observer], forbidden) as client:
        await BY_NAME["needs_approval"].run(client, effect=pay)
        await client.reject(KEY, by="ann")
        await BY_NAME["needs_approval"].run(client, effect=pay)
    assert state_told(observer) == await state_of(forbidden) == State.REJECTED


async def test_approved_value_that_is_refused_now_waits_as_before() -> None:
    observer, ledger = Noting(), MemoryLedger()
    allows = [True]
    options = {"effect": pay, "authorize": lambda value, context: allows[0]}
    async with client_of(GOOD, [observer], ledger) as client:
        await BY_NAME["needs_approval"].run(client, **options)
        allows[0] = False
        await client.approve(KEY, by="ann")
    assert state_told(observer) == await state_of(ledger) == State.APPROVED


async def test_doubt_that_a_look_settles_is_told_as_settled() -> None:
    async def found(value: Pay, context: EffectContext) -> Applied[str]:
        del value, context
        return Applied("paid")

    @once(reconcile=found)
    async def effect(value: Pay, context: EffectContext) -> str:
        del value, context
        raise RuntimeError(CANARY)

    observer, ledger = Noting(), MemoryLedger()
    async with client_of(GOOD, [observer], ledger) as client:
        await BY_NAME["in_doubt"].run(client, effect=effect)
        assert state_told(observer) == State.IN_DOUBT
        await BY_NAME["in_doubt"].run(client, effect=effect)
    assert state_told(observer) == await state_of(ledger) == State.COMMITTED


async def test_effect_that_may_be_run_again_is_told_as_committed_once_it_was() -> None:
    broken = [True]

    @by_key
    async def send(value: Pay, context: EffectContext) -> str:
        del context
        if broken[0]:
            raise RuntimeError(CANARY)
        return value.to

    observer, ledger = Noting(), MemoryLedger()
    async with client_of(GOOD, [observer], ledger) as client:
        await BY_NAME["in_doubt"].run(client, effect=send)
        assert state_told(observer) == await state_of(ledger) == State.IN_DOUBT
        broken[0] = False
        await BY_NAME["in_doubt"].run(client, effect=send)
    assert state_told(observer) == await state_of(ledger) == State.COMMITTED


async def test_state_is_not_told_where_the_key_is_somebody_elses() -> None:
    observer, ledger = Noting(), MemoryLedger()
    async with client_of(GOOD, [observer], ledger) as client:
        await BY_NAME["committed"].run(client)
        with pytest.raises(KeyConflictError):
            await BY_NAME["committed"].run(client, prompt="another")
        assert state_told(observer) is None
    waiting: Any = [{"wait": None}]
    held = Noticing()
    async with client_of(waiting, [observer], held) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(BY_NAME["committed"].run, client)
        # A call builds its contract in a thread before it claims, and a task that waits for a thread counts as blocked.
        await held.was_claimed.wait()
        with pytest.raises(InProgressError):
            await BY_NAME["committed"].run(client)
        assert state_told(observer) is None
        tasks.cancel_scope.cancel()


async def test_state_is_not_told_where_the_ledger_cannot_say() -> None:
    class Broken(MemoryLedger):
        async def release(self, key: OperationKey, fence: int, *, ending: str) -> None:
            raise LedgerUnavailableError("the disk is full")

    observer = Noting()
    async with client_of(BY_NAME["refused"].script, [observer], Broken()) as client:
        await BY_NAME["refused"].run(client)
    assert state_told(observer) is None
