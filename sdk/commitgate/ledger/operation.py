"""Drive one operation through the ledger: claim, heartbeat, commit or release.

Everything that must not be torn runs in one task, the *keeper*, which belongs to the client's task group and is
shielded from its cancellation. The caller only waits for it. Cancelling a scope around the caller is held back from
the moment a commit begins until its verdict is there. Native cancellation (``asyncio.Task.cancel``) breaks the
caller's wait at once but does not reach the keeper; leaving the operation's context waits for the keeper again. So
after any cancellation the ledger says what happened, and ``verdict`` says the same.

At most three durable writes make an operation: the claim, the intent and the final write; without an effect the last
two are one. The heartbeat's writes come on top of them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import isfinite
from types import TracebackType
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint_if_cancelled

from commitgate.cancellation import is_cancellation, is_interrupt, must_go_on
from commitgate.effect import Effect
from commitgate.effect_kind import RESUMABLE
from commitgate.errors import (
    IllegalTransitionError,
    LeaseLostError,
    LedgerError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger.base import Claimed, Ledger
from commitgate.ledger.commit import CommitPath, write_settled
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.verdict import Applied, Doubt, Rejected, Replay, Verdict, standing_of
from commitgate.retry.keys import OperationKey
from commitgate.timeouts import DEFAULT_LEASE_S

T = TypeVar("T")
R = TypeVar("R")

BEATS_PER_LEASE = 3
"""Renewals in the time of one lease, so that two may fail before it ends."""


class Operation(Generic[T, R]):
    """Hold one operation key for the length of one call. Use it once, as an async context manager.

    Inside the context, ``replay`` is set where the key is settled already; else the key is claimed, and the call
    commits, proposes, puts in doubt or releases it. Leaving without any of these releases it. Where ``resumed`` is set,
    the value was chosen before: that one is to be committed.

    Args:
        ledger: where the operation is kept.
        task_group: runs the keeper; it must outlive the context.
        key: the operation key.
        fingerprint: what it stands for.
        effect: what a committed value sets off, None for nothing.
        owner: random id of this call.
        on_lease_lost: called on the event loop when the claim is lost before a commit began; stop generating then.
        lease_s: seconds that the claim outlives a killed process, finite and > 0.
        clock: gives Unix time in seconds.
        sleep: waits that many seconds; for the heartbeat.

    Raises:
        MisuseError: ``lease_s`` is out of range.
    """

    def __init__(
        self,
        ledger: Ledger,
        task_group: TaskGroup,
        key: OperationKey,
        fingerprint: Fingerprint,
        effect: Effect[T, R] | None,
        *,
        owner: str,
        on_lease_lost: Callable[[], None],
        lease_s: float = DEFAULT_LEASE_S,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        if not (isfinite(lease_s) and lease_s > 0):
            raise MisuseError(f"lease_s must be a finite number > 0, found {lease_s!r}")
        self._ledger = ledger
        self._task_group = task_group
        self._key = key
        self._fingerprint = fingerprint
        self._effect = effect
        self._owner = owner
        self._on_lease_lost = on_lease_lost
        self._lease_s = lease_s
        self._clock = clock
        self._sleep = sleep
        self._started = anyio.Event()
        self._ordered = anyio.Event()
        self._done = anyio.Event()
        self._order: Callable[[Claimed], Awaitable[None]] | None = None
        self._claimed: Claimed | None = None
        self._replay: Replay[R] | None = None
        self._verdict: Verdict[R] | None = None
        self._state: State | None = None
        self._failure: BaseException | None = None
        self._is_lost = False
        self._is_written = False
        self._has_begun = False
        self._is_given_up = False

    @property
    def resumed(self) -> Record | None:
        """Return the row whose value was chosen before; None where one is to be chosen, or nothing is claimed."""
        return None if self._claimed is None else self._claimed.resumed

    @property
    def replay(self) -> Replay[R] | None:
        """Return what the key already stands for; None where this call claimed it."""
        return self._replay

    @property
    def verdict(self) -> Verdict[R] | None:
        """Return how the commit ended; None where none began or it could not begin."""
        return self._verdict

    @property
    def state(self) -> State | None:
        """Return the state in which this call left, or found, the row; None where it cannot know.

        A doubt that could not be written counts as one: the row becomes in doubt when its lease ends.
        """
        return self._state

    @property
    def is_lost(self) -> bool:
        """Return whether the claim was lost before a commit began."""
        return self._is_lost

    @property
    def fence(self) -> int:
        """Return the claim's fence; 0 where nothing is claimed."""
        return 0 if self._claimed is None else self._claimed.fence

    @property
    def attempt(self) -> int:
        """Return how often the key was claimed, this claim included; 0 where nothing is claimed."""
        return 0 if self._claimed is None else self._claimed.attempt

    async def __aenter__(self) -> Operation[T, R]:
        """Claim the key.

        Raises:
            KeyConflictError: the key stands for something else.
            InProgressError: another call holds it.
            LedgerUnavailableError: the ledger cannot be used.
        """
        await checkpoint_if_cancelled()
        self._task_group.start_soon(self._keep, name="commitgate ledger keeper")
        try:
            await self._started.wait()
        except BaseException:
            # A keeper that has not begun holds nothing; and an event loop that is being shut down may never begin it.
            self._is_given_up = not self._has_begun
            if self._has_begun:
                await self._carry_out(lambda claimed: self._give_back(claimed, "cancelled"))
            raise
        if self._failure is not None:
            raise self._failure
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the key where it was neither committed nor released; wait until the ledger is settled."""
        del error, trace
        if error_type is not None and issubclass(error_type, anyio.get_cancelled_exc_class()):
            ending = "cancelled"
        else:
            ending = "error"
        await self._carry_out(lambda claimed: self._give_back(claimed, ending))

    async def commit(
        self, value: T, *, value_json: bytes, receipt_json: bytes, timeout_s: float | None = None
    ) -> Verdict[R]:
        """Choose ``value`` for this key, run its effect and record how that went.

        Cancellation is raised before anything is written, or, natively on asyncio, while this waits for the keeper.

        Args:
            value: handed to the effect.
            value_json: stored as the value.
            receipt_json: stored with it.
            timeout_s: seconds that the effect may take, None without a limit.

        Raises:
            LeaseLostError: another call took the key over; no effect was started.
            LedgerUnavailableError: the value could not be stored; no effect was started.
            MisuseError: nothing is claimed, or the operation was ended before.
        """
        self._check_open()
        await checkpoint_if_cancelled()
        if self._is_lost:
            raise LeaseLostError("this call's claim was lost while it generated; its value was not committed")
        await self._carry_out(
            lambda claimed: self._commit(claimed, value, value_json, receipt_json, timeout_s),
        )
        if self._failure is not None:
            raise self._failure
        if self._verdict is None:
            raise LedgerUnavailableError("the task that writes the ledger was ended before it began")
        return self._verdict

    async def propose(self, *, value_json: bytes, receipt_json: bytes, reason: str, expires_s: float | None) -> None:
        """Choose a value for this key, and leave it to a person.

        Args:
            value_json: stored as the value.
            receipt_json: stored with it.
            reason: why a person must decide.
            expires_s: seconds until it ends by itself; None for never.

        Raises:
            LeaseLostError: another call took the key over.
            LedgerUnavailableError: it could not be stored.
            MisuseError: nothing is claimed, or the operation was ended before.
        """

        def propose(fence: int) -> Callable[[], Awaitable[None]]:
            return lambda: self._ledger.propose(
                self._key, fence, value=value_json, receipt=receipt_json, reason=reason, expires_s=expires_s
            )

        await self._carry_out_once(propose, State.AWAITING_APPROVAL)

    async def put_in_doubt(self, reason: str) -> None:
        """Record that a started effect, which was taken over, must not be run again by this call.

        Args:
            reason: why, without payload.

        Raises:
            LeaseLostError: another call took the key over.
            LedgerUnavailableError: it could not be written; the row becomes in doubt when the lease ends.
            MisuseError: nothing is claimed, or the operation was ended before.
        """
        await self._carry_out_once(
            lambda fence: lambda: self._ledger.mark_in_doubt(self._key, fence, reason=reason), State.IN_DOUBT
        )

    async def release(self, ending: str) -> bool:
        """Give the key back without a value; an approved one waits for the next call.

        Args:
            ending: name of the ending that the call had.

        Returns:
            Whether it was written. Where it was not, the key stays blocked until the lease ends, and no longer.

        Raises:
            MisuseError: nothing is claimed, or the operation was ended before.
        """
        self._check_open()
        await self._carry_out(lambda claimed: self._give_back(claimed, ending))
        return self._is_written

    async def _carry_out_once(self, step: Callable[[int], Callable[[], Awaitable[None]]], target: State) -> None:
        self._check_open()
        await checkpoint_if_cancelled()

        async def write(claimed: Claimed) -> None:
            try:
                await write_settled(self._ledger, self._key, claimed.fence, step(claimed.fence), target)
                self._state = target
            except BaseException as error:
                if must_go_on(error):
                    raise
                self._failure = _tellable(error)
                await self._give_back(claimed, "ledger_unavailable")

        await self._carry_out(write)
        if self._failure is not None:
            raise self._failure

    def _check_open(self) -> None:
        if self._claimed is None or self._ordered.is_set():
            raise MisuseError("an operation is ended once, and only where it is claimed")

    async def _carry_out(self, order: Callable[[Claimed], Awaitable[None]]) -> None:
        """Give the keeper its one order, where it has none yet, and wait until it is done."""
        if not self._ordered.is_set():
            self._order = order
            self._ordered.set()
        with anyio.CancelScope(shield=True):
            await self._done.wait()

    async def _keep(self) -> None:
        if self._is_given_up:
            return
        self._has_begun = True
        with anyio.CancelScope(shield=True):
            try:
                await self._hold()
            except BaseException as error:
                # The caller raises it; here it would end every call of the client.
                if must_go_on(error):
                    raise
                self._failure = _tellable(error)
            finally:
                self._started.set()
                self._done.set()

    async def _hold(self) -> None:
        try:
            found = await self._claim()
        except LedgerUnavailableError:
            # The claim may stand although its answer was lost; asking again as the same owner gives it.
            found = await self._claim()
        if isinstance(found, Record):
            self._state = found.state
            self._replay = Replay(standing_of(found, self._effect), found)
            return
        self._claimed = found
        self._state = State.CLAIMED if found.resumed is None else found.resumed.state
        self._started.set()
        async with anyio.create_task_group() as heartbeat:
            heartbeat.start_soon(self._beat, found)
            await self._ordered.wait()
            if self._order is not None:
                await self._order(found)
            heartbeat.cancel_scope.cancel()

    async def _claim(self) -> Claimed | Record:
        effect = self._effect
        return await self._ledger.claim(
            self._key,
            self._fingerprint,
            owner=self._owner,
            lease_s=self._lease_s,
            effect_kind=None if effect is None else effect.kind,
        )

    async def _beat(self, claimed: Claimed) -> None:
        """Renew the lease until cancelled. Losing it ends a generation, but never an effect that has begun."""
        failed = 0
        while failed < BEATS_PER_LEASE or self._ordered.is_set():
            await self._sleep(self._lease_s / BEATS_PER_LEASE)
            try:
                await self._ledger.extend(self._key, claimed.fence, lease_s=self._lease_s)
            except LeaseLostError:
                break
            except BaseException as error:
                # A store that fails for a moment is tried again at the next beat.
                if not isinstance(error, Exception) and (must_go_on(error) or not is_cancellation(error)):
                    raise
                failed += 1
            else:
                failed = 0
        if not self._ordered.is_set():
            self._is_lost, self._state = True, None
            self._on_lease_lost()

    async def _commit(
        self, claimed: Claimed, value: T, value_json: bytes, receipt_json: bytes, timeout_s: float | None
    ) -> None:
        path = CommitPath(
            ledger=self._ledger,
            key=self._key,
            claimed=claimed,
            effect=self._effect,
            lease_s=self._lease_s,
            clock=self._clock,
        )
        try:
            self._verdict = await path.run(value, value_json=value_json, receipt_json=receipt_json, timeout_s=timeout_s)
            self._state = _state_after(self._verdict)
        except BaseException as error:
            if must_go_on(error):
                self._verdict = Doubt("the task that writes the ledger was ended from outside", error)
                raise
            # The caller raises it; no effect was started.
            self._failure = _tellable(error)
            await self._give_back(claimed, "ledger_unavailable")
            return
        raised = self._verdict.error if isinstance(self._verdict, Doubt) else None
        if raised is not None and must_go_on(raised):
            raise raised
        if raised is not None and is_interrupt(raised):
            # KeyboardInterrupt, SystemExit and the like: recorded, and the caller's to raise, not ours to swallow.
            self._failure = raised

    async def _give_back(self, claimed: Claimed, ending: str) -> None:
        self._state = None
        try:
            await self._ledger.release(self._key, claimed.fence, ending=ending)
        except IllegalTransitionError:
            await self._leave_to_the_next(claimed, ending)
            return
        except LedgerError:
            # Nothing is lost: the claim ends with its lease, or is not this call's any more.
            return
        self._is_written = True
        self._state = State.RELEASED if claimed.resumed is None else claimed.resumed.state

    async def _leave_to_the_next(self, claimed: Claimed, ending: str) -> None:
        """Let the next call run a started effect that may be run again, at once and not only after the lease."""
        if self._effect is None or self._effect.kind not in RESUMABLE:
            return
        reason = f"the effect was started, and the call that was to finish it ended as {ending}"
        with suppress(LedgerError):
            await self._ledger.mark_in_doubt(self._key, claimed.fence, reason=reason)
            self._state = State.IN_DOUBT


def _state_after(verdict: Verdict[object]) -> State:
    match verdict:
        case Applied():
            return State.COMMITTED
        case Rejected():
            return State.FAILED_BEFORE_EFFECT
        case Doubt():
            return State.IN_DOUBT


def _tellable(error: BaseException) -> BaseException:
    """Return what the caller can raise: a cancellation that nobody asked for would look like one of the caller's."""
    if not is_cancellation(error):
        return error
    told = LedgerUnavailableError("the ledger raised a cancellation that nobody had asked for")
    told.__cause__ = error
    return told


__all__ = ["BEATS_PER_LEASE", "Operation"]
