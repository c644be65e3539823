"""What waits in a ledger for somebody is counted, so that an alert can fire."""

import time
from typing import Any

import anyio
import pytest
from told_calls import BY_NAME, CANARY, GOOD, Telemetry, client_of, pay

from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger import Fingerprint, Ledger, MemoryLedger, SqliteLedger
from commitgate.ledger.steps import Finding
from commitgate.retry.keys import OperationKey
from commitgate.telemetry import LedgerStanding, Waiting, ledger_standing, own_names, watch_ledger
from commitgate.telemetry.waiting_rows import MAX_COUNTED_ROWS, WAITING

pytestmark = pytest.mark.anyio

MINE = Fingerprint("l", "pay", "1", "i")


class Clock:
    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


async def start(ledger: Ledger, key: str, *, lease_s: float = 30.0) -> int:
    """Bring one key to the start of its effect."""
    claimed: Any = await ledger.claim(OperationKey(key), MINE, owner="o", lease_s=lease_s, effect_kind="once")  # type: ignore[arg-type]
    await ledger.start_effect(OperationKey(key), claimed.fence, value=b"1", receipt=b"{}", lease_s=lease_s)
    return int(claimed.fence)


async def doubt(ledger: Ledger, key: str) -> int:
    fence = await start(ledger, key)
    await ledger.mark_in_doubt(OperationKey(key), fence, reason="x")
    return fence


async def test_empty_ledger_has_nothing_that_waits() -> None:
    standing = await ledger_standing(MemoryLedger())
    assert standing == LedgerStanding(is_readable=True, waiting=dict.fromkeys(WAITING, Waiting()))


async def test_rows_in_doubt_are_counted_and_the_oldest_is_timed() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    fence = await doubt(ledger, "first")
    clock.ahead_s = 100.0
    await doubt(ledger, "second")
    clock.ahead_s = 160.0
    found = (await ledger_standing(ledger)).waiting["in_doubt"]
    assert found.rows == 2
    assert found.oldest_s == pytest.approx(160.0, abs=5)
    await ledger.reconcile(OperationKey("first"), fence, by="ann", finding=Finding.NOT_APPLIED)
    found = (await ledger_standing(ledger)).waiting["in_doubt"]
    assert found.rows == 1
    assert found.oldest_s == pytest.approx(60.0, abs=5)


async def test_effect_whose_call_died_is_stranded_once_its_lease_is_over() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    await start(ledger, "k", lease_s=30.0)
    assert (await ledger_standing(ledger)).waiting["stranded"].rows == 0
    clock.ahead_s = 31.0
    standing = await ledger_standing(ledger)
    assert standing.waiting["stranded"].rows == 1
    assert standing.waiting["in_doubt"].rows == 0


async def test_count_ends_at_its_bound() -> None:
    clock = Clock()
    ledger = MemoryLedger(clock=clock)
    for number in range(MAX_COUNTED_ROWS + 2):
        await doubt(ledger, f"k{number}")
        clock.ahead_s += 100.0
    found = (await ledger_standing(ledger)).waiting["in_doubt"]
    assert found.rows == MAX_COUNTED_ROWS
    assert found.oldest_s == pytest.approx(100.0 * (MAX_COUNTED_ROWS + 2), abs=20)


async def test_both_observers_show_what_waits(tmp_path: Any) -> None:
    telemetry, ledger = Telemetry(), SqliteLedger(tmp_path / "ledger.db")
    async with client_of(GOOD, telemetry.observers, ledger) as client:
        await BY_NAME["needs_approval"].run(client, effect=pay)
    standing = await ledger_standing(ledger)
    for observer in (telemetry.observer, telemetry.prometheus):
        observer.ledger_seen(standing)
    await ledger.aclose()
    rows = telemetry.sums(own_names.LEDGER_ROWS, own_names.LEDGER_STATE)
    assert rows == {("in_doubt",): 0, ("stranded",): 0, ("awaiting_approval",): 1}
    assert 'commitgate_ledger_rows{commitgate_ledger_state="awaiting_approval"} 1' in telemetry.prometheus.text()
    assert telemetry.sums(own_names.LEDGER_READABLE) == {(): 1}
    assert CANARY not in telemetry.everything()


async def test_ledger_that_cannot_be_read_is_said_to_be_so() -> None:
    class Broken(MemoryLedger):
        async def now(self) -> float:
            raise LedgerUnavailableError(CANARY)

    telemetry = Telemetry()
    standing = await ledger_standing(Broken())
    assert standing == LedgerStanding(is_readable=False)
    telemetry.observer.ledger_seen(standing)
    assert telemetry.sums(own_names.LEDGER_READABLE) == {(): 0}
    assert telemetry.sums(own_names.LEDGER_ROWS) == {}


async def test_watching_looks_again_and_again_until_it_is_cancelled() -> None:
    ledger = MemoryLedger()
    seen: list[LedgerStanding] = []
    with anyio.move_on_after(10) as scope:

        def tell(standing: LedgerStanding) -> None:
            seen.append(standing)
            if len(seen) == 3:
                scope.cancel()

        await watch_ledger(ledger, tell, every_s=0.001)
    assert len(seen) == 3


@pytest.mark.parametrize("every_s", [0.0, -1.0, float("nan")])
async def test_watching_too_often_is_refused(every_s: float) -> None:
    with pytest.raises(MisuseError, match="every_s"):
        await watch_ledger(MemoryLedger(), lambda standing: None, every_s=every_s)
