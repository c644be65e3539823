"""The store of answers against a small model of it."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commitgate_local.server.idempotency import Claim, IdempotencyStore, StoredReply
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.server_limits import ServerLimits

TTL_S, ENTRIES, BYTES = 10.0, 3, 100
LIMITS = ServerLimits(idempotency_ttl_s=TTL_S, idempotency_entries=ENTRIES, idempotency_bytes=BYTES)
SCOPES = st.sampled_from([b"a", b"b", b"c", b"d", b"e"])
QUESTIONS = st.sampled_from([b"x", b"y"])


def reply(size: int) -> StoredReply:
    return StoredReply(status=200, content_type="application/json", body=b"." * size)


class StoreMachine(RuleBasedStateMachine):
    """Drive the store, and remember in plain lists what it must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.store = IdempotencyStore(LIMITS)
        self.now = 0.0
        self.running: dict[bytes, Claim] = {}
        self.settled: list[Claim] = []
        self.kept: list[tuple[bytes, bytes, StoredReply, float]] = []

    def live(self) -> list[tuple[bytes, bytes, StoredReply, float]]:
        return [entry for entry in self.kept if self.now < entry[3]]

    @rule(scope=SCOPES, question=QUESTIONS)
    def begin(self, scope: bytes, question: bytes) -> None:
        self.kept = self.live()
        known = next((entry for entry in self.kept if entry[0] == scope), None)
        held = self.running.get(scope)
        belongs_to = held.question if held else known[1] if known else question
        if belongs_to != question or held:
            with pytest.raises(RequestRefused) as caught:
                self.store.begin(scope, question, self.now)
            assert caught.value.status == (422 if belongs_to != question else 409)
            return
        found = self.store.begin(scope, question, self.now)
        if known:
            assert found is known[2]
        else:
            assert isinstance(found, Claim)
            self.running[scope] = found

    @rule(scope=SCOPES, size=st.integers(0, BYTES + 1))
    def finish(self, scope: bytes, size: int) -> None:
        claim = self.running.pop(scope, None)
        if claim is None:
            return
        self.settled.append(claim)
        answer = reply(size)
        assert self.store.finish(claim, answer, self.now) == (size <= BYTES)
        if size > BYTES:
            return
        self.kept = [*self.live(), (scope, claim.question, answer, self.now + TTL_S)]
        while len(self.kept) > ENTRIES or sum(len(entry[2].body) for entry in self.kept) > BYTES:
            del self.kept[0]

    @rule(scope=SCOPES)
    def release(self, scope: bytes) -> None:
        claim = self.running.pop(scope, None)
        if claim is not None:
            self.settled.append(claim)
            assert self.store.release(claim)

    @rule(data=st.data())
    def settle_again(self, data: Any) -> None:
        if self.settled:
            claim = data.draw(st.sampled_from(self.settled))
            assert not self.store.release(claim)
            assert not self.store.finish(claim, reply(1), self.now)

    @rule(seconds=st.sampled_from([0.0, 1.0, TTL_S - 1.0, TTL_S]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def bounds_hold_and_nothing_in_progress_is_lost(self) -> None:
        assert self.store.kept <= ENTRIES
        assert self.store.size_bytes <= BYTES
        assert self.store.in_progress == len(self.running)
        assert self.store.kept >= len(self.live())


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_no_answer_is_kept_where_none_may_be() -> None:
    store = IdempotencyStore(ServerLimits(idempotency_entries=0))
    claim = store.begin(b"a", b"x", 0.0)
    assert isinstance(claim, Claim)
    assert not store.finish(claim, reply(1), 0.0)
    assert isinstance(store.begin(b"a", b"x", 0.0), Claim)


def test_oldest_answer_makes_room_and_what_is_in_progress_never_does() -> None:
    store = IdempotencyStore(LIMITS)
    running = store.begin(b"running", b"x", 0.0)
    for number in range(ENTRIES + 1):
        claim = store.begin(bytes([number]), b"x", float(number))
        assert isinstance(claim, Claim)
        assert store.finish(claim, reply(1), float(number))
    assert isinstance(store.begin(bytes([0]), b"x", 5.0), Claim)
    assert isinstance(store.begin(bytes([1]), b"x", 5.0), StoredReply)
    assert isinstance(running, Claim)
    with pytest.raises(RequestRefused) as caught:
        store.begin(b"running", b"x", 5.0)
    assert caught.value.status == 409


def test_nothing_of_an_answer_or_a_key_is_in_a_repr() -> None:
    claim = IdempotencyStore(LIMITS).begin(b"scope-bytes", b"question-bytes", 0.0)
    assert "bytes" not in repr(claim)
    assert "..." not in repr(reply(5))
