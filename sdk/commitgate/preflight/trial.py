"""Say how a contract is tried out, and what the calls of a trial came to. Sans-IO."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from commitgate.argument import check_finite, check_int, check_kind, check_words
from commitgate.backends.base import Sampling
from commitgate.errors import MisuseError

MAX_CALLS = 1_000
"""Most calls of a trial while the schema is known: each is asked and paid for."""

MAX_CONCURRENCY = 64
"""Most calls of a trial at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Say how often, how many at once and with which prompts a model is asked.

    The first calls, as many as go at once, meet a schema that the backend has never seen: they are *cold*. All after
    them are *hot*.

    Attributes:
        calls: hot calls, 0 to ``MAX_CALLS``; 0 asks no model at all.
        concurrency: calls at once, 1 to ``MAX_CONCURRENCY``.
        prompts: what is asked, one after the other and again; without any, the schema's own words are.
        system: the system message.
        sampling: how tokens are drawn; None takes the likeliest.
        timeout_s: most seconds for one call.
        first_token_s: seconds within which the first token of 95 % of the hot calls has to come; None for no limit.
        per_token_s: mean seconds within which further tokens of 95 % of the hot calls have to come; None for no limit.

    Raises:
        MisuseError: one is of the wrong kind, or out of its range.
    """

    calls: int = 8
    concurrency: int = 1
    prompts: tuple[str, ...] = field(default=(), repr=False)
    system: str | None = field(default=None, repr=False)
    sampling: Sampling | None = None
    timeout_s: float = 120.0
    first_token_s: float | None = None
    per_token_s: float | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("calls", 0, MAX_CALLS), ("concurrency", 1, MAX_CONCURRENCY)):
            value: object = getattr(self, name)
            check_int(name, value)
            if not isinstance(value, int) or not least <= value <= most:
                raise MisuseError(f"{name} must be from {least} to {most:,}, found {value}")
        for name in ("timeout_s", "first_token_s", "per_token_s"):
            _check_seconds(name, getattr(self, name))
        check_kind("prompts", self.prompts, tuple, "a tuple of texts")
        for number, prompt in enumerate(self.prompts):
            check_words(f"prompts[{number}]", prompt)
        if self.sampling is not None:
            check_kind("sampling", self.sampling, Sampling, "a Sampling")


def _check_seconds(name: str, value: float | None) -> None:
    if value is None:
        return
    wanted = "a number of seconds > 0"
    check_finite(name, value, wanted)
    if value <= 0:
        raise MisuseError(f"{name} must be {wanted}, found {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCall:
    """Hold how one call went, without its texts.

    Attributes:
        ending: name of its ending.
        detail: the ending's own kind, phase or layer; None where it has none.
        summary: the ending in a sentence without payload; empty of a value.
        first_token_s: seconds to the first text of the answer; None where none came.
        per_token_s: mean seconds of the tokens after it; None where there were none.
        output_tokens: tokens written; None where nobody counted.
        legal_mass_min: least legal mass of its steps, in [0, 1]; None where nobody knows.
        legal_mass_mean: their mean.
    """

    ending: str
    detail: str | None = None
    summary: str = ""
    first_token_s: float | None = None
    per_token_s: float | None = None
    output_tokens: int | None = None
    legal_mass_min: float | None = None
    legal_mass_mean: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Tell how a measure was spread over calls: by nearest rank, so that each is one that was measured.

    Attributes:
        count: calls that have it.
        median: the middle one, the lower of two.
        p95: the one that 95 % do not exceed.
        most: the largest.
    """

    count: int
    median: float
    p95: float
    most: float

    @staticmethod
    def of(values: Sequence[float | None]) -> Spread | None:
        """Return how values are spread; None where there is none."""
        found = sorted(value for value in values if value is not None)
        if not found:
            return None
        return Spread(count=len(found), median=_rank(found, 0.5), p95=_rank(found, 0.95), most=found[-1])


def _rank(values: Sequence[float], share: float) -> float:
    return values[max(1, math.ceil(share * len(values))) - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Hold what the cold or the hot calls came to.

    Attributes:
        calls: how many there were.
        endings: how many came to which ending, with its detail in brackets.
        first_token_s: how the times to the first token are spread.
        per_token_s: how the times of further tokens are spread.
        output_tokens: all tokens written; None where nobody counted.
        legal_mass_min: least legal mass of all; None where nobody knows.
        legal_mass_mean: mean of the calls' means.
    """

    calls: int
    endings: Mapping[str, int] = field(default_factory=dict[str, int])
    first_token_s: Spread | None = None
    per_token_s: Spread | None = None
    output_tokens: int | None = None
    legal_mass_min: float | None = None
    legal_mass_mean: float | None = None

    @staticmethod
    def of(calls: Sequence[TriedCall]) -> Phase:
        """Count calls."""
        words = (each.ending if each.detail is None else f"{each.ending} ({each.detail})" for each in calls)
        tokens = [each.output_tokens for each in calls if each.output_tokens is not None]
        masses = [each.legal_mass_mean for each in calls if each.legal_mass_mean is not None]
        return Phase(
            calls=len(calls),
            endings=dict(sorted(Counter(words).items())),
            first_token_s=Spread.of([each.first_token_s for each in calls]),
            per_token_s=Spread.of([each.per_token_s for each in calls]),
            output_tokens=sum(tokens) if tokens else None,
            legal_mass_min=min((m for each in calls if (m := each.legal_mass_min) is not None), default=None),
            legal_mass_mean=sum(masses) / len(masses) if masses else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """Hold what a trial came to.

    Attributes:
        cold: the calls that met a schema which was new.
        hot: the calls after them.
        is_cold_sure: the schema was new to the backend for sure: it decodes by itself, or was sent a text that nobody
            had sent it before.
        concurrency: calls at once.
        model: the model's name, as the backend tells it.
        model_revision: what tells versions of it apart.
        tokenizer_fingerprint: digest of the vocabulary that steered the masks.
        first_token_limit_s: the limit that was given for the first token; None for none.
        per_token_limit_s: the limit that was given for further tokens; None for none.
        calls: every call, the cold ones first.
    """

    cold: Phase
    hot: Phase
    is_cold_sure: bool
    concurrency: int
    model: str | None = None
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    first_token_limit_s: float | None = None
    per_token_limit_s: float | None = None
    calls: tuple[TriedCall, ...] = ()


__all__ = ["MAX_CALLS", "MAX_CONCURRENCY", "Phase", "Spread", "Trial", "TrialRun", "TriedCall"]
