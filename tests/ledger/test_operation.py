"""One operation through the ledger: verdicts, replays, heartbeat, and writes that fail."""

import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from ledger.conftest import StoppedClock
from pydantic import BaseModel, model_validator

from commitgate.effect import Effect, EffectContext
from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    CommitgateError,
    EffectRejected,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import (
    Applied,
    Claimed,
    Doubt,
    FaultLedger,
    FaultPoint,
    Fingerprint,
    Ledger,
    MemoryLedger,
    Operation,
    Record,
    Rejected,
    State,
)
from commitgate.ledger.commit import WRITE_TRIES
from commitgate.ledger.states import LEASE_ENDED_REASON
from commitgate.retry import OperationKey, effect_key, operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")
PAYLOADS = {"value_json": b'{"a":1}', "receipt_json": b'{"r":1}'}
RECORDING_FAILED = [FaultPoint.AFTER_EFFECT, FaultPoint.AFTER_COMMIT]


def ignore() -> None:
    pass


async def never(seconds: float) -> None:
    del seconds
    await anyio.sleep_forever()


async def refund(value: object, context: EffectContext) -> str:
    return f"T-{context.fence}"


refund.effect_name = "shop.refund"  # pyright: ignore[reportFunctionMemberAccess] - how a name is given


class CountedEffect:
    """Run what a test says, and remember under which contexts it ran."""

    effect_name = "shop.refund"
    effect_kind = EffectKind.ONCE

    def __init__(self, act: Callable[[], object] = lambda: "T-1") -> None:
        self.contexts: list[EffectContext] = []
        self.act = act

    async def __call__(self, value: object, context: EffectContext) -> object:
        self.contexts.append(context)
        return self.act()


@asynccontextmanager
async def operation(
    ledger: Ledger,
    effect: Callable[..., object] | None,
    fingerprint: Fingerprint,
    *,
    owner: str = "first",
    clock: Callable[[], float] = lambda: 1_000.0,
    on_lease_lost: Callable[[], None] = ignore,
    sleep: Callable[[float], Awaitable[None]] = never,
) -> AsyncIterator[Operation[object, object]]:
    made: Effect[object, object] | None = None if effect is None else Effect.of(effect)
    async with anyio.create_task_group() as group:
        raised: Exception | None = None
        driven = Operation(
            ledger, group, KEY, fingerprint, made, owner=owner, on_lease_lost=on_lease_lost, clock=clock, sleep=sleep
        )
        try:
            async with driven:
                yield driven
        except (CommitgateError, AssertionError, ZeroDivisionError) as error:
            # Raised again outside, where no task group wraps it.
            raised = error
    if raised is not None:
        raise raised


async def row_of(ledger: Ledger) -> Record:
    row = await ledger.read(KEY)
    assert row is not None
    return row


@pytest.fixture
def no_effect(fingerprint: Fingerprint) -> Fingerprint:
    return replace(fingerprint, effect_name=None, effect_version=None)


def raising(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


async def test_a_value_is_committed_with_the_result_of_its_effect(ledger: Ledger, fingerprint: Fingerprint) -> None:
    effect = CountedEffect()
    async with operation(ledger, effect, fingerprint) as driven:
        assert (driven.replay, driven.fence, driven.attempt) == (None, 1, 1)
        verdict = await driven.commit({"a": 1}, **PAYLOADS)
    assert verdict == driven.verdict == Applied("T-1")
    row = await row_of(ledger)
    assert (row.state, row.value, row.receipt, row.result) == (State.COMMITTED, b'{"a":1}', b'{"r":1}', b'"T-1"')
    (context,) = effect.contexts
    assert context == EffectContext(effect_key(KEY, "shop.refund", "1"), 1, 1, None)


async def test_a_committed_operation_is_replayed_without_its_effect(ledger: Ledger, fingerprint: Fingerprint) -> None:
    effect = CountedEffect()
    for owner in ("first", "second"):
        async with operation(ledger, effect, fingerprint, owner=owner) as driven:
            if driven.replay is None:
                await driven.commit(None, **PAYLOADS)
    assert driven.replay is not None
    assert driven.replay.standing == Applied("T-1")
    assert driven.replay.record.value == b'{"a":1}'
    assert (driven.fence, driven.attempt, driven.verdict) == (0, 0, None)
    assert len(effect.contexts) == 1


async def test_a_value_without_an_effect_is_committed_and_replayed(ledger: Ledger, no_effect: Fingerprint) -> None:
    async with operation(ledger, None, no_effect) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied(None)
    async with operation(ledger, None, no_effect) as driven:
        assert driven.replay is not None
        assert driven.replay.standing == Applied(None)


async def test_a_clean_no_ends_as_rejected_now_and_later(ledger: Ledger, fingerprint: Fingerprint) -> None:
    effect = CountedEffect(raising(EffectRejected("sold out")))
    async with operation(ledger, effect, fingerprint) as driven:
        assert await driven.commit(None, **PAYLOADS) == Rejected("sold out")
    async with operation(ledger, effect, fingerprint) as driven:
        assert driven.replay is not None
        assert driven.replay.standing == Rejected("sold out")
    assert len(effect.contexts) == 1


async def test_any_other_exception_leaves_a_doubt_that_names_its_type_alone(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    error = ConnectionError("canary")
    effect = CountedEffect(raising(error))
    async with operation(ledger, effect, fingerprint) as driven:
        verdict = await driven.commit(None, **PAYLOADS)
    assert verdict == Doubt("the effect raised ConnectionError")
    assert isinstance(verdict, Doubt)
    assert verdict.error is error
    assert "canary" not in repr(verdict)
    async with operation(ledger, effect, fingerprint) as driven:
        assert driven.replay is not None
        assert driven.replay.standing == Doubt("the effect raised ConnectionError")
    assert len(effect.contexts) == 1


async def test_a_result_that_cannot_be_stored_is_a_doubt_that_says_that_the_effect_ran(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    async with operation(ledger, CountedEffect(object), fingerprint) as driven:
        verdict = await driven.commit(None, **PAYLOADS)
    assert verdict == Doubt("the effect ran, but its result, of type object, cannot be stored as JSON")
    assert (await row_of(ledger)).state is State.IN_DOUBT


async def test_an_effect_past_its_time_is_cancelled_and_in_doubt(ledger: Ledger, fingerprint: Fingerprint) -> None:
    contexts: list[EffectContext] = []

    async def hang(value: object, context: EffectContext) -> None:
        del value
        contexts.append(context)
        await anyio.sleep_forever()

    async with operation(ledger, hang, fingerprint) as driven:
        verdict = await driven.commit(None, **PAYLOADS, timeout_s=0.01)
    assert verdict == Doubt("the effect had not ended after 0.01 s")
    assert (await row_of(ledger)).state is State.IN_DOUBT
    assert contexts[0].deadline == 1_000.01


async def test_a_released_key_may_be_claimed_again(ledger: Ledger, fingerprint: Fingerprint) -> None:
    async with operation(ledger, refund, fingerprint) as driven:
        assert await driven.release("truncated")
    row = await row_of(ledger)
    assert (row.state, row.reason) == (State.RELEASED, "truncated")
    async with operation(ledger, refund, fingerprint) as driven:
        assert (driven.fence, driven.attempt) == (2, 2)
        assert await driven.commit(None, **PAYLOADS) == Applied("T-2")


async def test_leaving_without_a_word_releases(ledger: Ledger, fingerprint: Fingerprint) -> None:
    with pytest.raises(ZeroDivisionError):
        async with operation(ledger, refund, fingerprint):
            raise ZeroDivisionError
    row = await row_of(ledger)
    assert (row.state, row.reason) == (State.RELEASED, "error")


async def test_a_second_call_under_a_held_key_is_told_so(ledger: Ledger, fingerprint: Fingerprint) -> None:
    async with operation(ledger, refund, fingerprint):
        with pytest.raises(InProgressError):
            async with operation(ledger, refund, fingerprint, owner="second"):
                pytest.fail("claimed twice")
    assert (await row_of(ledger)).owner == "first"


async def test_another_fingerprint_is_a_conflict(ledger: Ledger, fingerprint: Fingerprint) -> None:
    async with operation(ledger, refund, fingerprint) as driven:
        await driven.commit(None, **PAYLOADS)
    with pytest.raises(KeyConflictError):
        async with operation(ledger, refund, replace(fingerprint, language_digest="other")):
            pytest.fail("claimed under another contract")


async def test_an_operation_is_settled_once(ledger: Ledger, fingerprint: Fingerprint) -> None:
    async with operation(ledger, refund, fingerprint) as driven:
        await driven.commit(None, **PAYLOADS)
        with pytest.raises(MisuseError):
            await driven.commit(None, **PAYLOADS)
        with pytest.raises(MisuseError):
            await driven.release("refused")
    async with operation(ledger, refund, fingerprint) as driven:
        with pytest.raises(MisuseError):
            await driven.commit(None, **PAYLOADS)


@pytest.mark.parametrize("lease_s", [0.0, -1.0, float("nan"), float("inf")])
async def test_a_lease_out_of_range_is_misuse(fingerprint: Fingerprint, lease_s: float) -> None:
    async with anyio.create_task_group() as group:
        with pytest.raises(MisuseError):
            Operation(MemoryLedger(), group, KEY, fingerprint, None, owner="a", on_lease_lost=ignore, lease_s=lease_s)


class BeatenLedger(FaultLedger):
    """Say when the lease was extended, and fail that where a test wants it."""

    def __init__(self, ledger: Ledger) -> None:
        async def pass_by(point: FaultPoint) -> None:
            del point

        super().__init__(ledger, pass_by)
        self.extended = anyio.Event()
        self.beats = 0
        self.error: Exception | None = None

    async def extend(self, key: object, fence: int, *, lease_s: float) -> None:
        self.beats += 1
        self.extended.set()
        self.extended = anyio.Event()
        if self.error is not None:
            raise self.error
        await super().extend(KEY, fence, lease_s=lease_s)


class Pulse:
    """Let the heartbeat go on when a test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._go = anyio.Semaphore(0)

    def beat(self) -> None:
        self._go.release()

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._go.acquire()


async def beat(ledger: BeatenLedger, pulse: Pulse) -> None:
    extended = ledger.extended
    pulse.beat()
    await extended.wait()
    await anyio.wait_all_tasks_blocked()


async def test_the_heartbeat_keeps_the_lease_through_generation_and_effect(fingerprint: Fingerprint, clock) -> None:
    ledger, pulse = BeatenLedger(MemoryLedger(clock=clock)), Pulse()

    async def slow(value: object, context: EffectContext) -> str:
        for _ in range(3):
            clock.now += 20
            await beat(ledger, pulse)
        return "T-1"

    async with operation(ledger, slow, fingerprint, clock=clock, sleep=pulse) as driven:
        for _ in range(3):
            clock.now += 20
            await beat(ledger, pulse)
        with pytest.raises(InProgressError):
            await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")
    assert ledger.beats == 6
    assert set(pulse.asked) == {10.0}


async def test_a_claim_taken_over_ends_the_generation(fingerprint: Fingerprint, clock) -> None:
    ledger, pulse = BeatenLedger(MemoryLedger(clock=clock)), Pulse()
    lost: list[str] = []
    effect = CountedEffect()
    async with operation(
        ledger, effect, fingerprint, clock=clock, sleep=pulse, on_lease_lost=lambda: lost.append("lost")
    ) as driven:
        clock.now += 31
        assert isinstance(await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0), Claimed)
        await beat(ledger, pulse)
        assert driven.is_lost
        with pytest.raises(LeaseLostError):
            await driven.commit(None, **PAYLOADS)
    assert lost == ["lost"]
    assert effect.contexts == []
    row = await row_of(ledger)
    assert (row.state, row.owner) == (State.CLAIMED, "second")


async def test_a_claim_taken_over_unnoticed_is_found_at_the_intent(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    effect = CountedEffect()
    async with operation(ledger, effect, fingerprint, clock=clock) as driven:
        clock.now += 31
        await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        with pytest.raises(LeaseLostError):
            await driven.commit(None, **PAYLOADS)
    assert effect.contexts == []
    row = await row_of(ledger)
    assert (row.state, row.owner) == (State.CLAIMED, "second")


async def test_two_failed_beats_are_borne_and_three_are_not(fingerprint: Fingerprint, clock) -> None:
    ledger, pulse = BeatenLedger(MemoryLedger(clock=clock)), Pulse()
    async with operation(ledger, refund, fingerprint, clock=clock, sleep=pulse) as driven:
        ledger.error = LedgerUnavailableError("busy")
        await beat(ledger, pulse)
        await beat(ledger, pulse)
        ledger.error = None
        await beat(ledger, pulse)
        ledger.error = LedgerUnavailableError("busy")
        await beat(ledger, pulse)
        await beat(ledger, pulse)
        assert not driven.is_lost
        await beat(ledger, pulse)
        assert driven.is_lost


async def test_a_lease_lost_during_the_effect_does_not_stop_it_and_its_late_write_counts(
    fingerprint: Fingerprint, clock
) -> None:
    ledger, pulse = BeatenLedger(MemoryLedger(clock=clock)), Pulse()
    lost: list[str] = []

    async def slow(value: object, context: EffectContext) -> str:
        clock.now += 31
        found = await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        assert isinstance(found, Record)
        assert (found.state, found.reason) == (State.IN_DOUBT, LEASE_ENDED_REASON)
        await beat(ledger, pulse)
        return "T-1"

    async with operation(
        ledger, slow, fingerprint, clock=clock, sleep=pulse, on_lease_lost=lambda: lost.append("lost")
    ) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")
    assert lost == []
    assert (await row_of(ledger)).state is State.COMMITTED


def failing(point: FaultPoint, *, times: int) -> Callable[[FaultPoint], Awaitable[None]]:
    left = [times]

    async def reach(reached: FaultPoint) -> None:
        if reached is point and left[0]:
            left[0] -= 1
            raise LedgerUnavailableError("the disk is full")

    return reach


async def test_an_intent_that_cannot_be_stored_starts_no_effect_and_frees_the_key(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    effect = CountedEffect()
    faulty = FaultLedger(ledger, failing(FaultPoint.BEFORE_INTENT, times=WRITE_TRIES))
    with pytest.raises(LedgerUnavailableError, match="disk is full"):
        async with operation(faulty, effect, fingerprint) as driven:
            await driven.commit(None, **PAYLOADS)
    assert effect.contexts == []
    assert (await row_of(ledger)).state is State.RELEASED


async def test_an_intent_that_could_not_be_stored_for_a_moment_is_tried_again(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    faulty = FaultLedger(ledger, failing(FaultPoint.BEFORE_INTENT, times=WRITE_TRIES - 1))
    effect = CountedEffect()
    async with operation(faulty, effect, fingerprint) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")
    assert len(effect.contexts) == 1


async def test_an_intent_that_was_stored_in_spite_of_an_error_goes_on(ledger: Ledger, fingerprint: Fingerprint) -> None:
    faulty = FaultLedger(ledger, failing(FaultPoint.AFTER_INTENT, times=1))
    async with operation(faulty, refund, fingerprint) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")


async def test_a_value_stored_in_spite_of_an_error_is_committed(ledger: Ledger, no_effect: Fingerprint) -> None:
    faulty = FaultLedger(ledger, failing(FaultPoint.AFTER_COMMIT, times=1))
    async with operation(faulty, None, no_effect) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied(None)


@pytest.mark.parametrize("point", RECORDING_FAILED)
@pytest.mark.parametrize(
    ("act", "verdict"), [(lambda: "T-1", Applied("T-1")), (raising(EffectRejected("no")), Rejected("no"))]
)
async def test_a_final_write_that_fails_once_is_read_back_and_tried_again(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint, act: Callable[[], object], verdict: object
) -> None:
    effect = CountedEffect(act)
    async with operation(FaultLedger(ledger, failing(point, times=1)), effect, fingerprint) as driven:
        assert await driven.commit(None, **PAYLOADS) == verdict
    assert len(effect.contexts) == 1


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: "T-1", "the effect ran, but that could not be recorded"),
        (raising(EffectRejected("no")), "the effect declined, but that could not be recorded"),
        (raising(OSError("canary")), "the effect raised OSError"),
    ],
)
async def test_a_final_write_that_keeps_failing_is_a_doubt_now_and_when_the_lease_ends(
    ledger: Ledger, fingerprint: Fingerprint, clock, act: Callable[[], object], reason: str
) -> None:
    faulty = FaultLedger(ledger, failing(FaultPoint.AFTER_EFFECT, times=99))
    async with operation(faulty, CountedEffect(act), fingerprint) as driven:
        assert await driven.commit(None, **PAYLOADS) == Doubt(reason)
    clock.now += 31
    async with operation(ledger, CountedEffect(act), fingerprint, owner="second") as driven:
        assert driven.replay is not None
        assert driven.replay.standing == Doubt(LEASE_ENDED_REASON)


async def test_a_store_that_fails_at_the_claim_says_so(fingerprint: Fingerprint) -> None:
    faulty = FaultLedger(MemoryLedger(), failing(FaultPoint.AFTER_CLAIM, times=2))
    with pytest.raises(LedgerUnavailableError):
        async with operation(faulty, refund, fingerprint):
            pytest.fail("claimed in spite of an error")


@pytest.mark.parametrize("point", [FaultPoint.BEFORE_CLAIM, FaultPoint.AFTER_CLAIM])
async def test_a_claim_of_which_the_answer_was_lost_is_the_same_claim(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    async with operation(FaultLedger(ledger, failing(point, times=1)), refund, fingerprint) as driven:
        assert (driven.fence, driven.attempt, driven.resumed) == (1, 1, None)
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")


async def test_a_lost_answer_hides_no_other_call(ledger: Ledger, fingerprint: Fingerprint) -> None:
    await ledger.claim(KEY, fingerprint, owner="other", lease_s=30.0)
    with pytest.raises(InProgressError):
        async with operation(FaultLedger(ledger, failing(FaultPoint.AFTER_CLAIM, times=1)), refund, fingerprint):
            pytest.fail("claimed what another call holds")


INTERRUPTED = {
    FaultPoint.BEFORE_INTENT: (State.RELEASED, 0),
    FaultPoint.AFTER_INTENT: (State.EFFECT_STARTED, 0),
    FaultPoint.AFTER_EFFECT: (State.COMMITTED, 1),
    FaultPoint.AFTER_COMMIT: (State.COMMITTED, 1),
}


@pytest.mark.parametrize("point", INTERRUPTED)
async def test_an_interrupt_inside_the_ledger_is_never_swallowed(
    ledger: Ledger, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    left = [1]

    async def reach(reached: FaultPoint) -> None:
        if reached is point and left[0]:
            left[0] -= 1
            raise KeyboardInterrupt

    effect = CountedEffect()
    async with operation(FaultLedger(ledger, reach), effect, fingerprint) as driven:
        with pytest.raises(KeyboardInterrupt):
            await driven.commit(None, **PAYLOADS)
    assert ((await row_of(ledger)).state, len(effect.contexts)) == INTERRUPTED[point]


async def test_a_release_that_fails_is_told_and_does_not_raise(ledger: Ledger, fingerprint: Fingerprint, clock) -> None:
    async with operation(ledger, refund, fingerprint, clock=clock) as driven:
        clock.now += 31
        await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        assert not await driven.release("truncated")
    assert (await row_of(ledger)).owner == "second"


async def test_an_exit_raised_inside_an_effect_is_recorded_and_goes_on(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    async with operation(ledger, CountedEffect(raising(SystemExit(3))), fingerprint) as driven:
        with pytest.raises(SystemExit):
            await driven.commit(None, **PAYLOADS)
    assert driven.verdict == Doubt("the effect raised SystemExit")
    assert (await row_of(ledger)).reason == "the effect raised SystemExit"


class StrayBeats(MemoryLedger):
    """Raise, at every renewal, a cancellation that nobody asked for."""

    async def extend(self, key: OperationKey, fence: int, *, lease_s: float) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            try:
                await anyio.lowlevel.checkpoint()
            except BaseException as error:
                caught = error
                raise
        raise caught


async def test_a_stray_cancellation_at_a_renewal_does_not_stop_the_effect(fingerprint: Fingerprint) -> None:
    beaten = anyio.Event()
    beats: list[float] = []

    async def beat(seconds: float) -> None:
        beats.append(seconds)
        if len(beats) > 3:
            beaten.set()
            await anyio.sleep_forever()

    async def effect(value: object, context: EffectContext) -> str:
        await beaten.wait()
        return "T-1"

    async with operation(StrayBeats(), effect, fingerprint, sleep=beat) as driven:
        assert await driven.commit(None, **PAYLOADS) == Applied("T-1")


class Leaving(BaseModel):
    """A result that can be stored, and exits when it is read."""

    @model_validator(mode="before")
    @classmethod
    def leave(cls, data: object) -> object:
        raise SystemExit(3)


async def leaving(value: object, context: EffectContext) -> Leaving:
    return Leaving.model_construct()


async def test_an_exit_raised_when_a_result_is_read_back_says_that_the_effect_ran(
    ledger: Ledger, fingerprint: Fingerprint
) -> None:
    async with operation(ledger, leaving, fingerprint) as driven:
        with pytest.raises(SystemExit):
            await driven.commit(None, **PAYLOADS)
    row = await row_of(ledger)
    assert (row.state, row.reason) == (State.IN_DOUBT, "the effect ran, but its result raised SystemExit")


async def test_no_payload_is_shown_by_verdicts_and_replays(ledger: Ledger, fingerprint: Fingerprint) -> None:
    shown: list[str] = []
    effect = CountedEffect(lambda: "canary")
    for owner in ("first", "second"):
        async with operation(ledger, effect, fingerprint, owner=owner) as driven:
            if driven.replay is None:
                shown.append(repr(await driven.commit("canary", value_json=b'"canary"', receipt_json=b'"canary"')))
            shown += [repr(driven), repr(driven.replay), repr(driven.verdict)]
    shown += [repr(Rejected("canary")), repr(Doubt("reason", OSError("canary")))]
    shown += traceback.format_exception_only(LeaseLostError("lost"))
    assert not [text for text in shown if "canary" in text]


async def test_an_effect_that_was_taken_over_is_not_run_again_once_another_call_holds_it(
    ledger: Ledger, fingerprint: Fingerprint, clock: StoppedClock
) -> None:
    effect = CountedEffect()
    effect.effect_kind = EffectKind.BY_KEY
    first = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30, effect_kind=EffectKind.BY_KEY)
    assert isinstance(first, Claimed)
    await ledger.start_effect(KEY, first.fence, value=b'{"a":1}', receipt=b'{"r":1}', lease_s=30)
    clock.now += 60
    async with operation(ledger, effect, fingerprint, owner="second") as driven:
        assert driven.resumed is not None
        # This one sleeps, while it asks whether its caller may: nobody has renewed its lease.
        clock.now += 60
        await ledger.claim(KEY, fingerprint, owner="third", lease_s=30, effect_kind=EffectKind.BY_KEY)
        with pytest.raises(LeaseLostError):
            await driven.commit({"a": 1}, **PAYLOADS)
    assert effect.contexts == []
    row = await row_of(ledger)
    assert (row.state, row.owner) == (State.EFFECT_STARTED, "third")
