"""Random histories of calls, held against a small model that is written without the table."""

import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from commitgate.errors import IllegalTransitionError, InProgressError, KeyConflictError, LeaseLostError, LedgerError
from commitgate.ledger import Claimed, Fingerprint, Ledger, MemoryLedger, Record, SqliteLedger
from commitgate.retry import OperationKey, operation_key

KEYS = [operation_key(text) for text in ("a", "b")]
FINGERPRINTS = [Fingerprint("language", "refund", "1", "input"), Fingerprint("other", "refund", "1", "input")]
FINAL = ("committed", "failed_before_effect", "in_doubt")


@dataclass
class Modelled:
    """What the model knows of one key."""

    fingerprint: Fingerprint
    state: str = "claimed"
    fence: int = 1
    ends_at: float = 0.0
    value: bytes | None = None
    effects: int = 0


class LedgerMachine(RuleBasedStateMachine):
    """Drive one ledger and the model side by side."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0
        self.calls = 0
        self.model: dict[OperationKey, Modelled] = {}
        self.stack = ExitStack()
        self.portal = self.stack.enter_context(start_blocking_portal())
        self.ledger = self.make_ledger()

    def make_ledger(self) -> Ledger:
        return MemoryLedger(clock=lambda: self.now)

    def teardown(self) -> None:
        self.portal.call(self.ledger.aclose)
        self.stack.close()

    def attempt(self, call: Callable[[], Awaitable[object]]) -> object:
        """Return what the ledger answers, an error by its type."""
        try:
            return self.portal.call(call)
        except LedgerError as error:
            return type(error)

    @initialize(target=claims)
    def know_a_claim_that_never_was(self) -> object:
        return (KEYS[0], 1)

    @rule(seconds=st.sampled_from([1.0, 10.0, 29.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(target=claims, key=st.sampled_from(KEYS), fingerprint=st.sampled_from(FINGERPRINTS))
    def claim(self, key: OperationKey, fingerprint: Fingerprint) -> object:
        self.calls += 1
        owner = f"call {self.calls}"
        found = self.attempt(lambda: self.ledger.claim(key, fingerprint, owner=owner, lease_s=30.0))
        known = self.model.get(key)
        if known is None:
            self.model[key] = Modelled(fingerprint, ends_at=self.now + 30)
            assert found == Claimed(1, 1)
            return (key, 1)
        if known.fingerprint != fingerprint:
            assert found is KeyConflictError
            return multiple()
        if known.state in ("claimed", "effect_started") and known.ends_at > self.now:
            assert found is InProgressError
            return multiple()
        if known.state in ("claimed", "released"):
            known.state, known.fence, known.ends_at = "claimed", known.fence + 1, self.now + 30
            assert found == Claimed(known.fence, known.fence)
            return (key, known.fence)
        if known.state == "effect_started":
            known.state = "in_doubt"
        assert isinstance(found, Record)
        assert (found.state, found.value, found.fence) == (known.state, known.value, known.fence)
        return multiple()

    def expected(self, key: OperationKey, fence: int, allowed_in: tuple[str, ...]) -> type[LedgerError] | None:
        known = self.model.get(key)
        if known is None:
            return IllegalTransitionError
        if known.fence != fence:
            return LeaseLostError
        if known.state in allowed_in:
            return None
        return LeaseLostError if known.state in FINAL else IllegalTransitionError

    def take(
        self, claim: tuple[OperationKey, int], allowed_in: tuple[str, ...], call: Callable[[], Awaitable[None]]
    ) -> Modelled | None:
        """Take a step on both sides; return the model's key where it was taken."""
        expected = self.expected(*claim, allowed_in)
        assert self.attempt(call) is expected
        return self.model[claim[0]] if expected is None else None

    @rule(claim=claims)
    def extend(self, claim: tuple[OperationKey, int]) -> None:
        key, fence = claim
        known = self.take(claim, ("claimed", "effect_started"), lambda: self.ledger.extend(key, fence, lease_s=30.0))
        if known is not None:
            known.ends_at = self.now + 30

    @rule(claim=claims, value=st.binary(max_size=3))
    def start_effect(self, claim: tuple[OperationKey, int], value: bytes) -> None:
        key, fence = claim
        known = self.take(
            claim,
            ("claimed",),
            lambda: self.ledger.start_effect(key, fence, value=value, receipt=b"{}", lease_s=30.0),
        )
        if known is not None:
            known.state, known.value, known.ends_at = "effect_started", value, self.now + 30
            known.effects += 1

    @rule(claim=claims, value=st.binary(max_size=3))
    def commit_value(self, claim: tuple[OperationKey, int], value: bytes) -> None:
        key, fence = claim
        known = self.take(claim, ("claimed",), lambda: self.ledger.commit_value(key, fence, value=value, receipt=b"{}"))
        if known is not None:
            known.state, known.value = "committed", value

    @rule(claim=claims)
    def commit(self, claim: tuple[OperationKey, int]) -> None:
        key, fence = claim
        known = self.take(claim, ("effect_started", "in_doubt"), lambda: self.ledger.commit(key, fence, result=b"null"))
        if known is not None:
            known.state = "committed"

    @rule(claim=claims)
    def fail(self, claim: tuple[OperationKey, int]) -> None:
        key, fence = claim
        known = self.take(
            claim, ("effect_started", "in_doubt"), lambda: self.ledger.fail_before_effect(key, fence, reason="no")
        )
        if known is not None:
            known.state = "failed_before_effect"

    @rule(claim=claims)
    def doubt(self, claim: tuple[OperationKey, int]) -> None:
        key, fence = claim
        known = self.take(
            claim, ("effect_started", "in_doubt"), lambda: self.ledger.mark_in_doubt(key, fence, reason="why")
        )
        if known is not None:
            known.state = "in_doubt"

    @rule(claim=claims)
    def release(self, claim: tuple[OperationKey, int]) -> None:
        key, fence = claim
        known = self.take(claim, ("claimed",), lambda: self.ledger.release(key, fence, ending="refused"))
        if known is not None:
            known.state = "released"

    @invariant()
    def ledger_and_model_agree(self) -> None:
        rows = {row.key: row for row in self.portal.call(self.ledger.list)}
        assert rows.keys() == self.model.keys()
        for key, known in self.model.items():
            row = rows[key]
            assert (row.state, row.fence, row.value) == (known.state, known.fence, known.value)
            is_held = known.state in ("claimed", "effect_started")
            assert row.lease_expires_at == (known.ends_at if is_held else None)

    @invariant()
    def no_effect_starts_twice(self) -> None:
        assert all(known.effects <= 1 for known in self.model.values())


class SqliteMachine(LedgerMachine):
    """Drive the SQLite ledger, which is closed and opened again at times."""

    def make_ledger(self) -> Ledger:
        self.path = Path(self.stack.enter_context(tempfile.TemporaryDirectory())) / "ledger.sqlite"
        return SqliteLedger(self.path, clock=lambda: self.now)

    @rule()
    def reopen(self) -> None:
        self.portal.call(self.ledger.aclose)
        self.ledger = SqliteLedger(self.path, clock=lambda: self.now)


TestMemoryLedgerMachine = LedgerMachine.TestCase
TestMemoryLedgerMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestSqliteLedgerMachine = SqliteMachine.TestCase
TestSqliteLedgerMachine.settings = settings(
    max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
