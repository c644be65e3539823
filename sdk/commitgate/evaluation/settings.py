"""Hold how a run is to be made, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from commitgate.argument import check_choice, check_finite, check_int, check_kind
from commitgate.backends.base import Sampling
from commitgate.errors import MisuseError
from commitgate.evaluation.case import Suite
from commitgate.evaluation.record import Variant
from commitgate.evaluation.setup import Planned
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.timeouts import Timeouts

DEFAULT_CONCURRENCY = 4
"""Trials that run at once where the caller does not say."""

DEFAULT_DEAD_AFTER = 5
"""Trials in a row that the backend did not serve, after which it counts as dead."""

DEFAULT_CHECK_S = 60.0
"""Seconds for each function of the suite where the caller does not say."""

MAX_CONCURRENCY = 1_024
"""Most trials that may run at once."""

MAX_REPETITIONS = 10_000
"""Most times that each case may be asked."""

MAX_REASKS = 16
"""Most further requests for one answer by the prompt alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Say how a run is made. The attributes are the arguments of ``evaluate``.

    Raises:
        MisuseError: one of them is of another type or out of its range.
    """

    variants: tuple[Variant, ...] = ("constrained",)
    repetitions: int = 1
    concurrency: int = DEFAULT_CONCURRENCY
    most_reasks: int = 0
    dead_after: int | None = DEFAULT_DEAD_AFTER
    most_failures: int | None = None
    check_timeout_s: float = DEFAULT_CHECK_S
    warm_up: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    retry: Retry = field(default_factory=Retry)
    reasoning: Reasoning | None = None

    def __post_init__(self) -> None:
        check_kind("variants", self.variants, Sequence, "a list of variants")
        for variant in self.variants:
            check_choice("a variant", variant, get_args(Variant))
        if not self.variants or len(set(self.variants)) < len(self.variants) or isinstance(self.variants, str):
            raise MisuseError("variants must name at least one variant, and none twice")
        _check_range("repetitions", self.repetitions, 1, MAX_REPETITIONS)
        _check_range("concurrency", self.concurrency, 1, MAX_CONCURRENCY)
        _check_range("most_reasks", self.most_reasks, 0, MAX_REASKS)
        for name, value in (("dead_after", self.dead_after), ("most_failures", self.most_failures)):
            if value is not None:
                _check_range(name, value, 1, None)
        check_finite("check_timeout_s", self.check_timeout_s)
        if self.check_timeout_s <= 0:
            raise MisuseError("check_timeout_s must be > 0")
        check_kind("warm_up", self.warm_up, bool, "a bool")
        check_kind("timeouts", self.timeouts, Timeouts, "a Timeouts")
        check_kind("retry", self.retry, Retry, "a Retry")
        if self.reasoning is not None:
            check_kind("reasoning", self.reasoning, Reasoning, "a Reasoning")

    def to_json(self, suite: Suite[object]) -> JsonObject:
        """Return what decides about the answers and their judgement, for a header and a report."""
        return {
            "variants": list(self.variants),
            "repetitions": self.repetitions,
            "most_reasks": self.most_reasks,
            "sampling": sampling_to_json(suite.sampling),
            "prompt_schema": suite.prompt_schema,
            "least_score": float(suite.least_score),
            "timeouts": {name: getattr(self.timeouts, name) for name in Timeouts.__slots__},
            "retry": {name: getattr(self.retry, name) for name in Retry.__slots__},
            "reasoning": None if self.reasoning is None else repr(self.reasoning),
        }

    def plan(self, suite: Suite[object]) -> tuple[Planned, ...]:
        """Return all trials, in the order in which they are begun and told.

        Variants and repetitions of a case follow each other, so that what changes over time meets all of them alike;
        which variant comes first changes from case to case, because a model may remember the prompt that it has read.
        A case with tools is not asked by the prompt alone: its tools would be run a second time.
        """
        return tuple(
            Planned(case=case, variant=variant, repetition=repetition)
            for number, case in enumerate(suite.cases)
            for variant in (self.variants if number % 2 == 0 else reversed(self.variants))
            for repetition in range(1, self.repetitions + 1)
            if variant == "constrained" or not case.tools
        )


def sampling_to_json(sampling: Sampling) -> JsonObject:
    """Return how tokens are drawn, as JSON."""
    return {
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_tokens": sampling.max_tokens,
    }


def _check_range(name: str, value: int, least: int, most: int | None) -> None:
    check_int(name, value)
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" and <= {most}"
        raise MisuseError(f"{name} must be >= {least}{upper}, found {value}")


__all__ = [
    "DEFAULT_CHECK_S",
    "DEFAULT_CONCURRENCY",
    "DEFAULT_DEAD_AFTER",
    "MAX_CONCURRENCY",
    "MAX_REASKS",
    "MAX_REPETITIONS",
    "RunSettings",
    "sampling_to_json",
]
