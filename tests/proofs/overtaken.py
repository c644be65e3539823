"""Let claimers that were overtaken write every step, in every state that their key may be in by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import anyio
from proofs.clocked_store import ClockedStore, clocked_store
from proofs.commit_scene import KINDS, scratch, stores
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.effect_kind import EffectKind
from commitgate.errors import IllegalTransitionError, LeaseLostError
from commitgate.ledger import Claimed, Fingerprint, Ledger, State
from commitgate.ledger.steps import Finding
from commitgate.ledger.transaction import Transaction
from commitgate.retry import operation_key
from commitgate.retry.keys import OperationKey

LEASE_S = 30.0
NEWEST = 3
"""The fence of the last claim; those before it are tried."""

VALUE, RECEIPT, RESULT = b"1", b"{}", b'"T-1"'
MOST_FAULTS = 20
SOURCES = ("overtaken.py", "clocked_store.py", "commit_scene.py")

Step = Callable[[Ledger, OperationKey, int], Awaitable[object]]


def _work(transaction: Transaction) -> bytes:
    raise AssertionError("the effect of an overtaken call must not run")


STEPS: Mapping[str, Step] = {
    "extend": lambda ledger, key, fence: ledger.extend(key, fence, lease_s=LEASE_S),
    "start_effect": lambda ledger, key, fence: ledger.start_effect(
        key, fence, value=VALUE, receipt=RECEIPT, lease_s=LEASE_S
    ),
    "commit": lambda ledger, key, fence: ledger.commit(key, fence, result=RESULT),
    "commit_value": lambda ledger, key, fence: ledger.commit_value(key, fence, value=VALUE, receipt=RECEIPT),
    "propose": lambda ledger, key, fence: ledger.propose(
        key, fence, value=VALUE, receipt=RECEIPT, reason="much", expires_s=None
    ),
    "fail_before_effect": lambda ledger, key, fence: ledger.fail_before_effect(key, fence, reason="no"),
    "mark_in_doubt": lambda ledger, key, fence: ledger.mark_in_doubt(key, fence, reason="broke"),
    "release": lambda ledger, key, fence: ledger.release(key, fence, ending="refused"),
    "transact": lambda ledger, key, fence: ledger.transact(key, fence, _work),
    "reconcile": lambda ledger, key, fence: ledger.reconcile(
        key, fence, by="ann", finding=Finding.NOT_APPLIED, reason="looked"
    ),
}


async def _bring_to(ledger: Ledger, key: OperationKey, state: State) -> None:
    """Let the last claimer bring the key into a state."""
    if state in (State.EFFECT_STARTED, State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.IN_DOUBT, State.NOT_APPLIED):
        await STEPS["start_effect"](ledger, key, NEWEST)
    if state in (State.AWAITING_APPROVAL, State.APPROVED, State.REJECTED):
        await STEPS["propose"](ledger, key, NEWEST)
    match state:
        case State.COMMITTED | State.FAILED_BEFORE_EFFECT | State.RELEASED | State.IN_DOUBT:
            names = {State.COMMITTED: "commit", State.RELEASED: "release", State.IN_DOUBT: "mark_in_doubt"}
            await STEPS[names.get(state, "fail_before_effect")](ledger, key, NEWEST)
        case State.NOT_APPLIED:
            await STEPS["mark_in_doubt"](ledger, key, NEWEST)
            await STEPS["reconcile"](ledger, key, NEWEST)
        case State.APPROVED:
            await ledger.approve(key, by="ann")
        case State.REJECTED:
            await ledger.reject(key, by="ann", reason="no")
        case _:
            pass


async def _overtake(store: ClockedStore, kind: EffectKind, counts: Counter[str]) -> list[str]:
    """Claim keys again and again as leases end, bring them into each state, and write under the older fences."""
    faults: list[str] = []
    ledger = store.ledger
    fingerprint = Fingerprint("language", "effect", "1", "input")
    for state in State:
        key = operation_key(f"{kind}-{state}")
        for fence in range(1, NEWEST + 1):
            found = await ledger.claim(key, fingerprint, owner=str(fence), lease_s=LEASE_S, effect_kind=kind)
            assert isinstance(found, Claimed), found
            assert found.fence == fence
            if fence < NEWEST:
                store.clock.set(store.clock.now + LEASE_S + 1)
        await _bring_to(ledger, key, state)
        before = await ledger.read(key)
        assert before is not None
        assert before.state is state
        for (name, step), fence in product(STEPS.items(), range(1, NEWEST)):
            if name == "transact" and not ledger.has_transactions:
                continue
            counts["writes"] += 1
            try:
                await step(ledger, key, fence)
            except (LeaseLostError, IllegalTransitionError):
                counts["refused"] += 1
            except Exception as error:  # noqa: BLE001 - anything else is told
                faults.append(f"{kind}, {state}, {name} under {fence}: {type(error).__name__}: {error}")
            else:
                faults.append(f"{kind}, {state}, {name} under {fence}: taken")
            if await ledger.read(key) != before:
                counts["changed"] += 1
                faults.append(f"{kind}, {state}, {name} under {fence}: the row changed")
    return faults


class Overtaken:
    """Write under older fences, on each store and for each kind of effect."""

    name = "overtaken"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["memory once", "sqlite transactional"]
        return [f"{store} {kind}" for store, kind in product(("memory", *stores()), KINDS)]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of("ledger"), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, kind = unit.split()
        counts = Counter[str]()
        with scratch() as folder, clocked_store(store_kind, Path(folder)) as store:

            async def overtake() -> list[str]:
                try:
                    return await _overtake(store, EffectKind(kind), counts)
                finally:
                    await store.ledger.aclose()

            faults = anyio.run(overtake)
        return Result(counts=dict(counts), faults=[f"{unit}: {fault}" for fault in faults[:MOST_FAULTS]])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        return [
            Row(
                promise="a write under the fence of an overtaken claim is refused",
                measured=f"{counts.get('refused', 0):,} of {counts.get('writes', 0):,}: {len(STEPS)} steps in "
                f"{len(State)} states; {counts.get('changed', 0)} rows changed",
                held=counts.get("refused", 0) == counts.get("writes", 0) and not counts.get("changed"),
            )
        ]


OVERTAKEN = Overtaken()
