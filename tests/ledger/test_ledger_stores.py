"""What every store of the ledger does alike."""

import logging
import traceback
from dataclasses import replace

import pytest

from commitgate.errors import IllegalTransitionError, InProgressError, KeyConflictError, LeaseLostError, LedgerError
from commitgate.ledger import Claimed, Fingerprint, Ledger, Record, State
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
    assert [row.key for row in await ledger.list(states=[State.RELEASED])] == ["a"]
    assert await ledger.list(states=[]) == ()


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
