"""Make calls on one store, and look at what each left: whether ledger and effect agree, and what is told is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from proofs.commit_scene import Model, Notes, Reach, Store, call, contract, effect_of, told

from commitgate.client import Client
from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerError
from commitgate.ledger import Ledger, State
from commitgate.retry import operation_key


@dataclass(frozen=True)
class Scene:
    """Hold a store, its ledger, the kind of effect of all calls, and what happened.

    Attributes:
        kind: None where the calls have no effect.
    """

    store: Store
    ledger: Ledger
    kind: EffectKind | None
    notes: Notes = field(default_factory=Notes)

    def client(self, ledger: Ledger | None = None) -> Client:
        """Return a client of its own."""
        return Client(backends={"model": Model(self.notes)}, ledger=ledger or self.ledger)

    def effect(self, key: str, reach: Reach | None = None) -> Callable[..., object] | None:
        """Return the effect of the calls with a key."""
        return None if self.kind is None else effect_of(self.kind, key, self.notes, self.store.mark, reach)

    def happened(self, key: str) -> list[int]:
        """Return the numbers with which the effect of a key left traces."""
        if self.kind is EffectKind.TRANSACTIONAL:
            return self.store.shop(key).get(key, [])
        return [int(words[1]) for words in self.notes.read("effects").get(key, ())]

    async def look(self, key: str) -> tuple[str, list[str]]:
        """Return the state that a call left, and what is broken, after the same call was made again.

        No call is at it any more, and none died: so nothing is in progress or in doubt.
        """
        row = await self.ledger.read(operation_key(key))
        before = self.happened(key)
        state = "none" if row is None else row.state.value
        is_committed = state == State.COMMITTED
        faults: list[str] = []
        if state not in ("none", State.RELEASED, State.COMMITTED):
            faults.append(f"not settled: {state}")
        if self.kind is not None and len(before) != is_committed:
            faults.append(f"{'lost' if not before else 'double'}: {state} with {len(before)} effects")
        try:
            async with self.client() as client:
                outcome = told(await client.outcome(key, contract()))
                again = told(await call(client, key, self.effect(key)))
        except LedgerError as error:
            return state, [*faults, f"not settled: {type(error).__name__}"]
        if (outcome[0] == "committed") is not is_committed:
            faults.append(f"told otherwise: {state}, but outcome says {outcome[0]}")
        if again[0] != "committed" or again[3] is not is_committed:
            faults.append(f"told otherwise: {state}, but the call again was {again[0]}, replayed: {again[3]}")
        numbers = self.happened(key)
        if self.kind is not None and len(numbers) != 1:
            faults.append(f"{'lost' if not numbers else 'double'}: {len(numbers)} effects in the end")
        if self.kind is not None and numbers != [again[1]]:
            faults.append("another value: the effect had another than the call")
        return state, faults
