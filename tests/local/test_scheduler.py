"""Answers that share a model are the ones that each would get alone, and none of them can harm another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from commitgate.automaton.terms import Arena
from commitgate.backends.base import Event, Fault, Finish, Sampling, TextDelta
from commitgate.errors import MisuseError, ModelRunError
from commitgate_local.answer import Answer, Question
from commitgate_local.engine import MaskEngine
from commitgate_local.runtime.base import Row
from commitgate_local.scheduler import EVENTS_AHEAD, FEW_TOKENS, PIECE_TOKENS, Scheduler
from commitgate_local.vocabulary import Vocabulary

TOKENS = [bytes((byte,)) for byte in range(0x61, 0x6B)]
STOP = len(TOKENS)
WIDTH = STOP + 1
VOCABULARY = Vocabulary([*TOKENS, None], [STOP], width=WIDTH)
LETTERS = sum(1 << byte for byte in range(0x61, 0x6B))
BROKEN = STOP
"""The id that breaks the pass of whoever feeds it; no answer does by itself."""


class Panic(BaseException):
    """Stand in for the panic of a library in another language."""


def wish(ids: Sequence[int]) -> torch.Tensor:
    """Return logits that depend on every id before."""
    seed = 7
    for token in ids:
        seed = (seed * 1_000_003 + token + 1) % (1 << 31)
    return torch.randn(WIDTH, generator=torch.Generator().manual_seed(seed))


class ToyRuntime:
    """Compute logits from the ids in each slot; steps can be held up, and are noted."""

    name = "toy"
    precision = "float32"
    cache_bytes = 0

    def __init__(self, slots: int = 3) -> None:
        self.width = WIDTH
        self.context_tokens = 4096
        self.slots = slots
        self.held: list[list[int]] = [[] for _ in range(slots)]
        self.steps: list[list[Row]] = []
        self.before_step: Callable[[], None] = lambda: None

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        self.steps.append(list(rows))
        self.before_step()
        for row in rows:
            assert len(self.held[row.slot]) >= row.start, "a row begins where its slot ends, or before"
            if BROKEN in row.ids:
                raise ModelRunError("the model broke")
        found: list[torch.Tensor] = []
        for row in rows:
            self.held[row.slot] = [*self.held[row.slot][: row.start], *row.ids]
            if row.wants_logits:
                found.append(wish(self.held[row.slot]))
        return torch.stack(found) if found else torch.zeros(0, WIDTH)

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        self.held[target_slot] = self.held[source_slot][:tokens]


ENGINE = MaskEngine(VOCABULARY)


def question(prompt: Sequence[int], *, letters: int = 5, seed: int = 0) -> Question:
    return Question(
        matcher=ENGINE.matcher_of(Arena().run(LETTERS, letters, letters)),
        vocabulary=VOCABULARY,
        prompt=prompt,
        sampling=Sampling(temperature=1.0, seed=seed),
    )


def alone(prompt: Sequence[int], **options: Any) -> list[Event]:
    events: list[Event] = []
    answer = Answer(question(prompt, **options), events.append)
    answer.begin()
    ids: list[int] = []
    while not answer.is_over:
        ids += answer.pending
        answer.pending.clear()
        answer.take(wish(ids))
    return events


def ask(
    scheduler: Scheduler, prompt: Sequence[int], cancelled: Callable[[], bool] = lambda: False, **options: Any
) -> list[Event]:
    events: list[Event] = []
    scheduler.run(question(prompt, **options), events.append, cancelled)
    return events


@pytest.fixture
def threads() -> Any:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def until(condition: Callable[[], bool]) -> None:
    """Wait for what other threads bring about."""
    turn = threading.Event()
    for _ in range(10_000):
        if condition():
            return
        turn.wait(0.001)
    raise TimeoutError


def busy(scheduler: Scheduler) -> int:
    stats = scheduler.stats()
    return stats.in_flight + stats.queued


def letters_of(events: Sequence[Event]) -> int:
    return sum(isinstance(event, TextDelta) for event in events)


def test_answers_that_share_passes_are_those_of_each_alone(threads: ThreadPoolExecutor) -> None:
    runtime = ToyRuntime()
    scheduler = Scheduler(runtime)
    prompts = [[number % 9] * (1 + 40 * number) for number in range(12)]
    asked = [threads.submit(ask, scheduler, prompt, seed=at, letters=3 + at) for at, prompt in enumerate(prompts)]
    for at, (prompt, answer) in enumerate(zip(prompts, asked, strict=True)):
        assert answer.result(timeout=30) == alone(prompt, seed=at, letters=3 + at)
    assert max(map(len, runtime.steps)) == 3
    until(lambda: busy(scheduler) == 0)


def test_prompts_are_fed_in_pieces_beside_the_tokens_of_others(threads: ThreadPoolExecutor) -> None:
    runtime, both = ToyRuntime(), threading.Event()
    runtime.before_step = lambda: both.wait(30) and None
    scheduler = Scheduler(runtime)
    short = threads.submit(ask, scheduler, [1], letters=8)
    long = threads.submit(ask, scheduler, [2] * (3 * PIECE_TOKENS), letters=2)
    until(lambda: busy(scheduler) == 2)
    both.set()
    assert (letters_of(short.result(30)), letters_of(long.result(30))) == (8, 2)
    fed = [sum(len(row.ids) for row in rows if not row.wants_logits) for rows in runtime.steps]
    assert max(fed) <= PIECE_TOKENS + FEW_TOKENS
    mixed = [rows for rows in runtime.steps if {row.wants_logits for row in rows} == {True, False}]
    assert mixed, "the short answer goes on while the long prompt is read"


def test_prompt_that_begins_like_an_earlier_one_is_not_fed_again() -> None:
    runtime = ToyRuntime()
    scheduler = Scheduler(runtime)
    begin = [3, 1, 4, 1, 5] * 20
    first = ask(scheduler, [*begin, 6])
    fed = sum(len(row.ids) for rows in runtime.steps for row in rows)
    assert fed >= len(begin)
    runtime.steps.clear()
    assert ask(scheduler, [*begin, 2], letters=2) == alone([*begin, 2], letters=2)
    assert sum(len(row.ids) for rows in runtime.steps for row in rows) == 1 + 1
    assert scheduler.stats().reused_tokens == len(begin)
    assert ask(scheduler, [*begin, 6]) == first


def test_prompts_with_one_beginning_are_kept_beside_each_other() -> None:
    runtime = ToyRuntime()
    scheduler = Scheduler(runtime)
    begin = [3, 1, 4, 1, 5] * 20
    prompts = [[*begin, *([ending] * 50)] for ending in (2, 6)]
    first = [ask(scheduler, prompt) for prompt in prompts]
    runtime.steps.clear()
    assert [ask(scheduler, prompt) for prompt in prompts] == first
    fed = [len(row.ids) for rows in runtime.steps for row in rows]
    assert set(fed) == {1}, "each prompt is still there, all but the last token that is fed again"


def test_conversation_goes_on_in_its_slot() -> None:
    runtime = ToyRuntime()
    scheduler = Scheduler(runtime)
    prompt = [3, 1, 4] * 20
    for _ in range(4):
        written = [TOKENS.index(event.data) for event in ask(scheduler, prompt) if isinstance(event, TextDelta)]
        prompt = [*prompt, *written, 9, 9]
    assert {row.slot for rows in runtime.steps for row in rows} == {0}
    assert sum(len(row.ids) for rows in runtime.steps for row in rows) < 60 + 4 * (5 + 3)


def test_prompt_is_taken_over_from_a_slot_that_is_in_use(threads: ThreadPoolExecutor) -> None:
    runtime, going = ToyRuntime(), threading.Event()
    scheduler = Scheduler(runtime)
    begin = [3, 1, 4, 1, 5] * 20
    more = threading.Event()

    def hold() -> None:
        if len(runtime.steps) == 3:
            going.set()
            more.wait(30)

    runtime.before_step = hold
    first = threads.submit(ask, scheduler, [*begin, 6], letters=8)
    assert going.wait(30)
    second = threads.submit(ask, scheduler, [*begin, 7], letters=2)
    until(lambda: scheduler.stats().queued > 0)
    before = len(runtime.steps)
    more.set()
    assert second.result(30) == alone([*begin, 7], letters=2)
    assert first.result(30) == alone([*begin, 6], letters=8)
    rows = [row for step in runtime.steps[before:] for row in step]
    assert sum(len(row.ids) for row in rows) < len(begin)


def test_cancel_frees_the_slot_before_the_next_pass(threads: ThreadPoolExecutor) -> None:
    runtime, cancelled = ToyRuntime(slots=1), threading.Event()
    scheduler = Scheduler(runtime)

    def stop() -> None:
        if len(runtime.steps) == 4:
            cancelled.set()

    runtime.before_step = stop
    events = ask(scheduler, [1], cancelled.is_set, letters=100)
    assert letters_of(events) <= 3
    assert not any(isinstance(event, Finish | Fault) for event in events)
    assert ask(scheduler, [2]) == alone([2])
    assert sum(row.slot == 0 and row.start + len(row.ids) > 4 for rows in runtime.steps[:5] for row in rows) <= 1


def test_cancel_while_waiting_takes_no_slot(threads: ThreadPoolExecutor) -> None:
    runtime, held = ToyRuntime(slots=1), threading.Event()
    runtime.before_step = lambda: held.wait(30) and None
    scheduler = Scheduler(runtime)
    first = threads.submit(ask, scheduler, [1])
    gone = threading.Event()
    second = threads.submit(ask, scheduler, [2], gone.is_set)
    until(lambda: scheduler.stats().queued > 0)
    gone.set()
    assert second.result(30) == []
    held.set()
    assert first.result(30) == alone([1])


def test_full_queue_turns_away_with_a_time_to_wait(threads: ThreadPoolExecutor) -> None:
    runtime, held = ToyRuntime(slots=1), threading.Event()
    runtime.before_step = lambda: held.wait(30) and None
    scheduler = Scheduler(runtime, waiting=1)
    kept = [threads.submit(ask, scheduler, [number]) for number in range(1, 3)]
    until(lambda: busy(scheduler) == 2)
    (fault,) = ask(scheduler, [5])
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.retry_after_s) == ("overload", 1.0)
    held.set()
    assert [answer.result(30) for answer in kept] == [alone([1]), alone([2])]


def test_row_that_breaks_the_model_ends_its_own_answer_alone(threads: ThreadPoolExecutor) -> None:
    runtime, all_here = ToyRuntime(), threading.Event()
    runtime.before_step = lambda: all_here.wait(30) and None
    scheduler = Scheduler(runtime)
    good = [threads.submit(ask, scheduler, [number], letters=6) for number in (1, 2)]
    bad = threads.submit(ask, scheduler, [4, BROKEN])
    until(lambda: busy(scheduler) == 3)
    all_here.set()
    assert [answer.result(30) for answer in good] == [alone([1], letters=6), alone([2], letters=6)]
    (fault,) = bad.result(30)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.message) == ("model", "the model broke")


def test_caller_that_fails_is_given_up_and_gets_its_own_error(threads: ThreadPoolExecutor) -> None:
    runtime = ToyRuntime(slots=1)
    scheduler = Scheduler(runtime)

    def fail(event: Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scheduler.run(question([1], letters=500), fail, lambda: False)
    assert ask(scheduler, [2]) == alone([2])


def test_question_about_a_cancel_that_fails_ends_its_own_answer_alone(threads: ThreadPoolExecutor) -> None:
    runtime = ToyRuntime()
    scheduler = Scheduler(runtime)
    other: list[Future[list[Event]]] = []
    model_threads: list[threading.Thread] = []

    def fail() -> bool:
        if threading.current_thread() in model_threads:
            raise ValueError("of the caller")
        return False

    def begin_another() -> None:
        if len(runtime.steps) == 2:
            model_threads.append(threading.current_thread())
            other.append(threads.submit(ask, scheduler, [2], fail))
            until(lambda: busy(scheduler) == 2)

    runtime.before_step = begin_another
    assert ask(scheduler, [1], letters=9) == alone([1], letters=9)
    with pytest.raises(ValueError, match="of the caller"):
        other[0].result(30)


def test_error_in_an_answer_reaches_its_caller_and_nobody_else(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler(ToyRuntime())
    broken = question([1])
    monkeypatch.setattr(broken.matcher, "mask", lambda: 1 / 0)
    good: Future[list[Event]] = threads.submit(ask, scheduler, [2], letters=40)
    with pytest.raises(ZeroDivisionError):
        scheduler.run(broken, lambda event: None, lambda: False)
    assert good.result(30) == alone([2], letters=40)


def test_answer_whose_events_are_not_read_is_passed_over(threads: ThreadPoolExecutor) -> None:
    runtime = ToyRuntime(slots=2)
    scheduler = Scheduler(runtime)
    read = threading.Event()
    events: list[Event] = []

    def slow(event: Event) -> None:
        assert read.wait(30)
        events.append(event)

    unread = threads.submit(scheduler.run, question([1], letters=4 * EVENTS_AHEAD), slow, lambda: False)
    assert ask(scheduler, [2], letters=5 * EVENTS_AHEAD) == alone([2], letters=5 * EVENTS_AHEAD)
    (slot,) = {row.slot for rows in runtime.steps for row in rows if row.start == 0 and row.ids[0] == 1}
    assert len(runtime.held[slot]) <= 1 + EVENTS_AHEAD + 2
    read.set()
    unread.result(30)
    assert events == alone([1], letters=4 * EVENTS_AHEAD)


def test_thread_ends_after_the_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commitgate_local.scheduler._LINGER_S", 0.0)
    runtime = ToyRuntime()
    seen = noted_threads(runtime)
    scheduler = Scheduler(runtime)
    ask(scheduler, [1])
    (thread,) = seen
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert ask(scheduler, [2]) == alone([2])


def test_thread_of_the_last_answer_writes_the_next_one() -> None:
    runtime = ToyRuntime()
    seen = noted_threads(runtime)
    scheduler = Scheduler(runtime)
    for number in range(20):
        assert ask(scheduler, [number % 9]) == alone([number % 9])
    assert len(seen) == 1


ENDING = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import torch
from test_scheduler import Scheduler, ToyRuntime, question

runtime, weight, is_running = ToyRuntime(), torch.ones(2000, 2000), threading.Event()

def multiply():
    is_running.set()
    torch.mm(weight, weight)

runtime.before_step = multiply
asked = (question([1], letters=4000), lambda event: None, lambda: False)
threading.Thread(target=Scheduler(runtime).run, args=asked, daemon=True).start()
is_running.wait()
"""


def test_program_may_end_in_the_middle_of_an_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING, Path(__file__).parent], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def noted_threads(runtime: ToyRuntime) -> set[threading.Thread]:
    seen: set[threading.Thread] = set()
    runtime.before_step = lambda: seen.add(threading.current_thread())
    return seen


def test_negative_queue_is_refused() -> None:
    with pytest.raises(MisuseError, match="waiting must be >= 0, found -1"):
        Scheduler(ToyRuntime(), waiting=-1)


@pytest.mark.parametrize("waiting", [True, "3", 1.5, None])
def test_queue_of_no_number_is_refused(waiting: Any) -> None:
    with pytest.raises(MisuseError, match="waiting must be an int"):
        Scheduler(ToyRuntime(), waiting=waiting)


def test_prefix_that_cannot_be_taken_over_ends_its_own_answer_alone(threads: ThreadPoolExecutor) -> None:
    runtime, going, more = ToyRuntime(), threading.Event(), threading.Event()
    scheduler = Scheduler(runtime)

    def hold() -> None:
        if len(runtime.steps) == 3:
            going.set()
            more.wait(30)

    def fail(source_slot: int, target_slot: int, tokens: int) -> None:
        raise MemoryError

    runtime.before_step = hold
    runtime.copy_prefix = fail  # type: ignore[method-assign]
    begin = [3, 1, 4, 1, 5] * 20
    first = threads.submit(ask, scheduler, [*begin, 6], letters=8)
    assert going.wait(30)
    second = threads.submit(ask, scheduler, [*begin, 7], letters=2)
    until(lambda: scheduler.stats().queued > 0)
    more.set()
    (fault,) = second.result(30)
    assert isinstance(fault, Fault)
    assert fault.kind == "model"
    assert first.result(30) == alone([*begin, 6], letters=8)


@pytest.mark.parametrize(("raised", "heard"), [(ZeroDivisionError, ZeroDivisionError), (Panic, ModelRunError)])
def test_error_of_the_scheduler_itself_reaches_everybody_and_the_next_one_is_served(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, raised: type[BaseException], heard: type[Exception]
) -> None:
    def fail(self: Scheduler) -> None:
        raise raised

    runtime, held = ToyRuntime(slots=1), threading.Event()
    runtime.before_step = lambda: held.wait(30) and None
    scheduler = Scheduler(runtime)
    asked = [threads.submit(ask, scheduler, [number]) for number in range(3)]
    until(lambda: busy(scheduler) == 3)
    monkeypatch.setattr(Scheduler, "_rows", fail)
    held.set()
    for answer in asked:
        with pytest.raises(heard):
            answer.result(30)
    monkeypatch.undo()
    assert ask(scheduler, [2]) == alone([2])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked off here")
def test_process_that_is_forked_off_is_served_by_a_thread_of_its_own() -> None:
    scheduler = Scheduler(ToyRuntime())
    ask(scheduler, [1])
    with warnings.catch_warnings():
        # Newer versions of Python warn of exactly this.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if ask(scheduler, [2]) == alone([2]) else 1
        finally:
            os._exit(status)
    ended: list[int] = []

    def has_ended() -> bool:
        found, status = os.waitpid(child, os.WNOHANG)
        ended.extend([status] if found else [])
        return bool(found)

    try:
        until(has_ended)
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert ended == [0]
