"""Measure one engine in a process of its own, a schema at a time, so that no engine's memory weighs on another's time.

The process that asks holds one ``Worker`` an engine and has them take turns: one measures, the others wait.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Barrier, Thread
from typing import Any, TypeAlias

from mask_cases import Case
from mask_peers import ENGINES, Engine, Follower, RefusedError, Tokens

_WARM_UP = Case(
    name="warm-up",
    schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    texts=(),
)
"""Asked before anything is timed: what an engine loads on first use belongs to no schema."""

_START_LIMIT_S = 120.0
_THREADS_S = 0.4

Clock: TypeAlias = Callable[[], float]

CLOCKS: Mapping[str, Clock] = {"wall": time.perf_counter, "processor": time.process_time}
"""What seconds are: those that pass, or those in which the engine's process had a processor, all its threads together.

The second says more on a busy machine, and adds about a microsecond of its own to each step.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Hold what one engine took for one schema, in seconds.

    Attributes:
        refusal: why it was declined; None where it was taken.
        first_s: from the schema to the first mask.
        again_s: to the first mask when what was compiled is kept.
        cold: by text, of each token in the first pass: the token taken, and the mask after it. None of a text that
            the engine does not follow to its end.
        warm: the same in the second pass.
    """

    refusal: str | None = None
    first_s: float = 0.0
    again_s: float = 0.0
    cold: tuple[list[float] | None, ...] = ()
    warm: tuple[list[float] | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Hold what several matchers took that follow texts at the same time, every mask seen before.

    Attributes:
        in_turn: seconds of each token, where one thread takes a token of each matcher in turn.
        masks_a_second: over all matchers, where each has a thread.
    """

    in_turn: list[float]
    masks_a_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Ask for the same texts from some matchers at a time.

    Attributes:
        cases: a text each.
        matchers: how many at a time; each then takes the next text, until all are done.
        rounds: how often all that is done where one thread takes the tokens in turn.
    """

    cases: tuple[Case, ...]
    matchers: int
    rounds: int


def time_case(engine: Engine, case: Case, now: Clock = time.perf_counter) -> Timing:
    """Measure an engine on one schema that it has not seen."""
    begun = now()
    try:
        compiled = engine.compile(case.schema)
        follower = engine.follow(compiled)
        follower.mask()
    except RefusedError as error:
        return Timing(refusal=str(error)[:300])
    first_s = now() - begun
    begun = now()
    engine.follow(compiled).mask()
    again_s = now() - begun
    cold = tuple(follow(follower, text, now) for text in case.texts)
    warm = tuple(taken and follow(follower, text, now) for text, taken in zip(case.texts, cold, strict=True))
    return Timing(first_s=first_s, again_s=again_s, cold=cold, warm=warm)


def follow(follower: Follower, text: Sequence[int], now: Clock = time.perf_counter) -> list[float] | None:
    """Return the seconds of each token of a text; None where the engine does not allow one that belongs there."""
    mask, allows, advance = follower.mask, follower.allows, follower.advance
    taken: list[float] = []
    follower.reset()
    seen = mask()
    for token in text:
        if not allows(seen, token):
            return None
        begun = now()
        advance(token)
        seen = mask()
        taken.append(now() - begun)
    return taken


def time_together(engine: Engine, order: Order) -> Together:
    """Measure matchers at the same time: in turn by one thread, then each in a thread of its own."""
    texts = [(engine.follow(engine.compile(case.schema)), case.texts[0]) for case in order.cases]
    for follower, text in texts:
        follow(follower, text)
    lanes = [texts[number :: order.matchers] for number in range(order.matchers)]
    in_turn = [took for _ in range(order.rounds) for took in _in_turn(lanes)]
    return Together(in_turn=in_turn, masks_a_second=_in_threads(lanes))


_Lane = Sequence[tuple[Follower, Sequence[int]]]


def _steps(lane: _Lane) -> Iterator[float]:
    """Take the texts of a lane a token at a time, and give the seconds that each took."""
    now = time.perf_counter
    for follower, text in lane:
        follower.reset()
        follower.mask()
        for token in text:
            begun = now()
            follower.advance(token)
            follower.mask()
            yield now() - begun


def _in_turn(lanes: Sequence[_Lane]) -> list[float]:
    """Return the seconds of each token."""
    going, taken = [_steps(lane) for lane in lanes], list[float]()
    while going:
        for steps in tuple(going):
            took = next(steps, None)
            if took is None:
                going.remove(steps)
            else:
                taken.append(took)
    return taken


def _in_threads(lanes: Sequence[_Lane]) -> float:
    """Return masks a second over all threads, from the moment when all of them are ready."""
    now, ready, counts = time.perf_counter, Barrier(len(lanes) + 1), [0] * len(lanes)

    def run(number: int, lane: _Lane) -> None:
        ready.wait()
        until = now() + _THREADS_S
        while now() < until:
            for follower, text in lane:
                follower.reset()
                follower.mask()
                for token in text:
                    follower.advance(token)
                    follower.mask()
                counts[number] += len(text) + 1

    threads = [Thread(target=run, args=each, daemon=True) for each in enumerate(lanes)]
    for thread in threads:
        thread.start()
    ready.wait()
    begun = now()
    for thread in threads:
        thread.join()
    return sum(counts) / (now() - begun)


def serve(connection: Any, name: str, tokens: Tokens, clock: str) -> None:
    """Measure what comes over the connection until it is closed."""
    # Some engines write a line a schema; errors come back as values.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        engine = ENGINES[name].make(tokens)
        time_case(engine, _WARM_UP)
    except Exception as error:  # noqa: BLE001 - whatever keeps one engine from starting is told, and the others go on
        connection.send(f"{type(error).__name__}: {error}"[:300])
        return
    connection.send("torch" in sys.modules)
    now = CLOCKS[clock]
    while True:
        try:
            asked = connection.recv()
        except EOFError:
            return
        try:
            answer = time_together(engine, asked) if isinstance(asked, Order) else time_case(engine, asked, now)
        except Exception as error:  # noqa: BLE001 - a fault in one engine on one schema must not end the whole run
            answer = Timing(refusal=f"fault {type(error).__name__}: {error}"[:300])
        connection.send(answer)


class NotStartedError(Exception):
    """Raised when an engine cannot be made for a vocabulary; the message names it and says why."""


class Worker:
    """Run one engine in a process, which is replaced when it passes its time or dies.

    Args:
        name: of the engine.
        tokens: the vocabulary.
        limit_s: most seconds for one thing asked.
        clock: of ``CLOCKS``; several matchers at a time are always measured by the wall's.

    Raises:
        NotStartedError: the engine cannot be made.

    Attributes:
        has_torch: whether torch is loaded in its process.
    """

    def __init__(self, name: str, tokens: Tokens, *, limit_s: float, clock: str = "wall") -> None:
        self._arguments = (name, tokens, clock)
        self._limit_s = limit_s
        self.has_torch = False
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *self._arguments), daemon=True)
        self._process.start()
        theirs.close()
        try:
            started = self._connection.recv() if self._connection.poll(_START_LIMIT_S) else "it took too long"
        except EOFError:
            started = "its process died"
        if not isinstance(started, bool):
            self.close()
            raise NotStartedError(f"{self._arguments[0]} did not start: {started}")
        self.has_torch = started

    def time(self, case: Case) -> Timing:
        """Measure a schema; one that takes too long is refused, and says so."""
        answer = self._ask(case)
        return answer if isinstance(answer, Timing) else Timing(refusal=str(answer))

    def together(self, order: Order) -> Together | None:
        """Measure matchers at the same time; None where that failed."""
        answer = self._ask(order)
        return answer if isinstance(answer, Together) else None

    def _ask(self, asked: Case | Order) -> object:
        self._connection.send(asked)
        try:
            if self._connection.poll(self._limit_s):
                return self._connection.recv()
            why = f"{TIME_LIMIT} of {self._limit_s:g} s"
        except EOFError:
            why = "its process died"
        self.close()
        self._start()
        return why

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.join()


TIME_LIMIT = "time limit"
"""How the refusal of a schema that took too long begins."""

__all__ = [
    "CLOCKS",
    "TIME_LIMIT",
    "NotStartedError",
    "Order",
    "Timing",
    "Together",
    "Worker",
    "follow",
    "time_case",
    "time_together",
]
