"""Count what a server does, and write it in Prometheus' text format.

All names and labels are fixed: nothing of a request becomes a label, so no client can make them grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, TypeAlias, get_args

from commitgate.backends.base import DeadEndCause, FaultKind, FinishReason
from commitgate.telemetry.text_format import METRICS_TYPE, NO_LABELS, Histogram, head, sample
from commitgate_local.server.answer_tally import AnswerTally, Constraint

_FIRST_TOKEN_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUEST_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_TOKEN_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
_MASS: Final = (1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)

_NONE: Final = "none"
_OTHER: Final = "other"

REFUSAL_CODES: Final = (
    "context_length_exceeded",
    "dead_end",
    "idempotency_in_progress",
    "idempotency_key_reused",
    "invalid_function_parameters",
    "invalid_json_schema",
    "invalid_language",
    "invalid_type",
    "invalid_value",
    "missing_required_parameter",
    "model_not_found",
    "request_too_large",
    "schema_too_large",
    "unknown_parameter",
    "unsatisfiable_schema",
    "unsupported_parameter",
    "unsupported_schema",
)
"""Codes of refused requests that are counted by name; every other one is ``other``."""

Gauges: TypeAlias = "Callable[[], Mapping[str, float]]"
"""Tells numbers of now by name, of lower-case letters and underscores; a sum that only grows ends in ``_total``."""


class RequestOutcome(StrEnum):
    """Say how one request for a completion ended."""

    COMPLETED = "completed"
    REPLAYED = "replayed"
    """The stored answer of its idempotency key was sent."""
    UNAUTHORIZED = "unauthorized"
    REFUSED = "refused"
    """A fault of the request: a status from 400 to 499."""
    OVERLOADED = "overloaded"
    """There was no room, or the server is shutting down."""
    FAILED = "failed"
    """A fault of the server or its model."""
    TIME_LIMIT = "time_limit"
    CLIENT_GONE = "client_gone"


class _Counter:
    """Count what is named by one label of fixed values, or by none."""

    def __init__(self, name: str, help_text: str, label: str | None = None, values: Iterable[str] = ("",)) -> None:
        self._name = f"commitgate_{name}_total"
        self._help = help_text
        self._label = label
        self._counts = dict.fromkeys(values, 0)

    def add(self, value: str, count: int = 1) -> None:
        self._counts[value if value in self._counts else _OTHER] += count

    def lines(self) -> Iterator[str]:
        yield from head(self._name, "counter", self._help)
        for value, count in self._counts.items():
            yield sample(self._name, count, NO_LABELS if self._label is None else {self._label: value})


class _Histogram:
    def __init__(self, name: str, help_text: str, bounds: tuple[float, ...]) -> None:
        self._name = f"commitgate_{name}"
        self._help = help_text
        self._values = Histogram(bounds)

    def add(self, value: float | None) -> None:
        if value is not None:
            self._values.add(value)

    def lines(self) -> Iterator[str]:
        yield from head(self._name, "histogram", self._help)
        yield from self._values.lines(self._name)


class ServerMetrics:
    """Count what a server does. Not for several threads at once."""

    def __init__(self) -> None:
        self._outcomes = _Counter("requests", "Requests for completions by how they ended.", "outcome", RequestOutcome)
        codes = (*REFUSAL_CODES, _OTHER)
        self._refused = _Counter("refused_requests", "Requests refused as the client's fault.", "code", codes)
        self._tokens = _Counter("tokens", "Tokens read and written.", "kind", ("prompt", "completion"))
        self._constraints = _Counter("answers", "Answers begun by what held them.", "constraint", Constraint)
        reasons = (*map(str, FinishReason), _NONE)
        self._finishes = _Counter("finishes", "Answers by why the model stopped.", "reason", reasons)
        causes: tuple[str, ...] = get_args(DeadEndCause)
        self._dead_ends = _Counter("dead_ends", "Answers in which no token was legal.", "cause", causes)
        kinds: tuple[str, ...] = get_args(FaultKind)
        self._faults = _Counter("faults", "Answers that the model's backend failed.", "kind", kinds)
        self._refusals = _Counter("refusals", "Answers in which the model declined.")
        self._answer_tokens = _Counter("answer_tokens", "Tokens of answers.", "how", ("drawn", "forced"))
        self._first_token = _Histogram(
            "first_token_seconds", "Seconds from a request to the first text of its answer.", _FIRST_TOKEN_S
        )
        self._request = _Histogram("request_seconds", "Seconds from a request to the end of its answer.", _REQUEST_S)
        self._token = _Histogram("token_seconds", "Mean seconds of a token after the first, of one answer.", _TOKEN_S)
        self._mass_min = _Histogram("legal_mass_min", "Least legal mass of an answer's steps.", _MASS)
        self._mass_mean = _Histogram("legal_mass_mean", "Mean legal mass of an answer's steps.", _MASS)

    def count(self, outcome: RequestOutcome, seconds: float) -> None:
        """Count one request that ended, so many seconds after it came."""
        self._outcomes.add(outcome)
        self._request.add(seconds)

    def count_refusal(self, code: str) -> None:
        """Count one request that was refused as the client's fault."""
        self._refused.add(code)

    def count_tokens(self, *, prompt: int | None, completion: int | None) -> None:
        """Count the tokens of one answer; None where they are not known."""
        self._tokens.add("prompt", prompt or 0)
        self._tokens.add("completion", completion or 0)

    def count_first_token(self, seconds: float) -> None:
        """Count the first text of one answer, so many seconds after its request."""
        self._first_token.add(seconds)

    def count_answer(self, answer: AnswerTally) -> None:
        """Count one answer that the model began, however it ended."""
        self._constraints.add(answer.constraint)
        self._finishes.add(_NONE if answer.finish is None else answer.finish)
        if answer.dead_end is not None:
            self._dead_ends.add(answer.dead_end)
        if answer.fault is not None:
            self._faults.add(answer.fault)
        self._refusals.add("", int(answer.is_refusal))
        self._answer_tokens.add("drawn", answer.drawn_tokens)
        self._answer_tokens.add("forced", answer.forced_tokens)
        self._token.add(answer.time_per_token_s)
        self._mass_min.add(answer.legal_mass_min)
        self._mass_mean.add(answer.legal_mass_mean)

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return everything in the text format.

        Args:
            gauges: further numbers of now, by name.
        """
        return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        for each in (
            self._outcomes,
            self._refused,
            self._tokens,
            self._constraints,
            self._finishes,
            self._dead_ends,
            self._faults,
            self._refusals,
            self._answer_tokens,
            self._first_token,
            self._request,
            self._token,
            self._mass_min,
            self._mass_mean,
        ):
            yield from each.lines()
        for gauge, value in gauges.items():
            is_sum = gauge.endswith("_total")
            words = gauge.removesuffix("_total").replace("_", " ").capitalize()
            name, kind = f"commitgate_{gauge}", "counter" if is_sum else "gauge"
            yield from head(name, kind, f"{words}, {'so far' if is_sum else 'now'}.")
            yield sample(name, value)


__all__ = ["METRICS_TYPE", "REFUSAL_CODES", "Gauges", "RequestOutcome", "ServerMetrics"]
