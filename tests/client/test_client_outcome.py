"""Asking the ledger what a key stands for: nothing is asked, run or written."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, Clock, Pay, Payments, client_with, only_row

from commitgate import EffectKind, EffectRejected
from commitgate.client import Client
from commitgate.errors import InProgressError, MisuseError, StoredValueError
from commitgate.gate.check_context import CheckContext
from commitgate.gate.layers import Layer
from commitgate.ledger import Ledger, MemoryLedger, Record, State
from commitgate.ledger.states import LEASE_ENDED_REASON
from commitgate.outcome import Committed, EffectFailed, InDoubt, Invalid, NeedsApproval
from commitgate.run.ending import APPROVAL_EXPIRED, REJECTED_BY_PERSON
from commitgate.run.standing import NOT_USED_YET
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


async def call(client: Client, **options: Any) -> Any:
    return await client.generate_structured("scripted", Pay, **{"prompt": "x", "operation_key": "k", **options})


def person(value: Pay, context: CheckContext) -> bool:
    return True


async def change(ledger: MemoryLedger, **parts: Any) -> Record:
    """Put a row into the ledger as a call of another process, or a damaged disk, would have left it."""
    row = replace(await only_row(ledger), **parts)
    rows: Any = ledger
    rows._rows[row.key] = row
    return row


async def rows_of(ledger: Ledger) -> tuple[Record, ...]:
    return await ledger.list()


async def test_key_under_which_nothing_was_chosen_has_no_outcome() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    async with client_with(ScriptedBackend([{"refusal": "no"}]), ledger) as client:
        assert await client.outcome("k") is None
        await call(client)
        assert (await only_row(ledger)).state is State.RELEASED
        assert await client.outcome("k") is None
        await change(ledger, state=State.CLAIMED, lease_expires_at=clock() - 1)
        assert await client.outcome("k") is None


async def test_committed_value_comes_as_it_is_read() -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        first = await call(client, effect=payments)
        before = await rows_of(ledger)
        plain, typed = await client.outcome("k"), await client.outcome("k", Pay)
    assert isinstance(plain, Committed)
    assert isinstance(typed, Committed)
    assert (plain.value, plain.result) == ({"amount": 100, "to": "bob"}, "paid 100")
    assert (typed.value, typed.result, typed.text) == (Pay(amount=100, to="bob"), "paid 100", PAYMENT)
    assert (plain.is_replayed, typed.receipt) == (True, first.receipt)
    assert await rows_of(ledger) == before
    assert (len(payments.made), len(backend.requests)) == (1, 1)


async def test_value_without_an_effect_has_no_result() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        await call(client)
        outcome = await client.outcome("k")
    assert isinstance(outcome, Committed)
    assert outcome.result is None


async def test_committed_value_is_handed_only_to_who_may_have_it() -> None:
    asked: list[CheckContext] = []

    def authorize(value: Pay, context: CheckContext) -> bool:
        asked.append(context)
        return context.principal == "ann"

    async with client_with(ScriptedBackend(GOOD)) as client:
        await call(client)
        denied = await client.outcome("k", Pay, authorize=authorize, principal="eve")
        allowed = await client.outcome("k", Pay, authorize=authorize, principal="ann")
    assert isinstance(denied, Invalid)
    assert (denied.layer, denied.partial_text) == (Layer.AUTHORIZE, "")
    assert isinstance(allowed, Committed)
    assert [(each.principal, each.is_replay) for each in asked] == [("eve", True), ("ann", True)]


async def test_running_call_is_in_progress() -> None:
    async with client_with(ScriptedBackend([{"text": "{"}, {"wait": None}])) as client:
        async with client.stream_structured("scripted", Pay, prompt="x", operation_key="k") as run:
            await anext(run)
            with pytest.raises(InProgressError):
                await client.outcome("k")
            run.cancel()
        assert await client.outcome("k") is None


async def test_effect_in_progress_is_told_and_later_in_doubt() -> None:
    clock, started, go_on = Clock(), anyio.Event(), anyio.Event()
    ledger = MemoryLedger(clock=clock)

    async def deed(value: Pay, context: object) -> None:
        started.set()
        await go_on.wait()

    async with client_with(ScriptedBackend(GOOD), ledger) as client, anyio.create_task_group() as group:

        async def act() -> None:
            await call(client, effect=deed)

        group.start_soon(act)
        await started.wait()
        with pytest.raises(InProgressError):
            await client.outcome("k")
        go_on.set()
    await change(ledger, state=State.EFFECT_STARTED, result=None, lease_expires_at=clock() - 1)
    async with client_with(ScriptedBackend([]), ledger) as client:
        outcome = await client.outcome("k")
        assert isinstance(outcome, InDoubt)
        assert outcome.reason == LEASE_ENDED_REASON
        assert (await only_row(ledger)).state is State.EFFECT_STARTED


async def test_effect_that_broke_is_in_doubt_and_one_that_declined_failed() -> None:
    async def broken(value: Pay, context: object) -> None:
        raise OSError("canary")

    async def declining(value: Pay, context: object) -> None:
        raise EffectRejected("no funds")

    async with client_with(ScriptedBackend(GOOD)) as client:
        await call(client, effect=broken, operation_key="broken")
        await call(client, effect=declining, operation_key="declining")
        broke, declined = await client.outcome("broken"), await client.outcome("declining")
    assert isinstance(broke, InDoubt)
    assert isinstance(declined, EffectFailed)
    assert (broke.reason, declined.reason) == ("the effect raised OSError", "no funds")


async def test_proposal_is_told_with_its_text_until_it_ends() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        first = await call(client, approve=person, approval_expires_s=60.0)
        waiting = await client.outcome("k")
        assert isinstance(waiting, NeedsApproval)
        assert (waiting.reason, waiting.partial_text) == (first.reason, PAYMENT)
        assert waiting.receipt == first.receipt
        row = await change(ledger, expires_at=clock() - 1)
        ended = await client.outcome("k")
        assert isinstance(ended, Invalid)
        assert ended.failures[0].code == APPROVAL_EXPIRED
        assert await rows_of(ledger) == (row,)


async def test_allowed_value_waits_for_its_call_until_it_ends() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await call(client, approve=person, approval_expires_s=60.0)
        await ledger.approve((await only_row(ledger)).key, by="ann")
        allowed = await client.outcome("k")
        assert isinstance(allowed, NeedsApproval)
        assert allowed.reason == NOT_USED_YET
        await change(ledger, expires_at=clock() - 1)
        ended = await client.outcome("k")
        assert isinstance(ended, Invalid)
        assert ended.failures[0].code == APPROVAL_EXPIRED


async def test_forbidden_value_is_told_as_such() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        await call(client, approve=person)
        await client.reject("k", by="ann")
        outcome = await client.outcome("k")
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].code) == (Layer.AUTHORIZE, REJECTED_BY_PERSON)


async def test_value_or_result_that_cannot_be_read_is_an_error_without_payload() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await call(client, effect=Payments())
        whole = await only_row(ledger)
        for parts in ({"value": None}, {"value": b'{"amount":999}'}, {"result": b"canary"}, {"result": b"[" * 99_999}):
            await change(ledger, **{"value": whole.value, "result": whole.result, **parts})
            with pytest.raises(StoredValueError) as caught:
                await client.outcome("k")
            assert "canary" not in f"{caught.value!r}"
        await change(ledger, value=whole.value, result=whole.result)
        with pytest.raises(StoredValueError):
            await client.outcome("k", int)


async def test_committed_row_whose_effect_has_no_result_is_damaged() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await call(client, effect=Payments())
        row = await change(ledger, result=None)
        assert row.effect_kind is EffectKind.ONCE
        with pytest.raises(StoredValueError):
            await client.outcome("k")


async def test_proposal_that_was_changed_in_the_ledger_is_told_as_damaged_and_not_as_committed() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await call(client, approve=person)
        await change(ledger, value=b'{"amount":999,"to":"eve"}')
        with pytest.raises(StoredValueError) as caught:
            await client.outcome("k")
    assert "has run" not in str(caught.value)


@pytest.mark.parametrize("key", ["", 3, None])
async def test_key_that_is_none_is_misuse(key: Any) -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(MisuseError):
            await client.outcome(key)
