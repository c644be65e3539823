"""Write many answers with one model, all of them a token further in each pass.

One thread feeds the model. In each pass every answer that waits for a token gets its row, and one prompt a piece of
its own, so that a long prompt holds nobody up for longer than a piece takes. What an answer does wrong ends that answer
alone. A caller whose events are not read is passed over until they are; one that has gone frees its slot before the
next pass.

Source: Yu and others, "Orca: A Distributed Serving System for Transformer-Based Generative Models", OSDI 2022
(iteration-level scheduling).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Condition, Lock, Thread, current_thread
from threading import Event as Flag
from typing import TYPE_CHECKING, Final
from weakref import finalize

from commitgate.argument import check_int
from commitgate.backends.base import Fault
from commitgate.errors import MisuseError, ModelRunError
from commitgate_local.answer import Answer
from commitgate_local.model_errors import model_breaks
from commitgate_local.runtime.base import Row

if TYPE_CHECKING:
    import torch

    from commitgate_local.answer import Question, TracedEvent
    from commitgate_local.runtime.base import Runtime

WAITING: Final = 64
"""Most requests that wait for a slot; one more is turned away."""

EVENTS_AHEAD: Final = 64
"""Events of one answer that may be unread before it is passed over."""

PIECE_TOKENS: Final = 128
"""Most tokens of prompts in one pass: a cancel is heard within the time that they take, and memory stays bounded."""

FEW_TOKENS: Final = 16
"""A drawn token and a forced run behind it, or what a piece may be longer than its size; more are fed in pieces."""

_LISTEN_S: Final = 0.05
"""How long a caller sleeps before it asks again whether it was cancelled."""

# How long the model's thread waits for another request before it ends.
_LINGER_S: Final = 10.0

# How long the end of the program waits for the pass that is on.
_LAST_PASS_S: Final = 60.0

_RETRY_AFTER_S: Final = 1.0


@dataclass(eq=False, slots=True)
class _Request:
    """Hold one answer on its way.

    Attributes:
        answer: what is being written; from its admission on, the model's thread alone takes steps of it.
        prompt: ids of the prompt.
        events: what the caller has not read yet.
        cancelled: asked by the model's thread between passes.
        told: wakes the caller; it shares the scheduler's lock.
        is_ended: nothing more comes.
        is_gone: the caller no longer listens.
        is_passed_over: the model waits for the caller to read.
        error: what went wrong beyond the answer's own endings; raised to the caller.
        slot: the model's slot that it has; None while it waits.
        fed: ids in that slot.
    """

    answer: Answer
    prompt: Sequence[int]
    events: deque[TracedEvent]
    cancelled: Callable[[], bool]
    told: Condition
    is_ended: bool = False
    is_gone: bool = False
    is_passed_over: bool = False
    error: Exception | None = None
    slot: int | None = None
    fed: int = 0


@dataclass(frozen=True, slots=True)
class SchedulerStats:
    """Hold what the scheduler does now and did so far.

    Attributes:
        in_flight: requests that have a slot.
        queued: requests that wait for one.
        passes: forward passes.
        fed_tokens: tokens that went through the model, of prompts and answers.
        reused_tokens: tokens of prompts that did not, because a slot held them already.
        cache_bytes: memory of the keys and values now.
    """

    in_flight: int
    queued: int
    passes: int
    fed_tokens: int
    reused_tokens: int
    cache_bytes: int


class Scheduler:
    """Share one model. Usable from many threads.

    Args:
        runtime: the model; nobody else uses it.
        waiting: most requests that wait for a slot, >= 0.

    Raises:
        MisuseError: ``waiting`` is no such number.
    """

    def __init__(self, runtime: Runtime, *, waiting: int = WAITING) -> None:
        check_int("waiting", waiting)
        if waiting < 0:
            raise MisuseError(f"waiting must be >= 0, found {waiting}")
        self._runtime = runtime
        self._most_waiting = waiting
        self._lock = Lock()
        # Wakes the model's thread; each caller has a condition of its own, so that a pass wakes whom it concerns.
        self._changed = Condition(self._lock)
        self._waiting: deque[_Request] = deque()
        self._active: list[_Request] = []
        # What each slot holds, and how much of it was a prompt: the next one that begins alike need not feed it again.
        self._held: list[list[int]] = [[] for _ in range(runtime.slots)]
        self._prompts = [0] * runtime.slots
        self._used = [0] * runtime.slots
        self._turn = 0
        self._passes = self._fed_tokens = self._reused_tokens = 0
        self._thread: Thread | None = None
        self._is_ending = Flag()
        # The thread that was started last, also while it ends.
        self._started: list[Thread] = []
        # The interpreter kills the threads that are left at its end, and one within torch takes the process with it.
        finalize(self, _end, self._is_ending, self._changed, self._started)

    def stats(self) -> SchedulerStats:
        """Return what it does now and did so far."""
        with self._lock:
            return SchedulerStats(
                in_flight=len(self._active),
                queued=len(self._waiting),
                passes=self._passes,
                fed_tokens=self._fed_tokens,
                reused_tokens=self._reused_tokens,
                cache_bytes=self._runtime.cache_bytes,
            )

    def run(self, question: Question, emit: Callable[[TracedEvent], None], cancelled: Callable[[], bool]) -> None:
        """Write one answer. Blocks until it ended.

        Args:
            question: what to write it with.
            emit: called in this thread with each event, as they come; a full queue is a ``Fault`` of kind overload.
            cancelled: asked in other threads too, between any two passes; True ends it without any further event.

        Raises:
            ModelRunError: the program is ending.
            What ``emit`` raises; the answer is given up then.
        """
        events: deque[TracedEvent] = deque()
        answer = Answer(question, events.append)
        # What needs no model is done here, in the caller's thread: the model's goes on with the answers of others.
        answer.begin()
        request = _Request(answer, question.prompt, events, cancelled, Condition(self._lock))
        if answer.is_over:
            _hand_over(events, emit)
        elif self._admit(request):
            self._follow(request, emit)
        else:
            message = f"{self._most_waiting} requests wait for this model already; try again later"
            emit(Fault(kind="overload", message=message, retry_after_s=_RETRY_AFTER_S))
        if request.error is not None:
            raise request.error

    def _follow(self, request: _Request, emit: Callable[[TracedEvent], None]) -> None:
        try:
            # While the model reads the prompt: worked out in its own thread, the first mask would hold everybody up.
            # What goes wrong here does so again where the mask is needed, and is told there.
            with suppress(Exception):
                request.answer.prepare()
            while self._wait(request):
                _hand_over(request.events, emit)
        finally:
            with self._lock:
                request.is_gone = True
                self._changed.notify()

    def _admit(self, request: _Request) -> bool:
        with self._lock:
            if self._is_ending.is_set():
                raise ModelRunError("the program is ending, and its models answer no more")
            # Those who wait for a free slot, which the model's thread gives them at once, do not count.
            if len(self._active) + len(self._waiting) >= self._runtime.slots + self._most_waiting:
                return False
            # In a process that was forked off there is no thread but the one that did it.
            if self._thread is None or not self._thread.is_alive():
                # A daemon, so that a program may end while an answer is written; it ends a while after the last one.
                thread = Thread(target=self._work, name="commitgate local model", daemon=True)
                # It comes no further than to this lock; where the system gives no thread, nothing is changed.
                thread.start()
                self._thread, self._started[:] = thread, [thread]
            self._waiting.append(request)
            self._changed.notify()
            return True

    def _wait(self, request: _Request) -> bool:
        """Wait for events; False where no more will come."""
        with self._lock:
            if request.is_passed_over:
                request.is_passed_over = False
                self._changed.notify()
            # Asked before what is there is handed over, too: what was written ahead of a cancel is not wanted.
            while not request.cancelled():
                if request.events or request.is_ended:
                    return bool(request.events)
                request.told.wait(_LISTEN_S)
            return False

    # What follows runs in the model's thread alone.

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as error:  # noqa: BLE001 - callers raise it; here nobody would hear it, and they would wait
            # Panics of libraries in other languages are no Exception, and would end the callers' threads as well.
            is_plain = isinstance(error, Exception)
            self._give_up(error if is_plain else ModelRunError(f"the model's thread ended ({type(error).__name__})"))

    def _give_up(self, error: Exception) -> None:
        """Hand an error to everybody, and forget what the slots hold."""
        with self._lock:
            for request in (*self._active, *self._waiting):
                request.error, request.is_ended = error, True
                request.told.notify()
            self._active, self._waiting = [], deque()
            self._held = [[] for _ in self._held]
            self._thread = None

    def _serve(self) -> None:
        while self._choose():
            rows = self._rows()
            if rows:
                self._pass(rows)
            elif self._active:
                with self._lock:
                    # Everybody's events are unread: wait for a reader, or for one to go.
                    self._changed.wait(_LISTEN_S)

    def _choose(self) -> bool:
        """Let go of those who have gone, and give free slots to those who wait; False where nobody is left."""
        with self._lock:
            if self._is_ending.is_set():
                self._thread = None
                return False
            self._active = [one for one in self._active if not (one.answer.is_over or self._has_gone(one))]
            self._waiting = deque(one for one in self._waiting if not self._has_gone(one))
            begun: list[_Request] = []
            while self._waiting and len(self._active) < self._runtime.slots:
                request = self._waiting.popleft()
                self._active.append(request)
                begun.append(request)
            if not self._active:
                return self._linger()
        for request in begun:
            self._begin(request)
        self._tell(begun)
        return True

    def _linger(self) -> bool:
        """Wait for the next request, with the lock; False where none came, and the thread ends."""
        # A new thread for each request would have torch make its own helpers anew, too.
        # The last caller's farewell wakes it too, and is no request.
        if self._changed.wait_for(lambda: bool(self._waiting) or self._is_ending.is_set(), _LINGER_S):
            return True
        self._thread = None
        return False

    def _has_gone(self, request: _Request) -> bool:
        """Return whether nobody wants the answer any more; with the lock."""
        try:
            return self._is_cancelled(request)
        except Exception as error:  # noqa: BLE001 - the caller raises it; here it would end everybody's answers
            request.error, request.is_ended = error, True
            request.told.notify()
            return True

    @staticmethod
    def _is_cancelled(request: _Request) -> bool:
        return request.is_gone or request.cancelled()

    def _begin(self, request: _Request) -> None:
        try:
            self._take_slot(request, list(request.prompt))
        except ModelRunError as error:
            self._guarded(request, partial(request.answer.fail, error))

    def _take_slot(self, request: _Request, prompt: list[int]) -> None:
        """Give a request a free slot, with what any slot shares with its prompt."""
        # The last token is fed again, since its logits are wanted.
        shared = [min(_common(held, prompt), len(prompt) - 1) for held in self._held]
        slot = self._free_slot(shared)
        best = max(range(len(shared)), key=shared.__getitem__)
        kept = max(shared)
        if kept > shared[slot]:
            self._held[slot] = []
            with model_breaks():
                self._runtime.copy_prefix(best, slot, kept)
        self._turn += 1
        self._used[slot] = self._turn
        self._held[slot] = prompt[:kept]
        self._prompts[slot] = len(prompt)
        request.slot, request.fed = slot, kept
        self._reused_tokens += kept
        del request.answer.pending[:kept]

    def _free_slot(self, shared: list[int]) -> int:
        """Return the free slot whose tokens are needed least: all but the answer of one that goes on, or the oldest."""
        taken = {other.slot for other in self._active if other.slot is not None}
        free = [slot for slot in range(len(shared)) if slot not in taken]
        best = max(free, key=shared.__getitem__)
        if self._prompts[best] - shared[best] <= FEW_TOKENS:
            return best
        return min(free, key=self._used.__getitem__)

    def _rows(self) -> list[tuple[_Request, Row]]:
        """Return what is fed in the next pass: a row for each answer that wants a token, and pieces of prompts."""
        found: list[tuple[_Request, Row]] = []
        room = PIECE_TOKENS
        pieces: list[_Request] = []
        for request in self._active:
            pending = request.answer.pending
            request.is_passed_over = len(request.events) >= EVENTS_AHEAD
            if request.answer.is_over or request.slot is None or request.is_passed_over:
                continue
            size = len(pending)
            if size > FEW_TOKENS:
                # A few more than a piece are not worth a pass of their own.
                size = size if room and size <= room + FEW_TOKENS else min(size, room)
                room = max(0, room - size)
                pieces.append(request)
            if size:
                found.append((request, Row(request.slot, request.fed, pending[:size], size == len(pending))))
        # Who had room for a piece lets the others go first in the next pass.
        self._active.sort(key=lambda request: request in pieces)
        return found

    def _pass(self, rows: list[tuple[_Request, Row]]) -> None:
        try:
            with model_breaks():
                logits = list(self._runtime.step([row for _, row in rows]))
        except ModelRunError as error:
            self._broken(rows, error)
            return
        given = iter(logits)
        self._passes += 1
        self._fed_tokens += sum(len(row.ids) for _, row in rows)
        for request, row in rows:
            request.fed += len(row.ids)
            self._held[row.slot].extend(row.ids)
            del request.answer.pending[: len(row.ids)]
            if row.wants_logits:
                self._guarded(request, partial(self._draw, request, next(given)))
        self._tell(request for request, _ in rows)

    def _draw(self, request: _Request, logits: torch.Tensor) -> None:
        # A cancel during a long pass is heard before its token is written.
        if not self._is_cancelled(request):
            request.answer.take(logits)

    def _broken(self, rows: list[tuple[_Request, Row]], error: ModelRunError) -> None:
        """End the answer whose row breaks the model; one row at a time tells which."""
        for request, row in rows:
            self._held[row.slot] = self._held[row.slot][: request.fed]
        if len(rows) > 1:
            for row in rows:
                self._pass([row])
            return
        ((request, row),) = rows
        self._held[row.slot] = []
        self._guarded(request, partial(request.answer.fail, error))
        self._tell([request])

    def _guarded(self, request: _Request, step: Callable[[], None]) -> None:
        """Take a step of one answer, whatever it does."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - the caller raises it; here it would end everybody's answers
            request.error = error
            request.answer.is_over = True

    def _tell(self, requests: Iterable[_Request]) -> None:
        """Wake those for whom there is something new, once a pass: the model goes on while they read."""
        with self._lock:
            for request in requests:
                if request.answer.is_over:
                    request.slot, request.is_ended = None, True
                if request.events or request.is_ended:
                    request.told.notify()


def _end(is_ending: Flag, changed: Condition, started: list[Thread]) -> None:
    """Have the model's thread end with the pass that is on, and wait for that."""
    is_ending.set()
    with changed:
        changed.notify_all()
    for thread in started:
        # A scheduler that nobody holds any more may go with its own thread.
        if thread is not current_thread():
            thread.join(_LAST_PASS_S)


def _hand_over(events: deque[TracedEvent], emit: Callable[[TracedEvent], None]) -> None:
    while events:
        emit(events.popleft())


def _common(held: list[int], wanted: list[int]) -> int:
    """Return how many first ids two lists share."""
    for at, (mine, theirs) in enumerate(zip(held, wanted, strict=False)):
        if mine != theirs:
            return at
    return min(len(held), len(wanted))


__all__ = ["EVENTS_AHEAD", "FEW_TOKENS", "PIECE_TOKENS", "WAITING", "Scheduler", "SchedulerStats"]
