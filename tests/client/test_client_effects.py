"""Kinds of effects: what is run again, under which identity, and what is in doubt."""

import functools
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, Clock, Failing, Pay, Stop, client_with, only_row

from commitgate import EffectKind, EffectRejected, NotApplied, by_key, once, transactional
from commitgate.client import Client
from commitgate.effect import Effect, EffectContext, TransactionContext
from commitgate.errors import InProgressError, LedgerUnavailableError, MisuseError, StoredValueError
from commitgate.gate.check_context import CheckContext
from commitgate.ledger import FaultLedger, FaultPoint, Ledger, MemoryLedger, Record, SqliteLedger, State
from commitgate.outcome import Committed, EffectFailed, InDoubt, TimedOut
from commitgate.testing import ScriptedBackend, fake_time
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio


class Deed:
    """Do what a test says at each run, and remember the runs."""

    effect_name = "deed"

    def __init__(self, kind: EffectKind, *acts: Callable[[], Any]) -> None:
        self.effect_kind = kind
        self.acts = list(acts)
        self.values: list[Pay] = []
        self.contexts: list[EffectContext] = []

    async def __call__(self, value: Pay, context: EffectContext) -> str:
        self.values.append(value)
        self.contexts.append(context)
        done: Any = self.acts.pop(0)() if self.acts else None
        if done is not None:
            await done
        return f"run {len(self.values)}"


def raising(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


async def act(client: Client, effect: Any, **options: Any) -> Any:
    return await client.generate_structured(
        "scripted", Pay, **{"prompt": "x", "operation_key": "k", "effect": effect, **options}
    )


async def dead_call(ledger: Ledger, deed: Deed) -> None:
    """Make a call of a process that dies once it has said that its effect starts."""
    stop = Stop(FaultPoint.AFTER_INTENT)
    left: list[Record] = []
    async with anyio.create_task_group() as group:

        async def call() -> None:
            async with client_with(ScriptedBackend(GOOD), FaultLedger(ledger, stop)) as client:
                await act(client, Deed(deed.effect_kind))

        group.start_soon(call)
        await stop.reached.wait()
        left += await ledger.list()
        stop.go_on.set()
    # Tasks cannot be killed as a process can: its row is put back to what it was.
    rows: Any = ledger
    rows._rows[left[0].key] = left[0]


# Marks


def test_marks_say_the_kind_and_leave_the_function_as_it_is() -> None:
    def look(key: str, record: object) -> NotApplied:
        return NotApplied()

    @once
    def bare(value: Pay, context: EffectContext) -> str:
        return "done"

    @by_key(name="shop.refund", version="2", reconcile=look)
    def named(value: Pay, context: EffectContext) -> str:
        return "done"

    @transactional(name="shop.row")
    def rows(value: Pay, context: TransactionContext) -> str:
        return "done"

    effects = [Effect[Pay, str].of(each) for each in (bare, named, rows)]
    assert [each.kind for each in effects] == [EffectKind.ONCE, EffectKind.BY_KEY, EffectKind.TRANSACTIONAL]
    assert [(each.name, each.version) for each in effects[1:]] == [("shop.refund", "2"), ("shop.row", "1")]
    assert [each.reconcile for each in effects] == [None, look, None]
    context = EffectContext("key", 1, 1, None)
    assert bare(Pay(amount=1, to="bob"), context) == named(Pay(amount=1, to="bob"), context) == "done"


def test_unmarked_function_is_of_kind_once() -> None:
    def plain(value: Pay, context: EffectContext) -> None: ...

    assert Effect[Pay, None].of(plain).kind is EffectKind.ONCE


def test_last_mark_wins_and_keeps_the_names_that_it_does_not_give() -> None:
    def look(key: str, record: object) -> NotApplied:
        return NotApplied()

    def deed(value: Pay, context: EffectContext) -> None: ...

    by_key(name="a", version="2", reconcile=look)(deed)
    made = Effect[Pay, None].of(once(deed))
    assert (made.kind, made.name, made.version, made.reconcile) == (EffectKind.ONCE, "a", "2", None)


@pytest.mark.parametrize("mark", [once, by_key, transactional])
@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"name": 3},
        {"version": " "},
        {"version": 2},
        {"name": "\ud800"},
    ],
    ids=str,
)
def test_mark_with_a_name_that_is_none_is_misuse_at_once(mark: Any, given: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        mark(**given)


@pytest.mark.parametrize("mark", [once, by_key])
@pytest.mark.parametrize("given", [3, "look", lambda: None, lambda key: None])
def test_reconcile_that_cannot_be_asked_is_misuse_at_once(mark: Any, given: Any) -> None:
    with pytest.raises(MisuseError):
        mark(reconcile=given)


class Slotted:
    __slots__ = ()

    def __call__(self, value: Pay, context: EffectContext) -> None: ...


class Office:
    def pay(self, value: Pay, context: EffectContext) -> None: ...


@pytest.mark.parametrize("function", [3, "deed", None, Slotted(), Office().pay], ids=repr)
def test_what_cannot_be_marked_is_misuse(function: Any) -> None:
    with pytest.raises(MisuseError):
        once()(function)


async def test_transactional_effect_that_is_async_is_misuse_at_once() -> None:
    async def rows(value: Pay, context: TransactionContext) -> None: ...

    with pytest.raises(MisuseError, match="plain def"):
        transactional(rows)
    with pytest.raises(MisuseError, match="plain def"):
        transactional(functools.partial(rows))


async def test_kind_that_is_none_is_misuse() -> None:
    def deed(value: Pay, context: EffectContext) -> None: ...

    marked: Any = deed
    marked.effect_kind = "by_key"
    with pytest.raises(MisuseError, match="once, by_key or transactional"):
        Effect[Pay, None].of(marked)


# once


async def test_effect_of_kind_once_is_not_run_again_by_itself() -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.ONCE, raising(ConnectionError("canary")))
    backend = ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        first, second = [await act(client, deed) for _ in range(2)]
    for each in (first, second):
        assert isinstance(each, InDoubt)
        assert each.reason == "the effect raised ConnectionError"
    assert (len(deed.values), len(backend.requests)) == (1, 1)
    assert "canary" not in f"{first!r}{first.summary()}"
    assert isinstance(first.cause, ConnectionError)


async def test_effect_of_kind_once_whose_call_died_is_in_doubt_after_its_lease() -> None:
    clock = Clock()
    ledger, deed = MemoryLedger(clock=clock), Deed(EffectKind.ONCE)
    await dead_call(ledger, deed)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        with pytest.raises(InProgressError):
            await act(client, deed)
        clock.ahead_s += 31
        assert isinstance(await act(client, deed), InDoubt)
    assert deed.values == []


# by_key


async def test_effect_by_key_is_run_again_with_the_same_value_and_identity() -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(ConnectionError()))
    backend = ScriptedBackend(GOOD, then=[[{"text": '{"amount":999,"to":"eve"}'}, {"finish": "stop"}]])
    async with client_with(backend, ledger) as client:
        first = await act(client, deed)
        assert isinstance(first, InDoubt)
        assert "call again with the same key" in first.reason
        second = await act(client, deed)
        third = await act(client, deed)
    assert isinstance(second, Committed)
    assert (second.value, second.result, second.is_replayed) == (Pay(amount=100, to="bob"), "run 2", False)
    assert second.receipt == first.receipt
    assert (third.result, third.is_replayed) == ("run 2", True)
    assert deed.values == [Pay(amount=100, to="bob")] * 2
    assert len({each.key for each in deed.contexts}) == 1
    assert [(each.fence, each.attempt) for each in deed.contexts] == [(1, 1), (2, 2)]
    assert len(backend.requests) == 1


async def test_effect_by_key_of_a_dead_call_is_run_again_after_its_lease() -> None:
    clock = Clock()
    ledger, deed = MemoryLedger(clock=clock), Deed(EffectKind.BY_KEY)
    backend = ScriptedBackend([])
    await dead_call(ledger, deed)
    clock.ahead_s += 31
    async with client_with(backend, ledger) as client:
        outcome = await act(client, deed)
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.text) == (Pay(amount=100, to="bob"), PAYMENT)
    assert (deed.contexts[0].fence, backend.requests) == (2, [])


async def test_call_that_was_overtaken_tells_what_the_row_says() -> None:
    clock, go_on, started = Clock(), anyio.Event(), anyio.Event()
    ledger = MemoryLedger(clock=clock)

    def wait() -> Any:
        started.set()
        return go_on.wait()

    deed = Deed(EffectKind.BY_KEY, wait)
    endings: dict[str, Any] = {}

    async def slow() -> None:
        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            endings["slow"] = await act(client, deed)

    async with anyio.create_task_group() as group:
        group.start_soon(slow)
        await started.wait()
        clock.ahead_s += 31
        async with client_with(ScriptedBackend([]), ledger) as client:
            endings["quick"] = await act(client, deed)
        endings["row"] = await only_row(ledger)
        go_on.set()
    assert (endings["quick"].result, endings["slow"].result) == ("run 2", "run 2")
    row = await only_row(ledger)
    assert row == endings["row"]
    assert (row.state, row.fence, row.result) == (State.COMMITTED, 2, b'"run 2"')


async def test_overtaken_call_whose_successor_still_runs_is_in_doubt() -> None:
    clock, started = Clock(), [anyio.Event(), anyio.Event()]
    go_on = [anyio.Event(), anyio.Event()]
    ledger = MemoryLedger(clock=clock)

    def wait(number: int) -> Callable[[], Any]:
        def wait_for() -> Any:
            started[number].set()
            return go_on[number].wait()

        return wait_for

    deed = Deed(EffectKind.BY_KEY, wait(0), wait(1))
    endings: dict[int, Any] = {}

    async def call(number: int) -> None:
        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            endings[number] = await act(client, deed)

    async with anyio.create_task_group() as group:
        group.start_soon(call, 0)
        await started[0].wait()
        clock.ahead_s += 31
        group.start_soon(call, 1)
        await started[1].wait()
        go_on[0].set()
        while 0 not in endings:
            await anyio.lowlevel.checkpoint()
        go_on[1].set()
    assert isinstance(endings[0], InDoubt)
    assert isinstance(endings[1], Committed)


async def test_denial_of_a_takeover_leaves_it_in_doubt() -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(ConnectionError()))
    asked: list[bool] = []

    def authorize(value: Pay, context: CheckContext) -> bool:
        asked.append(context.is_replay)
        return len(asked) != 2

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, deed, authorize=authorize)
        denied = await act(client, deed, authorize=authorize)
        assert isinstance(denied, InDoubt)
        assert "may not have it done" in denied.reason
        assert (await only_row(ledger)).state is State.IN_DOUBT
        assert len(deed.values) == 1
        assert isinstance(await act(client, deed, authorize=authorize), Committed)
    assert asked == [False, True, True]


async def test_clean_no_at_the_second_run_is_the_end() -> None:
    ledger = MemoryLedger()
    deed = Deed(EffectKind.BY_KEY, raising(ConnectionError()), raising(EffectRejected("no funds")))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, deed)
        second, third = [await act(client, deed) for _ in range(2)]
    for each in (second, third):
        assert isinstance(each, EffectFailed)
        assert each.reason == "no funds"
    assert len(deed.values) == 2


async def test_takeover_that_is_cancelled_leaves_the_key_to_the_next_call_at_once() -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(ConnectionError()))
    asked = anyio.Event()

    async def slow(value: Pay, context: CheckContext) -> bool:
        if context.is_replay:
            asked.set()
            await anyio.sleep_forever()
        return True

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, deed, authorize=slow)
        async with anyio.create_task_group() as group:

            async def again() -> None:
                await act(client, deed, authorize=slow)

            group.start_soon(again)
            await asked.wait()
            group.cancel_scope.cancel()
        assert (await only_row(ledger)).state is State.IN_DOUBT
        assert isinstance(await act(client, deed), Committed)
    assert len(deed.values) == 2


async def test_takeover_of_a_value_that_cannot_be_read_blocks_nobody() -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(ConnectionError()))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, deed)
        row = await only_row(ledger)
        rows: Any = ledger
        rows._rows[row.key] = replace(row, value=b'{"amount":999,"to":"eve"}')
        for _ in range(2):
            with pytest.raises(StoredValueError) as caught:
                await act(client, deed)
            assert "eve" not in str(caught.value)
    assert len(deed.values) == 1


async def test_lost_answers_of_every_write_change_nothing() -> None:
    for point in (FaultPoint.AFTER_CLAIM, FaultPoint.AFTER_INTENT, FaultPoint.AFTER_COMMIT):
        for kind in (EffectKind.ONCE, EffectKind.BY_KEY):
            ledger, deed = MemoryLedger(), Deed(kind)
            failing = FaultLedger(ledger, Failing(point, LedgerUnavailableError("gone")))
            async with client_with(ScriptedBackend(GOOD), failing) as client:
                outcome = await act(client, deed)
            assert isinstance(outcome, Committed), (point, kind)
            assert (len(deed.values), (await only_row(ledger)).attempt) == (1, 1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_interrupt_in_an_effect_is_recorded_and_raised(error: BaseException) -> None:
    ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(error))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        with pytest.raises(type(error)):
            await act(client, deed)
        assert (await only_row(ledger)).state is State.IN_DOUBT
        assert isinstance(await act(client, deed), Committed)


# transactional


@transactional
def move(value: Pay, context: TransactionContext) -> int:
    context.connection.execute("INSERT INTO payment (cents, payee) VALUES (?, ?)", (value.amount, value.to))
    rows = context.connection.execute("SELECT count(*) FROM payment").fetchone()
    assert rows is not None
    return int(str(rows[0]))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE payment (cents INTEGER CHECK (cents < 1000), payee TEXT)")
    return path


@pytest.fixture
async def ledger(shop: Path) -> AsyncIterator[SqliteLedger]:
    made = SqliteLedger(shop, shares_database=True)
    yield made
    await made.aclose()


def payments(shop: Path) -> list[Any]:
    with closing(sqlite3.connect(shop)) as database:
        return database.execute("SELECT cents, payee FROM payment").fetchall()


async def test_rows_and_result_are_written_together(shop: Path, ledger: SqliteLedger) -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        first, second = [await act(client, move) for _ in range(2)]
    assert (first.result, first.is_replayed) == (1, False)
    assert (second.result, second.is_replayed) == (1, True)
    assert payments(shop) == [(100, "bob")]
    assert len(backend.requests) == 1


async def test_context_of_a_transaction_tells_what_every_effect_is_told(ledger: SqliteLedger) -> None:
    seen: list[TransactionContext] = []

    @transactional(name="deed")
    def look(value: Pay, context: TransactionContext) -> None:
        seen.append(context)

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await act(client, look, timeouts=Timeouts(total_s=60.0))
    (context,) = seen
    assert (context.key, context.fence, context.attempt) == (outcome.receipt.effect_key, 1, 1)
    assert context.deadline is not None
    assert context.key not in repr(context)


async def test_effect_that_raises_is_rolled_back_and_nothing_happened(shop: Path, ledger: SqliteLedger) -> None:
    @transactional(name="deed")
    def deed(value: Pay, context: TransactionContext) -> None:
        move(value, context)
        raise OSError("canary")

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        first, second = [await act(client, deed) for _ in range(2)]
    for each in (first, second):
        assert isinstance(each, EffectFailed)
        assert each.reason == "the effect raised OSError; its transaction was rolled back"
        assert "canary" not in f"{each!r}{each.summary()}"
    assert isinstance(first.cause, OSError)
    assert second.cause is None
    assert payments(shop) == []


async def test_clean_no_in_a_transaction_leaves_no_rows(shop: Path, ledger: SqliteLedger) -> None:
    @transactional(name="deed")
    def deed(value: Pay, context: TransactionContext) -> None:
        move(value, context)
        raise EffectRejected("no funds")

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        first, second = [await act(client, deed) for _ in range(2)]
    assert [(type(each), each.reason) for each in (first, second)] == [(EffectFailed, "no funds")] * 2
    assert payments(shop) == []


async def test_result_without_json_form_is_rolled_back(shop: Path, ledger: SqliteLedger) -> None:
    @transactional(name="deed")
    def deed(value: Pay, context: TransactionContext) -> object:
        move(value, context)
        return object()

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await act(client, deed)
    assert isinstance(outcome, EffectFailed)
    assert isinstance(outcome.cause, ValueError)
    assert payments(shop) == []


async def test_function_that_hands_on_a_coroutine_is_rolled_back(shop: Path, ledger: SqliteLedger) -> None:
    async def later() -> None: ...

    @transactional(name="deed")
    def deed(value: Pay, context: TransactionContext) -> Any:
        move(value, context)
        return later()

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await act(client, deed)
    assert isinstance(outcome, EffectFailed)
    assert isinstance(outcome.cause, MisuseError)
    assert payments(shop) == []


async def test_lost_answer_to_the_commit_is_settled(shop: Path, ledger: SqliteLedger) -> None:
    failing = FaultLedger(ledger, Failing(FaultPoint.AFTER_COMMIT, LedgerUnavailableError("gone")))
    async with client_with(ScriptedBackend(GOOD), failing) as client:
        outcome = await act(client, move)
    assert (outcome.name, outcome.result) == ("committed", 1)
    assert payments(shop) == [(100, "bob")]


class Unreachable(FaultLedger):
    """Lose the answer to the commit, and cannot be asked any more."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger, Failing(FaultPoint.AFTER_COMMIT, LedgerUnavailableError("gone"), times=9))
        self.is_gone = False

    async def transact(self, *args: Any, **options: Any) -> bytes:
        if self.is_gone:
            raise LedgerUnavailableError("gone")
        self.is_gone = True
        return await super().transact(*args, **options)

    async def extend(self, *args: Any, **options: Any) -> None:
        raise LedgerUnavailableError("gone")

    async def read(self, *args: Any, **options: Any) -> Any:
        raise LedgerUnavailableError("gone")


async def test_commit_of_which_nobody_can_be_asked_is_in_doubt_and_settled_by_the_next_call(
    shop: Path, ledger: SqliteLedger
) -> None:
    async with client_with(ScriptedBackend(GOOD), Unreachable(ledger)) as client:
        outcome = await act(client, move)
    assert isinstance(outcome, InDoubt)
    assert "call again with the same key" in outcome.reason
    async with client_with(ScriptedBackend([]), ledger) as client:
        again = await act(client, move)
    assert (again.result, again.is_replayed) == (1, True)
    assert payments(shop) == [(100, "bob")]


async def test_store_that_fails_under_the_effect_is_asked_again_in_a_new_transaction(
    shop: Path, ledger: SqliteLedger
) -> None:
    runs: list[int] = []

    class Flaky(FaultLedger):
        async def transact(self, key: Any, fence: int, work: Callable[[Any], bytes]) -> bytes:
            def broken(transaction: Any) -> bytes:
                runs.append(fence)
                if len(runs) == 1:
                    raise sqlite3.OperationalError("disk I/O error")
                return work(transaction)

            try:
                return await super().transact(key, fence, broken)
            except Exception as error:
                if len(runs) == 1:
                    raise LedgerUnavailableError("gone") from error
                raise

    async def reach(point: FaultPoint) -> None: ...

    async with client_with(ScriptedBackend(GOOD), Flaky(ledger, reach)) as client:
        outcome = await act(client, move)
    assert outcome.result == 1
    assert (runs, payments(shop)) == ([1, 1], [(100, "bob")])


async def test_store_that_stays_gone_leaves_a_key_that_the_next_call_can_have_at_once(
    shop: Path, ledger: SqliteLedger
) -> None:
    class Gone(FaultLedger):
        async def transact(self, *args: Any, **options: Any) -> bytes:
            raise LedgerUnavailableError("gone")

    async def reach(point: FaultPoint) -> None: ...

    async with client_with(ScriptedBackend(GOOD), Gone(ledger, reach)) as client:
        with pytest.raises(LedgerUnavailableError):
            await act(client, move)
    async with client_with(ScriptedBackend([]), ledger) as client:
        assert (await act(client, move)).result == 1
    assert payments(shop) == [(100, "bob")]


async def test_interrupt_in_a_transaction_is_raised_and_the_next_call_runs_it(shop: Path, ledger: SqliteLedger) -> None:
    stops = [True]

    @transactional(name="deed")
    def deed(value: Pay, context: TransactionContext) -> int:
        count = move(value, context)
        if stops.pop() if stops else False:
            raise SystemExit(3)
        return count

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        with pytest.raises(SystemExit):
            await act(client, deed)
        assert payments(shop) == []
        assert (await act(client, deed)).result == 1
    assert payments(shop) == [(100, "bob")]


async def test_overtaken_transaction_writes_nothing(shop: Path) -> None:
    clock = Clock()
    ledger, stop = SqliteLedger(shop, clock=clock, shares_database=True), Stop(FaultPoint.AFTER_INTENT)
    endings: list[Any] = []

    async def slow() -> None:
        async with client_with(ScriptedBackend(GOOD), FaultLedger(ledger, stop)) as client:
            endings.append(await act(client, move))

    async with anyio.create_task_group() as group:
        group.start_soon(slow)
        await stop.reached.wait()
        clock.ahead_s += 31
        async with client_with(ScriptedBackend([]), ledger) as client:
            endings.append(await act(client, move))
        stop.go_on.set()
    assert [(each.result, each.receipt.attempts) for each in endings] == [(1, 1), (1, 1)]
    assert payments(shop) == [(100, "bob")]
    await ledger.aclose()


async def test_ledger_without_transactions_is_misuse_before_anything_is_sent() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        with pytest.raises(MisuseError, match="SqliteLedger or PostgresLedger"):
            await act(client, move)
    assert (backend.requests, await ledger.list()) == ([], ())


# Limits on time


class TestInTime:
    @pytest.fixture(params=["asyncio", "trio"])
    def anyio_backend(self, request: pytest.FixtureRequest) -> Any:
        return fake_time(request.param)

    @pytest.mark.parametrize("kind", [EffectKind.ONCE, EffectKind.BY_KEY])
    async def test_effect_past_the_calls_time_is_in_doubt(self, kind: EffectKind) -> None:
        ledger, deed = MemoryLedger(), Deed(kind, anyio.sleep_forever)
        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            outcome = await act(client, deed, timeouts=Timeouts(total_s=60.0))
            assert isinstance(outcome, InDoubt)
            assert ("call again" in outcome.reason) is (kind is EffectKind.BY_KEY)
            assert ("look downstream" in outcome.summary()) is (kind is not EffectKind.BY_KEY)
            assert anyio.current_time() == pytest.approx(60.0, abs=1.0)
            again = await act(client, deed)
        assert isinstance(again, Committed if kind is EffectKind.BY_KEY else InDoubt)

    async def test_takeover_past_its_time_is_in_doubt_and_left_to_the_next_call(self) -> None:
        ledger, deed = MemoryLedger(), Deed(EffectKind.BY_KEY, raising(ConnectionError()))

        async def slow(value: Pay, context: CheckContext) -> bool:
            if context.is_replay:
                await anyio.sleep_forever()
            return True

        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            await act(client, deed, authorize=slow)
            late = await act(client, deed, authorize=slow, timeouts=Timeouts(total_s=60.0))
            assert isinstance(late, InDoubt)
            assert "no time left" in late.reason
            assert isinstance(await act(client, deed), Committed)
        assert len(deed.values) == 2

    async def test_approved_value_past_the_calls_time_stays_approved(self) -> None:
        ledger, deed = MemoryLedger(), Deed(EffectKind.ONCE)

        async def slow(value: Pay, context: CheckContext) -> bool:
            await anyio.sleep_forever()
            return True

        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            await act(client, deed, approve=lambda value, context: True)
            late = await client.approve(
                "k", by="ann", schema=Pay, effect=deed, authorize=slow, timeouts=Timeouts(total_s=60.0)
            )
            assert isinstance(late, TimedOut)
            assert (late.phase, (await only_row(ledger)).state) == ("total", State.APPROVED)
            assert isinstance(await client.approve("k", by="ann", schema=Pay, effect=deed), Committed)
        assert len(deed.values) == 1
