"""Random histories of calls, people and clocks, held against a small model that is written without the table."""

import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from ledger.ledger_model import LEASE_S, OVER, RUNS_AGAIN, Got, Known, Model, Refusal, Replayed

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerError
from commitgate.ledger import Claimed, Fingerprint, Ledger, MemoryLedger, Record, SqliteLedger
from commitgate.ledger.steps import Finding
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import OperationKey, operation_key

KEYS = [operation_key(text) for text in ("a", "b")]
FINGERPRINTS = [Fingerprint("language", "refund", "1", "input"), Fingerprint("other", "refund", "1", "input")]
VALUES = [b"1", b"2"]
WAITS_S = [0.5, 10.0, 29.0, 30.0, 31.0] * 2 + [3_600.0, -3_600.0]
"""Some leave a lease, some end it, and some are a clock that somebody set."""

ACTIONS = ["claim", "claim", "wait", "go on", "go on", "go on"]
STEPS = {
    "claimed": ["extend", "start_effect", "start_effect", "propose", "commit_value", "release"],
    "approved": ["extend", "start_effect", "commit_value", "release", "reject", "outlast"],
    "awaiting_approval": ["approve", "approve", "reject", "extend", "outlast"],
    "effect_started": ["extend", "commit", "fail_before_effect", "mark_in_doubt", "reconcile", "outlast"],
    "in_doubt": ["commit", "fail_before_effect", "mark_in_doubt", "reconcile"],
}
ALL_STEPS = sorted({step for steps in STEPS.values() for step in steps})


class LedgerMachine(RuleBasedStateMachine):
    """Drive one ledger and the model side by side. Whoever asks may have missed the answer to what was asked before."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100_000.0
        self.model = Model()
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

    @rule(data=st.data())
    def act_for_a_while(self, data: st.DataObject) -> None:
        """Let several things happen to one key, which leads further than what rules alone would draw."""
        key = data.draw(st.sampled_from(KEYS), label="key")
        for action in data.draw(st.lists(st.sampled_from(ACTIONS), min_size=16, max_size=16), label="actions"):
            if action == "wait":
                self.now += data.draw(st.sampled_from(WAITS_S), label="seconds")
            elif action == "claim":
                self.claim(data, key)
            else:
                self.go_on(data, key)
            self.ledger_and_model_agree()

    def claim(self, data: st.DataObject, key: OperationKey) -> None:
        known = self.model.keys.get(key)
        # Nearly always what the key stands for, and the kind that it had.
        fingerprint = data.draw(st.sampled_from([FINGERPRINTS[0]] * 12 + FINGERPRINTS[1:]))
        owner = data.draw(st.sampled_from("wxyz"), label="owner")
        if known is None or data.draw(st.sampled_from([False] * 9 + [True]), label="another kind"):
            kind = data.draw(st.sampled_from([None, *EffectKind, EffectKind.BY_KEY]), label="kind")
        else:
            kind = known.kind
        found = self.attempt(
            lambda: self.ledger.claim(key, fingerprint, owner=owner, lease_s=LEASE_S, effect_kind=kind)
        )
        expected = self.model.claim(key, fingerprint, owner, kind, self.now)
        match expected:
            case Got():
                assert isinstance(found, Claimed)
                value = None if found.resumed is None else found.resumed.value
                assert (found.fence, found.attempt, value) == (expected.fence, expected.attempt, expected.value)
            case Replayed():
                assert isinstance(found, Record)
                assert found.state == expected.state
            case _:
                assert found is expected

    def agree(self, expected: Known | Refusal, found: object) -> Known | None:
        """Compare two answers; return the model's key where the step was taken."""
        if isinstance(expected, Known):
            assert not isinstance(found, type)
            return expected
        assert found is expected
        return None

    def go_on(self, data: st.DataObject, key: OperationKey) -> None:
        """Take a step that belongs to where the key stands, mostly under the last fence and with its value."""
        known = self.model.keys.get(key)
        if known is not None and known.state in OVER:
            # Nothing more can come of it; where it is deleted, the key begins anew.
            self.prune(0.0)
            return
        usual = STEPS.get(known.state, ALL_STEPS) if known else ALL_STEPS
        step = data.draw(st.sampled_from(usual), label="step")
        fence = (known.fence if known else 1) - data.draw(st.sampled_from([0] * 7 + [1]), label="older by")
        usual_value = known.value if known and known.value is not None else VALUES[0]
        value = data.draw(st.sampled_from([usual_value] * 4 + VALUES), label="value")
        getattr(self, f"take_{step}")(key, fence, value)

    @rule(key=st.sampled_from(KEYS), step=st.sampled_from(ALL_STEPS), value=st.sampled_from(VALUES))
    def take_any_step(self, key: OperationKey, step: str, value: bytes) -> None:
        known = self.model.keys.get(key)
        getattr(self, f"take_{step}")(key, known.fence if known else 1, value)

    def take_outlast(self, key: OperationKey, fence: int, value: bytes) -> None:
        del key, fence, value
        self.now += 31.0

    def take_extend(self, key: OperationKey, fence: int, value: bytes) -> None:
        del value
        found = self.attempt(lambda: self.ledger.extend(key, fence, lease_s=LEASE_S))
        known = self.agree(self.model.write(key, fence, ("claimed", "approved", "effect_started")), found)
        if known is not None:
            known.lease_end, known.written = self.now + LEASE_S, self.now

    def take_start_effect(self, key: OperationKey, fence: int, value: bytes) -> None:
        found = self.attempt(
            lambda: self.ledger.start_effect(key, fence, value=value, receipt=b"{}", lease_s=LEASE_S),
        )
        known = self.agree(self.model.choose(key, fence, value), found)
        if known is not None:
            known.state, known.value = "effect_started", value
            known.lease_end, known.written = self.now + LEASE_S, self.now
            known.started.append(value)

    def take_commit_value(self, key: OperationKey, fence: int, value: bytes) -> None:
        found = self.attempt(lambda: self.ledger.commit_value(key, fence, value=value, receipt=b"{}"))
        known = self.agree(self.model.choose(key, fence, value), found)
        if known is not None:
            known.settle("committed", self.now)
            known.value = value

    def take_propose(self, key: OperationKey, fence: int, value: bytes) -> None:
        expires_s = None if value == VALUES[1] else 20.0
        found = self.attempt(
            lambda: self.ledger.propose(key, fence, value=value, receipt=b"{}", reason="much", expires_s=expires_s)
        )
        known = self.agree(self.model.write(key, fence, ("claimed",)), found)
        if known is not None:
            known.settle("awaiting_approval", self.now)
            known.value, known.expiry = value, None if expires_s is None else self.now + expires_s

    def take_commit(self, key: OperationKey, fence: int, value: bytes) -> None:
        found = self.attempt(lambda: self.ledger.commit(key, fence, result=value))
        known = self.agree(self.model.write(key, fence, ("effect_started", "in_doubt")), found)
        if known is not None:
            known.settle("committed", self.now)
            known.result = value

    def take_fail_before_effect(self, key: OperationKey, fence: int, value: bytes) -> None:
        del value
        found = self.attempt(lambda: self.ledger.fail_before_effect(key, fence, reason="no"))
        known = self.agree(self.model.write(key, fence, ("effect_started", "in_doubt")), found)
        if known is not None:
            known.settle("failed_before_effect", self.now)

    def take_mark_in_doubt(self, key: OperationKey, fence: int, value: bytes) -> None:
        del value
        found = self.attempt(lambda: self.ledger.mark_in_doubt(key, fence, reason="why"))
        known = self.agree(self.model.write(key, fence, ("effect_started", "in_doubt")), found)
        if known is not None:
            known.settle("in_doubt", self.now)

    def take_release(self, key: OperationKey, fence: int, value: bytes) -> None:
        del value
        found = self.attempt(lambda: self.ledger.release(key, fence, ending="refused"))
        known = self.agree(self.model.write(key, fence, ("claimed", "approved")), found)
        if known is not None:
            known.settle("released" if known.state == "claimed" else "approved", self.now)

    def take_approve(self, key: OperationKey, fence: int, value: bytes) -> None:
        del fence
        digest = sha256(value).hexdigest()
        found = self.attempt(lambda: self.ledger.approve(key, by="ann", value_digest=digest))
        known = self.model.keys.get(key)
        is_this_value = known is not None and known.value == value
        self.agree(self.model.approve(key, is_this_value, self.now), found)

    def take_reject(self, key: OperationKey, fence: int, value: bytes) -> None:
        del fence, value
        found = self.attempt(lambda: self.ledger.reject(key, by="bob", reason="no"))
        self.agree(self.model.reject(key, self.now), found)

    def take_reconcile(self, key: OperationKey, fence: int, value: bytes) -> None:
        del value
        for finding in (Finding.UNKNOWN, Finding.APPLIED if fence % 2 else Finding.NOT_APPLIED):
            result = b"7" if finding is Finding.APPLIED else None
            found = self.attempt(partial(self.ledger.reconcile, key, fence, by="eve", finding=finding, result=result))
            self.agree(self.model.reconcile(key, fence, finding, self.now), found)

    @rule(older_than_s=st.sampled_from([0.0, 25.0]))
    def prune(self, older_than_s: float) -> None:
        found = self.attempt(lambda: self.ledger.prune(older_than_s=older_than_s))
        assert found == self.model.prune(self.now - older_than_s)

    @invariant()
    def ledger_and_model_agree(self) -> None:
        rows = {row.key: row for row in self.portal.call(self.ledger.list)}
        assert rows.keys() == self.model.keys.keys()
        for key, known in self.model.keys.items():
            row = rows[key]
            assert (row.state, row.fence, row.attempt, row.owner) == (
                known.state,
                known.fence,
                known.attempt,
                known.owner,
            )
            assert (row.value, row.result, row.decided_by) == (known.value, known.result, known.by)
            assert (row.lease_expires_at, row.expires_at, row.updated_at) == (
                known.lease_end,
                known.expiry,
                known.written,
            )
            assert (row.effect_kind, row.fingerprint) == (known.kind, known.fingerprint)

    @invariant()
    def no_effect_starts_that_must_not(self) -> None:
        for known in self.model.keys.values():
            assert len(set(known.started)) <= 1
            assert len(known.started) <= 1 or known.kind in RUNS_AGAIN
            if known.started and known.allowed is not None:
                assert known.started[0] == known.allowed


class SqliteMachine(LedgerMachine):
    """Drive the SQLite ledger, which is closed and opened again at times, and runs transactional effects."""

    def make_ledger(self) -> Ledger:
        self.path = Path(self.stack.enter_context(tempfile.TemporaryDirectory())) / "ledger.sqlite"
        self.paid = 0
        return SqliteLedger(self.path, clock=lambda: self.now)

    @rule()
    def reopen(self) -> None:
        self.portal.call(self.ledger.aclose)
        self.ledger = SqliteLedger(self.path, clock=lambda: self.now)

    @rule(key=st.sampled_from(KEYS), older_by=st.sampled_from([0, 0, 0, 1]), breaks=st.booleans())
    def transact(self, key: OperationKey, older_by: int, breaks: bool) -> None:
        known = self.model.keys.get(key)
        fence = (known.fence if known else 1) - older_by

        def pay(transaction: Transaction) -> bytes:
            transaction.execute("CREATE TABLE IF NOT EXISTS payment (n INTEGER)")
            transaction.execute("INSERT INTO payment VALUES (1)")
            if breaks:
                raise OSError
            return b"8"

        expected = self.model.write(key, fence, ("effect_started", "in_doubt"))
        if breaks and isinstance(expected, Known):
            with pytest.raises(RolledBack):
                self.portal.call(lambda: self.ledger.transact(key, fence, pay))
            return
        known = self.agree(expected, self.attempt(lambda: self.ledger.transact(key, fence, pay)))
        if known is not None:
            known.settle("committed", self.now)
            known.result = b"8"
            self.paid += 1

    @invariant()
    def each_transaction_is_there_as_a_whole(self) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'payment'").fetchall()
            rows = connection.execute("SELECT 1 FROM payment").fetchall() if tables else []
        assert len(rows) == self.paid


TestMemoryLedgerMachine = LedgerMachine.TestCase
TestMemoryLedgerMachine.settings = settings(max_examples=100, stateful_step_count=8, deadline=None)
TestSqliteLedgerMachine = SqliteMachine.TestCase
TestSqliteLedgerMachine.settings = settings(
    max_examples=20, stateful_step_count=8, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
