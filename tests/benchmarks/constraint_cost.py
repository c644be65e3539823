"""Measure what a constraint adds to an answer: the same model writes the same tokens with it and without.

The text is given: each draw finds the wanted token's logit raised above all others, so that both ways make the same
forwards. Forced runs are off, since they would leave forwards out. What the constraint adds lies between the forwards,
so the time there is compared too, which says it far more exactly than whole times, most of which are the model's.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from results import Row as Result
from ticket_question import Ticket, ticket_with

from commitgate import Contract, Sampling
from commitgate.backends.base import Event, TextDelta
from commitgate_local import MaskEngine, Matcher, Vocabulary
from commitgate_local.answer import Question
from commitgate_local.runtime import Row, Runtime
from commitgate_local.scheduler import Scheduler

FREE = "no constraint"
SEEN = "schema seen before"
NEW = "new schema"
FIRST = "first schema of an engine"

# Of an answer never reached by its schema's varied bound.
_FIRST_BOUND = 1_000
_RAISED_BY = 4.0


class Replay:
    """Run a model whose logits want a given text.

    Args:
        runtime: the model.
        prompt_tokens: where the text begins.
        ids: the text.

    Attributes:
        between_s: seconds from the end of each forward to the beginning of the next.
        forwards_s: seconds of each forward.
    """

    def __init__(self, runtime: Runtime, prompt_tokens: int, ids: Sequence[int]) -> None:
        self._runtime, self._prompt_tokens, self._ids = runtime, prompt_tokens, ids
        self._left: float | None = None
        self.between_s: list[float] = []
        self.forwards_s: list[float] = []

    def begin(self) -> None:
        """Forget what was measured."""
        self._left, self.between_s, self.forwards_s = None, [], []

    @property
    def name(self) -> str:
        return self._runtime.name

    @property
    def precision(self) -> str:
        return self._runtime.precision

    @property
    def width(self) -> int:
        return self._runtime.width

    @property
    def context_tokens(self) -> int:
        return self._runtime.context_tokens

    @property
    def slots(self) -> int:
        return self._runtime.slots

    @property
    def cache_bytes(self) -> int:
        return self._runtime.cache_bytes

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        self._runtime.copy_prefix(source_slot, target_slot, tokens)

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        entered = time.perf_counter()
        if self._left is not None:
            self.between_s.append(entered - self._left)
        logits = self._runtime.step(rows)
        (row,) = rows
        place = row.start + len(row.ids) - self._prompt_tokens
        if row.wants_logits and place < len(self._ids):
            with torch.inference_mode():
                logits[0, self._ids[place]] = logits.max() + _RAISED_BY
        self._left = time.perf_counter()
        self.forwards_s.append(self._left - entered)
        return logits


@dataclass(frozen=True, slots=True)
class _Times:
    """Hold one answer's times, in seconds.

    Attributes:
        first_s: from the question to the first token.
        aside_s: of these, all but the forward.
        each_s: from each token to the next.
        between_s: from each forward to the next, but for the first.
    """

    first_s: float
    aside_s: float
    each_s: list[float]
    between_s: list[float]


@dataclass(slots=True)
class _Seen:
    times: list[_Times] = field(default_factory=list[_Times])

    @property
    def first_s(self) -> list[float]:
        return [one.first_s for one in self.times]

    @property
    def aside_s(self) -> list[float]:
        return [one.aside_s for one in self.times]

    @property
    def each_s(self) -> float:
        """Return the seconds of a token: of each place in the text the least that was seen, then their mean."""
        return statistics.fmean(map(min, zip(*(one.each_s for one in self.times), strict=True)))

    @property
    def between_s(self) -> float:
        """Return the seconds between forwards, as ``each_s``."""
        return statistics.fmean(map(min, zip(*(one.between_s for one in self.times), strict=True)))

    @property
    def mean_between_s(self) -> float:
        """Return the seconds between forwards, with all that happened to fall there."""
        return statistics.fmean(seconds for one in self.times for seconds in one.between_s)


class ConstraintCost:
    """Write one text again and again.

    Args:
        runtime: the model.
        vocabulary: its tokens.
        prompt: ids of the prompt.
        ids: ids of the text, an answer of the ticket example.
    """

    def __init__(self, runtime: Runtime, vocabulary: Vocabulary, prompt: Sequence[int], ids: Sequence[int]) -> None:
        self._replay = Replay(runtime, len(prompt), ids)
        self._scheduler = Scheduler(self._replay)
        self._vocabulary, self._prompt, self._ids = vocabulary, prompt, ids
        self._engine = MaskEngine(vocabulary)
        self._seen = Contract.of(Ticket)
        self._next_bound = _FIRST_BOUND

    def measure(self, rounds: int) -> dict[str, _Seen]:
        """Return the times of each way, taken in turn."""
        ways: dict[str, Callable[[], Callable[[], Matcher]]] = {
            FREE: lambda: self._engine.matcher_of_anything,
            SEEN: lambda: lambda: self._engine.matcher(self._seen),
            NEW: lambda: lambda: self._engine.matcher(self._new()),
            FIRST: self._on_new_engine,
        }
        found = {name: _Seen() for name in ways}
        # Once for nothing: the prompt is then in the model's cache, and the states of the text are known.
        self._write(ways[SEEN]())
        order = list(ways)
        for number in range(rounds):
            for name in order[number % len(order) :] + order[: number % len(order)]:
                found[name].times.append(self._write(ways[name]()))
        return found

    def _new(self) -> Contract[Ticket]:
        self._next_bound += 1
        return Contract.of(ticket_with(self._next_bound))

    def _on_new_engine(self) -> Callable[[], Matcher]:
        engine = MaskEngine(self._vocabulary)
        return lambda: engine.matcher(self._new())

    def _write(self, matcher: Callable[[], Matcher]) -> _Times:
        at: list[float] = []
        text: list[bytes] = []

        def tell(event: Event) -> None:
            if isinstance(event, TextDelta):
                at.append(time.perf_counter())
                text.append(event.data)

        self._replay.begin()
        # What the way before left behind is not this one's to clear away.
        gc.collect()
        begun = time.perf_counter()
        question = Question(
            matcher=matcher(),
            vocabulary=self._vocabulary,
            prompt=self._prompt,
            sampling=Sampling(temperature=0.0, max_tokens=len(self._ids)),
        )
        self._scheduler.run(question, tell, lambda: False)
        assert b"".join(text) == self._vocabulary.text(self._ids), "both ways write the same text"
        each = [later - earlier for earlier, later in pairwise(at)]
        first_s = at[0] - begun
        # The prompt is known, so that one forward comes before the first token.
        return _Times(first_s, first_s - self._replay.forwards_s[0], each, list(self._replay.between_s))


def rows_of(found: dict[str, _Seen]) -> list[Result]:
    """Return what the report shows of the times."""
    free = found[FREE]
    token_s = free.each_s
    rows: list[Result] = []
    for name, seen in found.items():
        first = {"least": min(seen.first_s) * 1e3, "median": statistics.median(seen.first_s) * 1e3}
        rows.append(Result(what="Time to the first token, prompt known", who=name, unit="ms", values=first))
    for name, seen in found.items():
        if name == FREE:
            continue
        added = {
            "first token, least": _part(min(seen.aside_s) - min(free.aside_s), token_s),
            "first token, median": _part(statistics.median(seen.aside_s) - statistics.median(free.aside_s), token_s),
            "each token": _part(seen.each_s - token_s, token_s),
            "between forwards": _part(seen.between_s - free.between_s, token_s),
            "between forwards, mean": _part(seen.mean_between_s - free.mean_between_s, token_s),
        }
        rows.append(Result(what="Added by the constraint, part of a token", who=name, unit="%", values=added))
    shown = {"a token": token_s * 1e3, "between forwards": free.between_s * 1e3}
    rows.append(Result(what="A token without constraint", who=FREE, unit="ms", values=shown))
    return rows


def _part(added_s: float, token_s: float) -> float:
    return 100 * added_s / token_s


__all__ = ["FIRST", "FREE", "NEW", "SEEN", "ConstraintCost", "Replay", "rows_of"]
