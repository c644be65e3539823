"""Effects in doubt that are looked for downstream: by the next call with the key, and by an operator."""

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from scripts import GOOD, Pay, client_with, only_row

from commitgate import Applied, EffectContext, NotApplied, Unknown, by_key, once
from commitgate.client import Client
from commitgate.errors import (
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import FaultLedger, Ledger, MemoryLedger, Record, State
from commitgate.ledger.steps import Finding
from commitgate.outcome import Committed, EffectFailed, InDoubt
from commitgate.run.reconciling import NOT_APPLIED_REASON
from commitgate.testing import ScriptedBackend, fake_time
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio


class Office:
    """Break at the effect, and answer what a test says when it is asked what became of it."""

    def __init__(self, *findings: Callable[[], Any], is_async: bool = True) -> None:
        self.findings = list(findings)
        self.runs = 0
        self.key = ""
        self.asked: list[tuple[str, Record]] = []
        self.threads: list[int] = []

        async def look(key: str, record: Record) -> Any:
            found = self.look(key, record)
            return await found if hasattr(found, "__await__") else found

        @once(name="office", reconcile=look if is_async else self.look)
        async def effect(value: Pay, context: EffectContext) -> str:
            self.runs += 1
            self.key = context.key
            raise ConnectionError("canary")

        self.effect = effect

    def look(self, key: str, record: Record) -> Any:
        self.asked.append((key, record))
        self.threads.append(threading.get_ident())
        return (self.findings.pop(0) if len(self.findings) > 1 else self.findings[0])()


def raising(error: BaseException) -> Callable[[], Any]:
    def find() -> Any:
        raise error

    return find


async def act(client: Client, effect: Any, **options: Any) -> Any:
    return await client.generate_structured(
        "scripted", Pay, **{"prompt": "x", "operation_key": "k", "effect": effect, **options}
    )


@pytest.mark.parametrize("is_async", [True, False])
async def test_next_call_has_it_looked_for_and_hands_over_what_was_applied(is_async: bool) -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    office = Office(lambda: Applied("T-1"), is_async=is_async)
    async with client_with(backend, ledger) as client:
        first = await act(client, office.effect)
        assert isinstance(first, InDoubt)
        second, third = [await act(client, office.effect) for _ in range(2)]
    for each in (second, third):
        assert isinstance(each, Committed)
        assert (each.value, each.result, each.is_replayed) == (Pay(amount=100, to="bob"), "T-1", True)
        assert each.receipt == first.receipt
    ((key, record),) = office.asked
    assert (key, record.state, record.value) == (office.key, State.IN_DOUBT, b'{"amount":100,"to":"bob"}')
    assert (office.runs, len(backend.requests)) == (1, 1)
    row = await only_row(ledger)
    assert (row.state, row.decided_by, row.reason) == (State.COMMITTED, "reconcile", None)
    assert (office.threads == [threading.get_ident()]) is is_async


async def test_effect_that_did_not_happen_has_failed_for_good() -> None:
    ledger, office = MemoryLedger(), Office(NotApplied)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        second, third = [await act(client, office.effect) for _ in range(2)]
    for each in (second, third):
        assert isinstance(each, EffectFailed)
        assert "another key" in each.reason
    row = await only_row(ledger)
    assert (row.state, row.reason) == (State.NOT_APPLIED, NOT_APPLIED_REASON)
    assert (office.runs, len(office.asked)) == (1, 1)


async def test_what_nobody_can_know_stays_in_doubt_and_is_looked_for_again() -> None:
    ledger, office = MemoryLedger(), Office(Unknown, Unknown, lambda: Applied("T-1"))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        first = await act(client, office.effect)
        for _ in range(2):
            again = await act(client, office.effect)
            assert isinstance(again, InDoubt)
            assert again.reason == first.reason == "the effect raised ConnectionError"
        assert isinstance(await act(client, office.effect), Committed)
    assert len(office.asked) == 3


async def test_words_of_a_person_who_could_not_find_out_reach_no_outcome() -> None:
    ledger, office = MemoryLedger(), Office(Unknown, raising(OSError()))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        row = await only_row(ledger)
        await ledger.reconcile(row.key, row.fence, by="ann", finding=Finding.UNKNOWN, reason="canary of Ada's")
        told = [await client.outcome("k")] + [await act(client, office.effect) for _ in range(3)]
    for each in told:
        assert isinstance(each, InDoubt)
        assert "nobody can know" in each.reason
        assert "canary" not in f"{each!r}{each.summary()}"


@pytest.mark.parametrize("is_async", [True, False])
async def test_looking_that_breaks_leaves_it_in_doubt(is_async: bool) -> None:
    ledger = MemoryLedger()
    office = Office(raising(OSError("canary")), lambda: Applied("T-1"), is_async=is_async)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        before = await only_row(ledger)
        again = await act(client, office.effect)
        assert isinstance(again, InDoubt)
        assert again.reason == "the effect raised ConnectionError; its reconcile function raised OSError"
        assert isinstance(again.cause, OSError)
        assert "canary" not in f"{again!r}{again.summary()}"
        assert await only_row(ledger) == before
        assert isinstance(await act(client, office.effect), Committed)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_interrupt_while_looking_goes_on(error: BaseException) -> None:
    office = Office(raising(error))
    async with client_with(ScriptedBackend(GOOD)) as client:
        await act(client, office.effect)
        with pytest.raises(type(error)):
            await act(client, office.effect)


@pytest.mark.parametrize("found", [None, True, "applied", Applied, NotApplied, Applied(object())], ids=repr)
async def test_what_is_no_finding_is_misuse_and_nothing_is_written(found: Any) -> None:
    ledger, office = MemoryLedger(), Office(lambda: found)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        before = await only_row(ledger)
        with pytest.raises(MisuseError):
            await act(client, office.effect)
        with pytest.raises(MisuseError):
            await client.reconcile("k", office.effect)
    assert await only_row(ledger) == before


async def test_effect_by_key_is_run_again_and_not_looked_for() -> None:
    asked: list[str] = []
    runs: list[str] = []

    def look(key: str, record: Record) -> Applied[str]:
        asked.append(key)
        return Applied("looked")

    @by_key(name="deed", reconcile=look)
    async def deed(value: Pay, context: EffectContext) -> str:
        runs.append(context.key)
        if len(runs) == 1:
            raise ConnectionError
        return "ran"

    async with client_with(ScriptedBackend(GOOD)) as client:
        await act(client, deed)
        assert (await act(client, deed)).result == "ran"
    assert (len(runs), asked) == (2, [])


async def test_two_calls_that_look_at_once_say_the_same() -> None:
    ledger, both = MemoryLedger(), anyio.Event()

    async def wait() -> Applied[str]:
        if len(office.asked) == 2:
            both.set()
        await both.wait()
        return Applied("T-1")

    office = Office(wait)
    endings: list[Any] = []
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)

        async def again() -> None:
            endings.append(await act(client, office.effect))

        async with anyio.create_task_group() as group:
            group.start_soon(again)
            group.start_soon(again)
    assert [(each.name, each.result) for each in endings] == [("committed", "T-1")] * 2


async def test_finding_whose_answer_was_lost_is_settled_by_the_next_call() -> None:
    ledger, office = MemoryLedger(), Office(lambda: Applied("T-1"))

    class Losing(FaultLedger):
        async def reconcile(self, *args: Any, **options: Any) -> Record:
            await super().reconcile(*args, **options)
            raise LedgerUnavailableError("gone")

    async def reach(point: object) -> None: ...

    losing: Ledger = Losing(ledger, reach)
    async with client_with(ScriptedBackend(GOOD), losing) as client:
        await act(client, office.effect)
        with pytest.raises(LedgerUnavailableError):
            await act(client, office.effect)
        again = await act(client, office.effect)
    assert (again.result, len(office.asked)) == ("T-1", 1)


# By an operator


async def test_operator_has_it_looked_for() -> None:
    ledger, office = MemoryLedger(), Office(lambda: Applied("T-1"))
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        outcome = await client.reconcile("k", office.effect, by="ann")
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.result) == ({"amount": 100, "to": "bob"}, "T-1")
    assert (await only_row(ledger)).decided_by == "ann"


async def test_operator_is_told_what_looking_raised() -> None:
    ledger, office = MemoryLedger(), Office(raising(OSError("down")), Unknown)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await act(client, office.effect)
        with pytest.raises(OSError, match="down"):
            await client.reconcile("k", office.effect)
        assert isinstance(await client.reconcile("k", office.effect), InDoubt)


async def test_nothing_is_looked_for_where_nothing_is_in_doubt() -> None:
    office = Office(lambda: Applied("T-1"))
    async with client_with(ScriptedBackend(GOOD)) as client:
        for key, state in (("never", None), ("k", State.COMMITTED)):
            if state is not None:
                await act(client, office.effect)
                await client.reconcile("k", office.effect)
            with pytest.raises(IllegalTransitionError) as caught:
                await client.reconcile(key, office.effect)
            assert caught.value.state == state
    assert len(office.asked) == 1


async def test_running_effect_is_not_settled_by_looking() -> None:
    ledger, started, go_on = MemoryLedger(), anyio.Event(), anyio.Event()

    def look(key: str, record: Record) -> NotApplied:
        return NotApplied()

    @once(name="deed", reconcile=look)
    async def deed(value: Pay, context: EffectContext) -> str:
        started.set()
        await go_on.wait()
        return "done"

    endings: list[Any] = []
    async with client_with(ScriptedBackend(GOOD), ledger) as client, anyio.create_task_group() as group:

        async def call() -> None:
            endings.append(await act(client, deed))

        group.start_soon(call)
        await started.wait()
        with pytest.raises(InProgressError):
            await client.reconcile("k", deed)
        go_on.set()
    assert endings[0].result == "done"


async def test_another_effects_function_is_not_asked() -> None:
    office, asked = Office(lambda: Applied("T-1")), []

    def look(key: str, record: Record) -> Applied[str]:
        asked.append(key)
        return Applied("wrong")

    async def deed(value: Pay, context: EffectContext) -> str:
        return "done"

    other = once(name="other", version="2", reconcile=look)(deed)
    async with client_with(ScriptedBackend(GOOD)) as client:
        await act(client, office.effect)
        with pytest.raises(KeyConflictError) as caught:
            await client.reconcile("k", other)
        assert caught.value.differs == ("effect_name", "effect_version")
    assert asked == []


async def test_effect_without_a_function_that_looks_is_misuse() -> None:
    async def deed(value: Pay, context: EffectContext) -> None: ...

    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(MisuseError, match=r"reconcile=.*commitgate ledger reconcile"):
            await client.reconcile("k", deed)
        with pytest.raises(MisuseError):
            await client.reconcile("k", deed, by=" ")


class TestInTime:
    @pytest.fixture(params=["asyncio", "trio"])
    def anyio_backend(self, request: pytest.FixtureRequest) -> Any:
        return fake_time(request.param)

    @pytest.mark.parametrize("is_async", [True, False])
    async def test_looking_ends_with_the_calls_time(self, is_async: bool) -> None:
        ledger = MemoryLedger()
        office = Office(anyio.sleep_forever, lambda: Applied("T-1"), is_async=is_async)
        async with client_with(ScriptedBackend(GOOD), ledger) as client:
            await act(client, office.effect)
            late = await act(client, office.effect, timeouts=Timeouts(total_s=60.0))
            assert isinstance(late, InDoubt)
            assert "had not answered in time" in late.reason
            assert anyio.current_time() == pytest.approx(60.0, abs=1.0)
            assert isinstance(await act(client, office.effect), Committed)
