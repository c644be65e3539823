"""What every store of the ledger does alike."""

import logging
import traceback
from dataclasses import replace
from typing import Any

import pytest

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    DecisionError,
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
    LedgerError,
    MisuseError,
)
from commitgate.ledger import Claimed, Fingerprint, Ledger, MemoryLedger, Record, State
from commitgate.ledger.states import EXPIRED_REASON
from commitgate.ledger.steps import Finding
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")


async def claim(ledger: Ledger, fingerprint: Fingerprint, *, owner: str = "first") -> Claimed:
    claimed = await ledger.claim(KEY, fingerprint, owner=owner, lease_s=30.0)
    assert isinstance(claimed, Claimed)
    return claimed


async def start(ledger: Ledger, fingerprint: Fingerprint) -> int:
    fence = (await claim(ledger, fingerprint)).fence
    await ledger.start_effect(KEY, fence, value=b'{"a":1}', receipt=b'{"r":1}', lease_s=30.0)
    return fence


async def replay(ledger: Ledger, fingerprint: Fingerprint) -> Record:
    found = await ledger.claim(KEY, fingerprint, owner="later", lease_s=30.0)
    assert isinstance(found, Record)
    return found


async def test_a_key_that_was_never_claimed_has_no_row(ledger: Ledger) -> None:
    assert await ledger.read(KEY) is None


async def test_a_committed_effect_is_replayed_with_all_that_was_stored(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.commit(KEY, fence, result=b'"T-1"')
    found = await replay(ledger, fingerprint)
    assert found.state is State.COMMITTED
    assert (found.value, found.receipt, found.result) == (b'{"a":1}', b'{"r":1}', b'"T-1"')
    assert (found.key, found.owner, found.fingerprint) == (KEY, "first", fingerprint)


async def test_a_value_without_an_effect_is_stored_and_committed_at_once(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    plain = replace(fingerprint, effect_name=None, effect_version=None)
    claimed = await claim(ledger, plain)
    await ledger.commit_value(KEY, claimed.fence, value=b"[]", receipt=b"{}")
    found = await replay(ledger, plain)
    assert (found.state, found.value, found.result) == (State.COMMITTED, b"[]", None)


async def test_a_value_is_stored_before_its_effect(ledger: Ledger, fingerprint: Fingerprint) -> None:
    await start(ledger, fingerprint)
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.state, row.value, row.receipt) == (State.EFFECT_STARTED, b'{"a":1}', b'{"r":1}')


async def test_a_clean_no_is_replayed_with_its_words(ledger: Ledger, fingerprint: Fingerprint) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.fail_before_effect(KEY, fence, reason="sold out\0\ud800")
    found = await replay(ledger, fingerprint)
    assert (found.state, found.reason) == (State.FAILED_BEFORE_EFFECT, "sold out\0\ud800")


async def test_a_doubt_is_replayed_and_never_claimed(ledger: Ledger, fingerprint: Fingerprint, clock) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.mark_in_doubt(KEY, fence, reason="the effect raised OSError")
    clock.now += 1_000_000
    found = await replay(ledger, fingerprint)
    assert (found.state, found.reason) == (State.IN_DOUBT, "the effect raised OSError")


async def test_a_released_key_is_claimed_by_the_next_call(ledger: Ledger, fingerprint: Fingerprint) -> None:
    first = await claim(ledger, fingerprint)
    await ledger.release(KEY, first.fence, ending="truncated")
    assert await claim(ledger, fingerprint, owner="second") == Claimed(2, 2)


async def test_a_lease_that_ended_while_claimed_is_taken_over_and_the_first_call_writes_nothing(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    first = await claim(ledger, fingerprint)
    clock.now += 30.0
    second = await claim(ledger, fingerprint, owner="second")
    assert second == Claimed(2, 2)
    with pytest.raises(LeaseLostError):
        await ledger.start_effect(KEY, first.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.state, row.owner, row.value) == (State.CLAIMED, "second", None)


async def test_a_lease_that_ended_after_the_effect_started_becomes_a_doubt_and_stays_one(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await start(ledger, fingerprint)
    clock.now += 30.0
    for _ in range(2):
        found = await replay(ledger, fingerprint)
        assert found.state is State.IN_DOUBT
        assert found.value == b'{"a":1}'


@pytest.mark.parametrize("late", ["commit", "fail"])
async def test_a_final_write_under_the_same_fence_settles_a_doubt(
    ledger: Ledger, fingerprint: Fingerprint, clock, late: str
) -> None:
    fence = await start(ledger, fingerprint)
    clock.now += 30.0
    await replay(ledger, fingerprint)
    if late == "commit":
        await ledger.commit(KEY, fence, result=b"1")
    else:
        await ledger.fail_before_effect(KEY, fence, reason="no")
    found = await replay(ledger, fingerprint)
    assert found.state is (State.COMMITTED if late == "commit" else State.FAILED_BEFORE_EFFECT)


async def test_extending_moves_the_end_of_the_lease(ledger: Ledger, fingerprint: Fingerprint, clock) -> None:
    claimed = await claim(ledger, fingerprint)
    clock.now += 29.0
    await ledger.extend(KEY, claimed.fence, lease_s=30.0)
    clock.now += 29.0
    with pytest.raises(InProgressError) as caught:
        await claim(ledger, fingerprint, owner="second")
    assert caught.value.lease_remaining_s == pytest.approx(1.0)


async def test_extending_a_row_in_doubt_says_that_the_lease_is_lost(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    fence = await start(ledger, fingerprint)
    clock.now += 30.0
    await replay(ledger, fingerprint)
    with pytest.raises(LeaseLostError):
        await ledger.extend(KEY, fence, lease_s=30.0)


async def test_a_refused_step_changes_nothing(ledger: Ledger, fingerprint: Fingerprint) -> None:
    claimed = await claim(ledger, fingerprint)
    before = await ledger.read(KEY)
    with pytest.raises(IllegalTransitionError):
        await ledger.commit(KEY, claimed.fence, result=b"1")
    with pytest.raises(LeaseLostError):
        await ledger.release(KEY, claimed.fence + 1, ending="refused")
    with pytest.raises(InProgressError):
        await claim(ledger, fingerprint, owner="second")
    assert await ledger.read(KEY) == before


@pytest.mark.parametrize("part", ["language_digest", "effect_name", "effect_version", "input_fingerprint"])
async def test_a_conflict_is_found_by_each_part(ledger: Ledger, fingerprint: Fingerprint, part: str) -> None:
    await claim(ledger, fingerprint)
    with pytest.raises(KeyConflictError) as caught:
        await claim(ledger, replace(fingerprint, **{part: "other"}))
    assert caught.value.differs == (part,)


async def test_rows_are_listed_latest_change_first_and_by_state(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    keys = [operation_key(text) for text in ("a", "b", "c")]
    for key in keys:
        clock.now += 1
        await ledger.claim(key, fingerprint, owner="first", lease_s=30.0)
    await ledger.release(keys[0], 1, ending="refused")
    clock.now += 1
    await ledger.extend(keys[1], 1, lease_s=30.0)
    assert [row.key for row in await ledger.list()] == ["b", "a", "c"]
    assert [row.key for row in await ledger.list(limit=2)] == ["b", "a"]
    assert [row.key for row in await ledger.list(limit=2, is_oldest_first=True)] == ["a", "c"]
    assert [row.key for row in await ledger.list(states=[State.RELEASED])] == ["a"]
    assert await ledger.list(states=[]) == ()


@pytest.mark.parametrize("limit", [0, -1, True, "1"])
async def test_no_fewer_than_one_row_is_asked_for(ledger: Ledger, limit: Any) -> None:
    for ask in (ledger.list, ledger.scan):
        with pytest.raises(MisuseError, match="limit"):
            await ask(limit=limit)


async def test_no_payload_and_no_key_is_shown(
    ledger: Ledger, fingerprint: Fingerprint, clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "canary-7f3a"
    key = operation_key(canary)
    secret = canary.encode()
    shown: list[str] = []
    owned = replace(fingerprint, input_fingerprint=canary)
    first = await ledger.claim(key, owned, owner="first", lease_s=30.0)
    assert isinstance(first, Claimed)
    attempts = (
        ledger.claim(key, owned, owner="second", lease_s=30.0),
        ledger.claim(key, fingerprint, owner="second", lease_s=30.0),
        ledger.commit(key, first.fence, result=secret),
        ledger.fail_before_effect(key, first.fence, reason=canary),
        ledger.start_effect(key, 99, value=secret, receipt=secret, lease_s=30.0),
    )
    for attempt in attempts:
        with pytest.raises(LedgerError) as caught:
            await attempt
        shown += [repr(caught.value), str(caught.value), repr(vars(caught.value))]
        shown.append("".join(traceback.format_exception(caught.value, chain=True)))
    await ledger.start_effect(key, first.fence, value=secret, receipt=secret, lease_s=30.0)
    await ledger.commit(key, first.fence, result=secret)
    row = await ledger.read(key)
    assert row is not None
    assert row.value == secret
    shown += [repr(row), str(row), repr(ledger), caplog.text]
    assert not [text for text in shown if canary in text]


async def propose(ledger: Ledger, fingerprint: Fingerprint, *, expires_s: float | None = None) -> int:
    fence = (await claim(ledger, fingerprint)).fence
    await ledger.propose(
        KEY, fence, value=b'{"a":1}', receipt=b'{"r":1}', reason="over 100\0\ud800", expires_s=expires_s
    )
    return fence


async def row_of(ledger: Ledger) -> Record:
    row = await ledger.read(KEY)
    assert row is not None
    return row


async def test_a_proposal_is_stored_whole_and_replayed_to_every_call_until_somebody_decides(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await propose(ledger, fingerprint, expires_s=60.0)
    clock.now += 59.0
    found = await replay(ledger, fingerprint)
    assert (found.state, found.value, found.receipt) == (State.AWAITING_APPROVAL, b'{"a":1}', b'{"r":1}')
    assert (found.reason, found.expires_at, found.lease_expires_at) == ("over 100\0\ud800", 1_060.0, None)
    assert found == await row_of(ledger)


async def test_an_approved_value_is_handed_to_the_next_call_and_to_one_alone(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    fence = await propose(ledger, fingerprint)
    digest = (await row_of(ledger)).value_digest
    approved = await ledger.approve(KEY, by="Ada Lovelace\ud800", value_digest=digest)
    assert (approved.state, approved.decided_by, approved.fence) == (State.APPROVED, "Ada Lovelace\ud800", fence)
    assert approved == await row_of(ledger)
    claimed = await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0, effect_kind=EffectKind.BY_KEY)
    assert isinstance(claimed, Claimed)
    assert claimed.fence == fence + 1
    assert claimed.resumed == await row_of(ledger)
    assert claimed.resumed is not None
    assert (claimed.resumed.value, claimed.resumed.effect_kind) == (b'{"a":1}', EffectKind.BY_KEY)
    with pytest.raises(InProgressError):
        await ledger.claim(KEY, fingerprint, owner="third", lease_s=30.0)


async def test_another_value_than_the_one_that_was_looked_at_is_not_approved(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    await propose(ledger, fingerprint)
    before = await row_of(ledger)
    with pytest.raises(DecisionError, match="not the one"):
        await ledger.approve(KEY, by="Ada", value_digest="0" * 64)
    assert await row_of(ledger) == before


async def test_a_rejected_value_stays_rejected(ledger: Ledger, fingerprint: Fingerprint) -> None:
    await propose(ledger, fingerprint)
    rejected = await ledger.reject(KEY, by="Ada", reason="too much")
    assert (rejected.state, rejected.decided_by, rejected.reason) == (State.REJECTED, "Ada", "too much")
    assert await replay(ledger, fingerprint) == rejected
    with pytest.raises(DecisionError) as caught:
        await ledger.approve(KEY, by="Eve")
    assert caught.value.state == "rejected"


@pytest.mark.parametrize("asked_by", ["claim", "approve"])
async def test_a_proposal_of_which_nobody_decided_in_time_is_rejected(
    ledger: Ledger, fingerprint: Fingerprint, clock, asked_by: str
) -> None:
    await propose(ledger, fingerprint, expires_s=60.0)
    clock.now += 60.0
    if asked_by == "claim":
        found = await replay(ledger, fingerprint)
    else:
        found = await ledger.approve(KEY, by="Ada")
    assert (found.state, found.reason) == (State.REJECTED, EXPIRED_REASON)
    assert await row_of(ledger) == found


async def test_a_decision_about_nothing_is_an_error(ledger: Ledger, fingerprint: Fingerprint) -> None:
    for decide in (ledger.approve(KEY, by="Ada"), ledger.reject(KEY, by="Ada", reason="no")):
        with pytest.raises(DecisionError) as caught:
            await decide
        assert caught.value.state is None
    await claim(ledger, fingerprint)
    with pytest.raises(DecisionError):
        await ledger.approve(KEY, by="Ada")
    assert (await row_of(ledger)).state is State.CLAIMED


@pytest.mark.parametrize("finding", list(Finding))
async def test_a_doubt_is_settled_by_what_was_found_out(
    ledger: Ledger, fingerprint: Fingerprint, finding: Finding
) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.mark_in_doubt(KEY, fence, reason="the effect raised OSError")
    result = b'"T-9"' if finding is Finding.APPLIED else None
    found = await ledger.reconcile(KEY, fence, by="Ada", finding=finding, result=result, reason="looked")
    assert found == await row_of(ledger)
    expected = {
        Finding.APPLIED: (State.COMMITTED, b'"T-9"', None),
        Finding.NOT_APPLIED: (State.NOT_APPLIED, None, "looked"),
        Finding.UNKNOWN: (State.IN_DOUBT, None, "looked"),
    }
    assert (found.state, found.result, found.reason) == expected[finding]
    assert (found.decided_by, found.value) == ("Ada", b'{"a":1}')
    assert await replay(ledger, fingerprint) == found


async def test_a_finding_about_an_effect_that_runs_or_about_an_earlier_try_is_refused(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    fence = await start(ledger, fingerprint)
    before = await row_of(ledger)
    with pytest.raises(InProgressError):
        await ledger.reconcile(KEY, fence, by="Ada", finding=Finding.APPLIED, result=b"1")
    clock.now += 31
    with pytest.raises(LeaseLostError):
        await ledger.reconcile(KEY, fence - 1, by="Ada", finding=Finding.NOT_APPLIED)
    assert await row_of(ledger) == before
    found = await ledger.reconcile(KEY, fence, by="Ada", finding=Finding.NOT_APPLIED)
    assert found.state is State.NOT_APPLIED
    with pytest.raises(LeaseLostError):
        await ledger.commit(KEY, fence, result=b"1")


@pytest.mark.parametrize("kind", [EffectKind.BY_KEY, EffectKind.TRANSACTIONAL])
async def test_an_effect_that_may_run_again_is_resumed_with_the_stored_value(
    ledger: Ledger, fingerprint: Fingerprint, clock, kind: EffectKind
) -> None:
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0, effect_kind=kind)
    assert isinstance(claimed, Claimed)
    await ledger.start_effect(KEY, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    clock.now += 31
    resumed = await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0, effect_kind=kind)
    assert isinstance(resumed, Claimed)
    assert (resumed.fence, resumed.attempt, resumed.resumed) == (2, 2, await row_of(ledger))
    with pytest.raises(LeaseLostError):
        await ledger.commit(KEY, claimed.fence, result=b"1")
    await ledger.commit(KEY, resumed.fence, result=b"2")
    assert (await replay(ledger, fingerprint)).result == b"2"


async def test_claiming_again_as_the_same_call_gives_the_same_claim(ledger: Ledger, fingerprint: Fingerprint) -> None:
    assert await claim(ledger, fingerprint) == await claim(ledger, fingerprint) == Claimed(1, 1)


async def test_a_clock_that_is_set_back_does_not_keep_the_lease_of_a_dead_call(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await claim(ledger, fingerprint)
    clock.now -= 3_600.0
    with pytest.raises(InProgressError) as caught:
        await claim(ledger, fingerprint, owner="second")
    assert caught.value.lease_remaining_s <= 30.0
    clock.now += 30.0
    assert await claim(ledger, fingerprint, owner="second") == Claimed(2, 2)


async def test_pruning_deletes_what_ended_long_ago_and_never_what_is_in_doubt(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.mark_in_doubt(KEY, fence, reason="why")
    await ledger.claim(operation_key("held"), fingerprint, owner="first", lease_s=10_000.0)
    waiting = operation_key("waiting")
    await ledger.claim(waiting, fingerprint, owner="first", lease_s=30.0)
    await ledger.propose(waiting, 1, value=b"1", receipt=b"{}", reason="r", expires_s=None)
    running = operation_key("running")
    await ledger.claim(running, fingerprint, owner="first", lease_s=30.0)
    await ledger.start_effect(running, 1, value=b"1", receipt=b"{}", lease_s=30.0)
    for name in ("old", "young"):
        clock.now = 2_000.0 if name == "young" else 1_000.0
        await ledger.claim(operation_key(name), fingerprint, owner="first", lease_s=30.0)
        await ledger.release(operation_key(name), 1, ending="refused")
    clock.now = 5_000.0
    assert await ledger.prune(older_than_s=3_500.0) == 1
    assert {row.key for row in await ledger.list()} == {KEY, "held", "waiting", "running", "young"}
    assert await ledger.prune(older_than_s=3_500.0) == 0


async def test_pruning_deletes_no_more_than_asked_for(ledger: Ledger, fingerprint: Fingerprint, clock) -> None:
    for number in range(5):
        await ledger.claim(operation_key(str(number)), fingerprint, owner="first", lease_s=30.0)
        await ledger.release(operation_key(str(number)), 1, ending="refused")
    clock.now += 1.0
    assert [await ledger.prune(older_than_s=0.0, limit=2) for _ in range(4)] == [2, 2, 1, 0]


@pytest.mark.parametrize("options", [{"older_than_s": -1.0}, {"older_than_s": 0.0, "limit": 0}])
async def test_pruning_without_sense_is_misuse(ledger: Ledger, options: Any) -> None:
    with pytest.raises(MisuseError):
        await ledger.prune(**options)


async def test_no_fence_is_given_out_twice_though_its_row_was_deleted(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    for owner in ("first", "second", "third"):
        fence = (await claim(ledger, fingerprint, owner=owner)).fence
        await ledger.release(KEY, fence, ending="refused")
    other = operation_key("other")
    await ledger.claim(other, fingerprint, owner="first", lease_s=30.0)
    await ledger.release(other, 1, ending="refused")
    clock.now += 1.0
    assert await ledger.prune(older_than_s=0.0) == 2
    assert await claim(ledger, fingerprint) == Claimed(4, 1)
    with pytest.raises(LeaseLostError):
        await ledger.start_effect(KEY, 3, value=b"1", receipt=b"{}", lease_s=30.0)
    assert await ledger.claim(other, fingerprint, owner="first", lease_s=30.0) == Claimed(4, 1)


async def test_a_ledger_without_a_database_says_so(ledger: Ledger, fingerprint: Fingerprint) -> None:
    assert ledger.has_transactions is not isinstance(ledger, MemoryLedger)
    if not ledger.has_transactions:
        fence = await start(ledger, fingerprint)
        with pytest.raises(MisuseError, match="SqliteLedger or PostgresLedger"):
            await ledger.transact(KEY, fence, lambda transaction: b"1")


async def test_an_effect_on_the_ledgers_own_transaction_is_committed_with_its_result_or_rolled_back(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    if not ledger.has_transactions:
        return
    fence = await start(ledger, fingerprint)
    before = await row_of(ledger)

    def decline(transaction: Transaction) -> bytes:
        transaction.execute("SELECT 1")
        raise ZeroDivisionError

    def act(transaction: Transaction) -> bytes:
        rows = transaction.execute("SELECT state FROM commitgate_operation")
        assert rows.columns == ("state",)
        return str(rows.fetchall()[0][0]).encode()

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, decline)
    assert isinstance(caught.value.error, ZeroDivisionError)
    assert await row_of(ledger) == before
    assert await ledger.transact(KEY, fence, act) == b"effect_started"
    found = await replay(ledger, fingerprint)
    assert (found.state, found.result) == (State.COMMITTED, b"effect_started")
    with pytest.raises(LeaseLostError):
        await ledger.transact(KEY, fence, act)
