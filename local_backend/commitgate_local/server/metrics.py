"""Count what a server does, and write it in Prometheus' text format.

All names and labels are fixed: nothing of a request becomes a label, so no client can make them grow.

Source: Prometheus' documentation, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Final, TypeAlias

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Content type of the text format."""

_FIRST_TOKEN_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUEST_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

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


class Histogram:
    """Count values by size.

    Args:
        bounds: upper bounds of the classes, rising; one without a bound comes behind them.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of the text format."""
        totals = list(accumulate(self._counts))
        for bound, total in zip((*map(_number, self._bounds), "+Inf"), totals, strict=True):
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {_number(self._sum)}"
        yield f"{name}_count {totals[-1]}"


class ServerMetrics:
    """Count what a server does. Not for several threads at once.

    Attributes:
        first_token_s: seconds from a request to the first text of its answer.
        request_s: seconds from a request to the end of its answer.
    """

    def __init__(self) -> None:
        self._outcomes = dict.fromkeys(RequestOutcome, 0)
        self._tokens = {"prompt": 0, "completion": 0}
        self.first_token_s = Histogram(_FIRST_TOKEN_S)
        self.request_s = Histogram(_REQUEST_S)

    def count(self, outcome: RequestOutcome) -> None:
        """Count one request that ended."""
        self._outcomes[outcome] += 1

    def count_tokens(self, *, prompt: int | None, completion: int | None) -> None:
        """Count the tokens of one answer; None where they are not known."""
        self._tokens["prompt"] += prompt or 0
        self._tokens["completion"] += completion or 0

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return everything in the text format.

        Args:
            gauges: further numbers of now, by name.
        """
        return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests for completions by how they ended.")
        for outcome, count in self._outcomes.items():
            yield f'commitgate_requests_total{{outcome="{outcome}"}} {count}'
        yield from _head("tokens_total", "counter", "Tokens read and written.")
        for kind, count in self._tokens.items():
            yield f'commitgate_tokens_total{{kind="{kind}"}} {count}'
        yield from _head("first_token_seconds", "histogram", "Seconds from a request to the first text of its answer.")
        yield from self.first_token_s.lines("commitgate_first_token_seconds")
        yield from _head("request_seconds", "histogram", "Seconds from a request to the end of its answer.")
        yield from self.request_s.lines("commitgate_request_seconds")
        for name, value in gauges.items():
            is_sum = name.endswith("_total")
            words = name.removesuffix("_total").replace("_", " ").capitalize()
            yield from _head(name, "counter" if is_sum else "gauge", f"{words}, {'so far' if is_sum else 'now'}.")
            yield f"commitgate_{name} {_number(value)}"


def _head(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP commitgate_{name} {help_text}", f"# TYPE commitgate_{name} {kind}"


def _number(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


__all__ = ["METRICS_TYPE", "Gauges", "Histogram", "RequestOutcome", "ServerMetrics"]
