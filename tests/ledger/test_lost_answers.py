"""A write of which the answer was lost, in a store that reads nothing meanwhile: its repeat tells what it did."""

from collections.abc import Awaitable, Callable

import pytest
from test_operation import KEY, CountedEffect, failing, operation, row_of

from commitgate.errors import LeaseLostError, LedgerUnavailableError
from commitgate.ledger import FaultLedger, FaultPoint, Ledger, Record, State
from commitgate.ledger.record import Fingerprint
from commitgate.ledger.verdict import Applied
from commitgate.retry.keys import OperationKey

pytestmark = pytest.mark.anyio


class UnreadableLedger(FaultLedger):
    """Write, but read nothing."""

    async def read(self, key: OperationKey) -> Record | None:
        raise LedgerUnavailableError("the store reads nothing now")


def unreadable(ledger: Ledger, point: FaultPoint) -> UnreadableLedger:
    return UnreadableLedger(ledger, failing(point, times=1))


async def test_an_intent_that_stands_although_its_answer_was_lost_is_taken_as_written(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    effect = CountedEffect()
    async with operation(unreadable(ledger, FaultPoint.AFTER_INTENT), effect, fingerprint) as driven:
        assert await driven.commit(None, value_json=b'{"a":1}', receipt_json=b'{"r":1}') == Applied("T-1")
    assert len(effect.contexts) == 1
    assert (await row_of(ledger)).state is State.COMMITTED


async def test_a_value_of_which_nobody_can_say_that_it_was_stored_is_no_lease_that_was_lost(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    with pytest.raises(LedgerUnavailableError):
        async with operation(unreadable(ledger, FaultPoint.AFTER_COMMIT), None, fingerprint) as driven:
            await driven.commit(None, value_json=b'{"a":1}', receipt_json=b'{"r":1}')
    assert (await row_of(ledger)).state is State.COMMITTED


async def test_an_intent_that_was_not_written_before_another_call_took_over_runs_no_effect(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    effect = CountedEffect()

    async def overtaken(point: FaultPoint) -> None:
        if point is FaultPoint.BEFORE_INTENT and not taken:
            taken.append(True)
            await take_over()
            raise LedgerUnavailableError("not written")

    async def take_over() -> None:
        row = await row_of(ledger)
        await ledger.release(KEY, row.fence, ending="refused")
        await ledger.claim(KEY, fingerprint, owner="other", lease_s=30.0)

    taken: list[bool] = []
    reach: Callable[[FaultPoint], Awaitable[None]] = overtaken
    with pytest.raises((LedgerUnavailableError, LeaseLostError)):
        async with operation(UnreadableLedger(ledger, reach), effect, fingerprint) as driven:
            await driven.commit(None, value_json=b'{"a":1}', receipt_json=b'{"r":1}')
    assert effect.contexts == []
    row = await row_of(ledger)
    assert (row.state, row.owner) == (State.CLAIMED, "other")
