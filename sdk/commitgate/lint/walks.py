"""Write sample texts through the automaton, byte by byte, and count what that takes.

The texts are drawn by chance from a fixed seed, so the same schema has the same figures on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from commitgate.automaton import compile as compile_automaton
from commitgate.automaton.terms import Term
from commitgate.contract import Contract
from commitgate.errors import LimitExceededError
from commitgate.lint.draw import Draw
from commitgate.lint.report import Walks

MOST_WALKS = 1_000
"""Most sample texts of one report."""

MOST_WALK_BYTES = 65_536
"""Most bytes of one sample text."""

_REACH = 16
"""Bytes of a token that hardly any vocabulary has longer ones than."""

_WIDE_BYTES = 32
_MOST_LOOKED_AT = 20_000
_CLOSING = b'"]}'

_MOST_UNFINISHED = 8
"""Sample texts without an end after which no further ones are drawn: they cost the most and say the least."""


@dataclass(slots=True)
class _Counts:
    """Count over all walks."""

    lengths: list[int] = field(default_factory=list[int])
    texts: int = 0
    bytes: int = 0
    forced: int = 0
    seen: set[Term] = field(default_factory=set[Term])
    passed: set[Term] = field(default_factory=set[Term])
    wide: int = 0
    classes: int = 0


def sample_walks(contract: Contract[object], *, texts: int, most_bytes: int) -> Walks:
    """Draw texts of a contract and count.

    Args:
        contract: whose texts.
        texts: how many.
        most_bytes: bytes after which a text is given up.
    """
    counts, stopped = _Counts(), None
    try:
        automaton = compile_automaton(contract, dialect="generate")
    except LimitExceededError as error:
        return Walks(most_bytes=most_bytes, stopped_by=error.limit_name)
    try:
        for seed in range(texts):
            if counts.texts - len(counts.lengths) >= _MOST_UNFINISHED:
                break
            counts.texts += 1
            _walk(automaton.start, Draw(seed), most_bytes, counts)
    except LimitExceededError as error:
        stopped = error.limit_name
    ended = sorted(counts.lengths)
    looked_at = len(counts.seen)
    return Walks(
        texts=counts.texts,
        finished=len(ended),
        most_bytes=most_bytes,
        bytes=counts.bytes,
        shortest_bytes=ended[0] if ended else None,
        median_bytes=ended[(len(ended) - 1) // 2] if ended else None,
        longest_bytes=ended[-1] if ended else None,
        states=len(automaton.arena),
        distinct_states=looked_at,
        wide_states=counts.wide,
        forced_bytes=counts.forced,
        mean_classes=round(counts.classes / looked_at, 2) if looked_at else 0.0,
        stopped_by=stopped,
    )


def _walk(start: Term, draw: Draw, most_bytes: int, counts: _Counts) -> None:
    state, length = start, 0
    empty = start.arena.empty
    while length < most_bytes:
        _look_at(state, counts)
        choices = state.partition.representatives[1:]
        following = _step(state, choices, draw, empty)
        if following is None or (state.nullable and draw.below(2)):
            counts.lengths.append(length)
            return
        counts.forced += len(choices) == 1 and not state.nullable and _count(state, 1) == 1
        counts.bytes += 1
        length += 1
        state = following
    if state.nullable:
        counts.lengths.append(length)


def _step(state: Term, choices: tuple[int, ...], draw: Draw, empty: Term) -> Term | None:
    """Return what follows a byte drawn among the live ones; what closes something is drawn more often."""
    if draw.below(3) == 0:
        for byte in _CLOSING:
            following = state.step(byte)
            if following is not empty:
                return following
    start = draw.below(len(choices)) if choices else 0
    for index in range(len(choices)):
        following = state.step(choices[(start + index) % len(choices)])
        if following is not empty:
            return following
    return None


def _look_at(state: Term, counts: _Counts) -> None:
    if state in counts.passed or len(counts.seen) >= _MOST_LOOKED_AT:
        return
    counts.passed.add(state)
    shared = state.saturated(_REACH)
    if shared in counts.seen:
        return
    counts.seen.add(shared)
    counts.classes += state.partition.count - 1
    counts.wide += _count(state, 0) > _WIDE_BYTES


def _count(state: Term, number: int) -> int:
    """Return how many bytes are of one class; for 0, how many are of any live one."""
    class_of = state.partition.class_of
    return class_of.count(number) if number else 256 - class_of.count(0)


__all__ = ["MOST_WALKS", "MOST_WALK_BYTES", "sample_walks"]
