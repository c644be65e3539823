"""Values that wait for a person: stored, listed, allowed, forbidden, expired; judged again before anything is done."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, STOP, Clock, Failing, Pay, Payments, Stop, client_with, only_row

from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectContext
from commitgate.errors import (
    DecisionError,
    InProgressError,
    KeyConflictError,
    LedgerUnavailableError,
    MisuseError,
    NeedsApprovalError,
    StoredValueError,
)
from commitgate.gate.check_context import CheckContext
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RuleViolation
from commitgate.ledger import FaultLedger, FaultPoint, Ledger, MemoryLedger, SqliteLedger, State
from commitgate.outcome import Committed, EffectFailed, Invalid, NeedsApproval
from commitgate.run.approval import MOST_PERSON_CHARACTERS, MOST_WAITING_ORDERS, WaitingOrders
from commitgate.run.ending import APPROVAL_EXPIRED, REJECTED_BY_PERSON
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

DIGEST = sha256(PAYMENT.encode()).hexdigest()
UNLIKELY = [{"text": '{"amount":1', "legal_mass": 0.25}, {"text": '00,"to":"bob"}', "legal_mass": 0.75}, STOP]


def large(value: Pay, context: CheckContext) -> str | None:
    del context
    return "more than ten" if value.amount > 10 else None


async def propose(client: Client, payments: Payments, **options: Any) -> Any:
    asked = {"prompt": "x", "operation_key": "k", "effect": payments, "approve": large}
    return await client.generate_structured("scripted", Pay, **{**asked, **options})


class Rights:
    """Answer ``authorize`` with what a test sets."""

    def __init__(self, *, allows: bool = True) -> None:
        self.allows = allows
        self.asked: list[CheckContext] = []

    def __call__(self, value: Pay, context: CheckContext) -> bool:
        self.asked.append(context)
        return self.allows


async def test_value_is_stored_and_nothing_is_done_with_it() -> None:
    ledger, payments = MemoryLedger(), Payments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await propose(client, payments, approval_expires_s=60.0)
        (waiting,) = await client.approvals()
    assert isinstance(outcome, NeedsApproval)
    assert (outcome.reason, outcome.partial_text, payments.made) == ("more than ten", PAYMENT, [])
    assert outcome.receipt.value_digest == DIGEST
    row = await only_row(ledger)
    assert (row.state, row.value, row.lease_expires_at) == (State.AWAITING_APPROVAL, PAYMENT.encode(), None)
    assert (waiting.operation_key, waiting.reason) == ("k", "more than ten")
    assert (waiting.value_json, waiting.value_digest) == (PAYMENT.encode(), DIGEST)
    assert (waiting.effect_name, waiting.proposed_at) == ("payments", row.updated_at)
    assert 0 <= waiting.age_s < 60
    assert waiting.expires_at == row.updated_at + 60.0


async def test_waiting_values_are_listed_longest_first() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        for number in range(3):
            clock.ahead_s = number - 3.0
            await propose(client, Payments(), operation_key=f"k{number}")
        assert [each.operation_key for each in await client.approvals()] == ["k0", "k1", "k2"]
        for most in (1, 2):
            assert [each.operation_key for each in await client.approvals(limit=most)] == ["k0", "k1"][:most]


async def test_second_call_gives_the_same_proposal_and_asks_no_model() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        first, second = [await propose(client, Payments()) for _ in range(2)]
    assert isinstance(second, NeedsApproval)
    assert (second.reason, second.partial_text) == (first.reason, first.partial_text)
    assert second.receipt == first.receipt
    assert len(backend.requests) == 1


async def test_proposal_is_shown_again_only_to_a_principal_who_may_have_it() -> None:
    ledger, rights = MemoryLedger(), Rights()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments(), authorize=rights, principal="ann")
        rights.allows = False
        again = await propose(client, Payments(), authorize=rights, principal="eve")
        assert isinstance(again, Invalid)
        assert (again.layer, again.partial_text) == (Layer.AUTHORIZE, "")
        assert isinstance(await client.outcome("k", Pay, authorize=rights, principal="eve"), Invalid)
    assert [(each.principal, each.is_replay) for each in rights.asked[1:]] == [("eve", True), ("eve", True)]
    assert (await only_row(ledger)).state is State.AWAITING_APPROVAL


async def test_allowed_value_is_committed_with_its_effect_and_its_first_receipt() -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(UNLIKELY)
    async with client_with(backend, ledger) as client:
        proposed = await propose(client, payments)
        outcome = await client.approve("k", by="ann", value_digest=DIGEST)
        assert await client.approvals() == ()
        replayed = await propose(client, payments)
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.result, outcome.text) == (Pay(amount=100, to="bob"), "paid 100", PAYMENT)
    assert outcome.receipt == proposed.receipt
    assert (outcome.receipt.attempts, outcome.receipt.legal_mass_min) == (1, 0.25)
    assert (outcome.is_replayed, replayed.is_replayed) == (False, True)
    assert outcome.summary() == "the value is committed"
    assert replayed.receipt == proposed.receipt
    assert (len(payments.made), len(backend.requests)) == (1, 1)
    row = await only_row(ledger)
    assert (row.state, row.decided_by, row.attempt) == (State.COMMITTED, "ann", 2)


async def test_another_client_goes_on_with_what_it_is_told() -> None:
    ledger, payments, silent = MemoryLedger(), Payments(), ScriptedBackend([])
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
    async with client_with(silent, ledger) as other:
        outcome = await other.approve("k", by="ann", schema=Pay, effect=payments)
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.result) == (Pay(amount=100, to="bob"), "paid 100")
    assert (len(payments.made), silent.requests) == (1, [])


async def test_value_without_an_effect_is_committed_once_it_is_allowed() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments(), effect=None)
        outcome = await client.approve("k", by="ann")
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.result) == (Pay(amount=100, to="bob"), None)
    assert (await only_row(ledger)).state is State.COMMITTED


async def test_client_that_is_not_told_what_to_do_records_no_approval() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments())
    async with client_with(ScriptedBackend([]), ledger) as other:
        with pytest.raises(MisuseError, match="give schema= and effect="):
            await other.approve("k", by="ann")
    assert (await only_row(ledger)).state is State.AWAITING_APPROVAL


async def test_what_belongs_to_a_schema_is_not_taken_without_one() -> None:
    ledger, payments = MemoryLedger(), Payments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        untyped: Any = client
        for option in ({"effect": payments}, {"authorize": Rights()}, {"rules": [large]}, {"principal": "ann"}):
            with pytest.raises(MisuseError, match="schema"):
                await untyped.approve("k", by="ann", **option)
    assert (await only_row(ledger)).state is State.AWAITING_APPROVAL


async def test_approval_recorded_elsewhere_is_used_by_the_same_call_made_again() -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        proposed = await propose(client, payments)
        await ledger.approve((await only_row(ledger)).key, by="ann")
        again = await propose(client, payments)
    assert isinstance(again, Committed)
    assert not again.is_replayed
    assert again.receipt == proposed.receipt
    assert (len(payments.made), len(backend.requests)) == (1, 1)


async def test_value_is_judged_again_by_all_but_the_question_for_a_person() -> None:
    asked: list[str] = []

    def noted(word: str) -> Callable[..., None]:
        def check(*_: object) -> None:
            asked.append(word)

        return check

    def approve(value: Pay, context: CheckContext) -> bool:
        del value, context
        asked.append("approve")
        return True

    def authorize(value: Pay, context: CheckContext) -> bool:
        asked.append(f"authorize {context.is_replay}")
        return True

    checks: Any = {
        "rules": [noted("rule")],
        "content": [noted("content")],
        "evidence": [noted("evidence")],
        "authorize": authorize,
        "approve": approve,
    }
    async with client_with(ScriptedBackend(GOOD)) as client:
        await propose(client, Payments(), **checks)
        assert asked == ["rule", "content", "evidence", "approve", "authorize False"]
        asked.clear()
        assert isinstance(await client.approve("k", by="ann"), Committed)
    assert asked == ["rule", "content", "evidence", "authorize False"]


async def test_denial_after_the_approval_does_not_use_it_up() -> None:
    ledger, payments, rights = MemoryLedger(), Payments(), Rights()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, authorize=rights)
        rights.allows = False
        denied = await client.approve("k", by="ann")
        assert isinstance(denied, Invalid)
        assert denied.layer is Layer.AUTHORIZE
        row = await only_row(ledger)
        assert (row.state, row.lease_expires_at, payments.made) == (State.APPROVED, None, [])
        rights.allows = True
        assert isinstance(await client.approve("k", by="bob"), Committed)
    row = await only_row(ledger)
    assert (row.state, row.decided_by, len(payments.made)) == (State.COMMITTED, "ann", 1)


async def test_rule_that_is_new_since_refuses_the_allowed_value_and_keeps_it() -> None:
    ledger, payments = MemoryLedger(), Payments()

    def closed(value: Pay) -> RuleViolation:
        del value
        return RuleViolation("closed", "the account is closed")

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        refused = await client.approve("k", by="ann", schema=Contract.of(Pay, rules=[closed]), effect=payments)
        assert isinstance(refused, Invalid)
        assert (refused.layer, refused.failures[0].code) == (Layer.RULES, "closed")
        assert (await only_row(ledger)).state is State.APPROVED
        assert isinstance(await client.approve("k", by="ann", schema=Pay, effect=payments), Committed)
    assert len(payments.made) == 1


async def test_approving_twice_is_approving_once() -> None:
    ledger, payments, rights = MemoryLedger(), Payments(), Rights()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, authorize=rights)
        rights.allows = False
        for by in ("ann", "bob"):
            await client.approve("k", by=by)
        row = await only_row(ledger)
        assert (row.state, row.decided_by) == (State.APPROVED, "ann")
        rights.allows = True
        await client.approve("k", by="ann")
        with pytest.raises(DecisionError) as caught:
            await client.approve("k", by="ann", schema=Pay, effect=payments)
    assert caught.value.state == State.COMMITTED
    assert len(payments.made) == 1


async def test_two_clients_that_approve_at_once_have_one_effect() -> None:
    ledger, payments = MemoryLedger(), Payments()
    stop = Stop(FaultPoint.BEFORE_INTENT)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
    first, second = FaultLedger(ledger, stop), ledger
    endings: list[object] = []

    async def approve(seen: Ledger) -> None:
        async with client_with(ScriptedBackend([]), seen) as other:
            endings.append(await other.approve("k", by="ann", schema=Pay, effect=payments))

    async with anyio.create_task_group() as group:
        group.start_soon(approve, first)
        await stop.reached.wait()
        with pytest.raises(InProgressError):
            await approve(second)
        stop.go_on.set()
    assert [type(each) for each in endings] == [Committed]
    assert len(payments.made) == 1


async def test_racing_approvals_of_one_client_have_one_effect() -> None:
    ledger, payments, told = MemoryLedger(), Payments(), []
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)

        async def approve() -> None:
            try:
                told.append((await client.approve("k", by="ann", schema=Pay, effect=payments)).name)
            except (InProgressError, DecisionError) as error:
                told.append(type(error).__name__)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(approve)
    assert "committed" in told
    assert set(told) <= {"committed", "InProgressError", "DecisionError"}
    assert len(payments.made) == 1


async def test_another_value_than_the_one_looked_at_is_not_allowed() -> None:
    ledger, payments = MemoryLedger(), Payments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        with pytest.raises(DecisionError):
            await client.approve("k", by="ann", value_digest=sha256(b"another").hexdigest())
        assert (await only_row(ledger)).state is State.AWAITING_APPROVAL
        assert isinstance(await client.approve("k", by="ann", value_digest=DIGEST), Committed)


async def test_nothing_waits_under_an_unknown_key() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(DecisionError) as caught:
            await client.approve("secret-key", by="ann", schema=Pay)
        assert caught.value.state is None
        with pytest.raises(DecisionError) as other:
            await client.reject("secret-key", by="ann")
    assert "secret-key" not in f"{caught.value!r}{other.value!r}"


async def test_committed_value_can_be_neither_allowed_nor_forbidden() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments(), approve=None)
        with pytest.raises(DecisionError):
            await client.approve("k", by="ann", schema=Pay)
        with pytest.raises(DecisionError):
            await client.reject("k", by="ann")
    assert (await only_row(ledger)).state is State.COMMITTED


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"schema": {"type": "integer"}}, ("language_digest",)),
        ({"effect": None}, ("effect_name", "effect_version")),
    ],
    ids=["schema", "effect"],
)
async def test_going_on_otherwise_than_the_call_conflicts_before_anything_is_recorded(
    change: dict[str, Any], differs: tuple[str, ...]
) -> None:
    ledger, payments = MemoryLedger(), Payments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        with pytest.raises(KeyConflictError) as caught:
            await client.approve("k", by="ann", **{"schema": Pay, "effect": payments, **change})
        assert caught.value.differs == differs
        assert "give schema= and effect= as the call had them" in str(caught.value)
        assert (await only_row(ledger)).state is State.AWAITING_APPROVAL
        assert isinstance(await client.approve("k", by="ann", schema=Pay, effect=payments), Committed)
    assert len(payments.made) == 1


async def test_forbidden_value_is_never_acted_on() -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        proposed = await propose(client, payments)
        rejected = await client.reject("k", by="ann", reason="too much")
        assert await client.approvals() == ()
        with pytest.raises(DecisionError):
            await client.approve("k", by="bob", schema=Pay, effect=payments)
        twice = await client.reject("k", by="bob")
        again = await propose(client, payments)
    for each in (rejected, twice, again):
        assert isinstance(each, Invalid)
        assert (each.layer, each.failures[0].code, each.partial_text) == (Layer.AUTHORIZE, REJECTED_BY_PERSON, "")
        assert each.receipt == proposed.receipt
    row = await only_row(ledger)
    assert (row.state, row.decided_by, row.reason) == (State.REJECTED, "ann", "too much")
    assert (payments.made, len(backend.requests)) == ([], 1)


async def test_allowed_value_of_which_nobody_made_use_can_still_be_forbidden() -> None:
    ledger, payments, rights = MemoryLedger(), Payments(), Rights()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, authorize=rights)
        rights.allows = False
        await client.approve("k", by="ann")
        await client.reject("k", by="bob")
        rights.allows = True
        assert isinstance(await propose(client, payments, authorize=rights), Invalid)
    assert payments.made == []


async def test_forbidding_right_before_the_effect_keeps_it_from_starting() -> None:
    ledger, payments = MemoryLedger(), Payments()
    stop = Stop(FaultPoint.BEFORE_INTENT)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
    endings: list[object] = []

    async def approve() -> None:
        async with client_with(ScriptedBackend([]), FaultLedger(ledger, stop)) as other:
            endings.append(await other.approve("k", by="ann", schema=Pay, effect=payments))

    async with anyio.create_task_group() as group, client_with(ScriptedBackend([]), ledger) as judge:
        group.start_soon(approve)
        await stop.reached.wait()
        assert isinstance(await judge.reject("k", by="bob"), Invalid)
        stop.go_on.set()
    (ending,) = endings
    assert isinstance(ending, Invalid)
    assert ending.failures[0].code == REJECTED_BY_PERSON
    assert payments.made == []
    assert (await only_row(ledger)).state is State.REJECTED


async def test_proposal_ends_by_itself() -> None:
    clock = Clock()
    ledger, payments, backend = MemoryLedger(clock=clock), Payments(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        await propose(client, payments, approval_expires_s=60.0)
        clock.ahead_s = 61.0
        ended = await propose(client, payments)
        with pytest.raises(DecisionError):
            await client.approve("k", by="ann")
    assert isinstance(ended, Invalid)
    assert (ended.layer, ended.failures[0].code) == (Layer.AUTHORIZE, APPROVAL_EXPIRED)
    row = await only_row(ledger)
    assert (row.state, row.decided_by) == (State.REJECTED, None)
    assert (payments.made, len(backend.requests)) == ([], 1)


async def test_approval_that_comes_too_late_is_none() -> None:
    clock = Clock()
    ledger, payments = MemoryLedger(clock=clock), Payments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, approval_expires_s=60.0)
        clock.ahead_s = 61.0
        late = await client.approve("k", by="ann")
    assert isinstance(late, Invalid)
    assert late.failures[0].code == APPROVAL_EXPIRED
    assert payments.made == []


async def test_approval_of_which_nobody_made_use_in_time_ends_too() -> None:
    clock = Clock()
    ledger, payments, rights = MemoryLedger(clock=clock), Payments(), Rights()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, authorize=rights, approval_expires_s=60.0)
        rights.allows = False
        await client.approve("k", by="ann")
        rights.allows = True
        clock.ahead_s = 61.0
        ended = await propose(client, payments, authorize=rights)
    assert isinstance(ended, Invalid)
    assert ended.failures[0].code == APPROVAL_EXPIRED
    assert payments.made == []


async def test_approval_in_use_does_not_end_under_its_call() -> None:
    clock = Clock()
    ledger, payments = MemoryLedger(clock=clock), Payments()
    stop = Stop(FaultPoint.BEFORE_INTENT)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments, approval_expires_s=10.0)
    endings: list[object] = []

    async def approve() -> None:
        async with client_with(ScriptedBackend([]), FaultLedger(ledger, stop)) as other:
            endings.append(await other.approve("k", by="ann", schema=Pay, effect=payments))

    async with anyio.create_task_group() as group:
        group.start_soon(approve)
        await stop.reached.wait()
        clock.ahead_s = 11.0
        async with client_with(ScriptedBackend([]), ledger) as other:
            with pytest.raises(InProgressError):
                await propose(other, payments)
        stop.go_on.set()
    assert isinstance(endings[0], Committed)
    assert len(payments.made) == 1


async def test_expired_proposals_are_not_listed() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments(), approval_expires_s=60.0)
        await propose(client, Payments(), approval_expires_s=None, operation_key="for ever")
        clock.ahead_s = 100.0
        assert [each.operation_key for each in await client.approvals()] == ["for ever"]
        (waiting,) = await client.approvals()
    assert waiting.expires_at is None
    assert 100 <= waiting.age_s < 200


async def test_without_a_key_nothing_is_stored() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await propose(client, Payments(), operation_key=None, effect=None)
        assert isinstance(outcome, NeedsApproval)
        assert outcome.partial_text == PAYMENT
        assert await client.approvals() == ()
    assert await ledger.list() == ()


async def test_approval_that_is_cancelled_before_the_effect_is_kept() -> None:
    ledger, payments = MemoryLedger(), Payments()
    asked = anyio.Event()

    async def slow(value: Pay, context: CheckContext) -> bool:
        asked.set()
        await anyio.sleep_forever()
        return True

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        async with anyio.create_task_group() as group:

            async def approve() -> None:
                await client.approve("k", by="ann", schema=Pay, effect=payments, authorize=slow)

            group.start_soon(approve)
            await asked.wait()
            group.cancel_scope.cancel()
        row = await only_row(ledger)
        assert (row.state, row.lease_expires_at, payments.made) == (State.APPROVED, None, [])
        assert isinstance(await propose(client, payments), Committed)
    assert len(payments.made) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_task_cancelled_while_an_allowed_effect_runs_tears_nothing() -> None:
    ledger, started, go_on = MemoryLedger(), anyio.Event(), anyio.Event()

    class Slow(Payments):
        async def __call__(self, value: Pay, context: EffectContext) -> str:
            started.set()
            await go_on.wait()
            return await super().__call__(value, context)

    payments = Slow()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        task = asyncio.ensure_future(client.approve("k", by="ann"))
        await started.wait()
        task.cancel()
        await anyio.wait_all_tasks_blocked()
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert isinstance(await client.outcome("k"), Committed)
    assert (len(payments.made), (await only_row(ledger)).state) == (1, State.COMMITTED)


async def test_scope_cancelled_while_an_allowed_effect_runs_tears_nothing() -> None:
    ledger, started, go_on = MemoryLedger(), anyio.Event(), anyio.Event()

    async def slow(value: Pay, context: EffectContext) -> str:
        started.set()
        await go_on.wait()
        return "paid"

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments(), effect=slow)
        async with anyio.create_task_group() as group:

            async def approve() -> None:
                await client.approve("k", by="ann")

            group.start_soon(approve)
            await started.wait()
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
            go_on.set()
    assert ((await only_row(ledger)).state, (await only_row(ledger)).result) == (State.COMMITTED, b'"paid"')


@pytest.mark.parametrize("point", [FaultPoint.BEFORE_INTENT, FaultPoint.AFTER_COMMIT])
async def test_proposal_whose_write_failed_for_a_moment_waits_all_the_same(point: FaultPoint) -> None:
    ledger, payments = MemoryLedger(), Payments()
    failing = FaultLedger(ledger, Failing(point, LedgerUnavailableError("gone")))
    async with client_with(ScriptedBackend(GOOD), failing) as client:
        assert isinstance(await propose(client, payments), NeedsApproval)
        assert isinstance(await client.approve("k", by="ann"), Committed)
    assert len(payments.made) == 1


async def test_proposal_that_cannot_be_stored_frees_its_key() -> None:
    ledger = MemoryLedger()
    failing = FaultLedger(ledger, Failing(FaultPoint.BEFORE_INTENT, LedgerUnavailableError("gone"), times=9))
    async with client_with(ScriptedBackend(GOOD), failing) as client:
        with pytest.raises(LedgerUnavailableError):
            await propose(client, Payments())
    assert (await only_row(ledger)).state is State.RELEASED


async def test_value_that_was_changed_in_the_ledger_is_not_acted_on(tmp_path: Path) -> None:
    path, payments = tmp_path / "ledger.sqlite", Payments()
    ledger = SqliteLedger(path)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, payments)
        with closing(sqlite3.connect(path)) as database, database:
            (table,) = database.execute(
                "select name from sqlite_master where type = 'table' and sql like '%receipt%'"
            ).fetchone()
            database.execute(f"update {table} set value = ?", (b'{"amount":999,"to":"eve"}',))
        with pytest.raises(StoredValueError) as caught:
            await client.approve("k", by="ann")
        assert "eve" not in f"{caught.value!r}"
        assert "has run" not in str(caught.value)
    await ledger.aclose()
    assert payments.made == []


async def test_clean_no_of_the_effect_uses_the_approval_up() -> None:
    from commitgate.errors import EffectRejected

    ledger = MemoryLedger()

    class Declining(Payments):
        async def __call__(self, value: Pay, context: object) -> str:
            raise EffectRejected("no funds")

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Declining())
        ended = await client.approve("k", by="ann")
    assert isinstance(ended, EffectFailed)
    assert (ended.reason, ended.partial_text) == ("no funds", PAYMENT)
    assert (await only_row(ledger)).state is State.FAILED_BEFORE_EFFECT


async def test_wrong_arguments_are_misuse_and_decide_nothing() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await propose(client, Payments())
        untyped: Any = client
        wrong: list[Callable[[], Any]] = [
            lambda: untyped.approve("k", by=" "),
            lambda: untyped.approve("k", by=3),
            lambda: untyped.approve("k", by="x" * (MOST_PERSON_CHARACTERS + 1)),
            lambda: untyped.approve("k", by="ann", value_digest=b"x"),
            lambda: untyped.approve("k", by="ann", schema=Pay, effect=3),
            lambda: untyped.approve("", by="ann"),
            lambda: untyped.reject("k", by=""),
            lambda: untyped.reject("k", by="ann", reason=None),
            lambda: untyped.approvals(limit=0),
            lambda: untyped.approvals(limit="all"),
            lambda: propose(client, Payments(), approval_expires_s=0),
            lambda: propose(client, Payments(), approval_expires_s=float("inf")),
            lambda: propose(client, Payments(), approval_expires_s="week"),
            lambda: propose(client, Payments(), in_progress="queue"),
        ]
        for call in wrong:
            with pytest.raises(MisuseError):
                await call()
    assert (await only_row(ledger)).state is State.AWAITING_APPROVAL


@pytest.mark.parametrize("name", ["approve", "reject", "approvals", "outcome", "reconcile", "aclose"])
async def test_client_that_was_not_entered_decides_nothing(name: str) -> None:
    client: Any = Client(ledger=MemoryLedger())
    options: dict[str, Any] = {
        "approve": {"operation_key": "k", "by": "ann", "schema": Pay},
        "reject": {"operation_key": "k", "by": "ann"},
        "outcome": {"operation_key": "k"},
        "reconcile": {"operation_key": "k", "effect": Payments()},
    }.get(name, {})
    with pytest.raises(MisuseError, match="enter the client"):
        await getattr(client, name)(**options)


async def test_nothing_of_the_value_or_the_key_is_shown() -> None:
    ledger = MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await propose(client, Payments(), operation_key="secret-key")
        (waiting,) = await client.approvals()
        with pytest.raises(NeedsApprovalError) as caught:
            outcome.unwrap()
    shown = f"{outcome!r}{outcome.summary()}{waiting!r}{caught.value!r}"
    for payload in ("bob", "more than ten", "secret-key"):
        assert payload not in shown


def test_client_keeps_a_bounded_number_of_calls_in_mind() -> None:
    waiting, order = WaitingOrders(), object()
    kept: Any = waiting
    for number in range(MOST_WAITING_ORDERS + 1):
        kept.keep(f"k{number}", order)
    assert (kept.find("k0"), kept.find("k1")) == (None, order)
    kept.keep("k1", order)
    kept.keep("new", order)
    assert (kept.find("k1"), kept.find("k2")) == (order, None)
    kept.forget("k1")
    kept.forget("k1")
    assert kept.find("k1") is None
