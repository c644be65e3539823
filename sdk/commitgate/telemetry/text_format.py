"""Write counts in Prometheus' text format.

Source: Prometheus' documentation, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf, isnan
from types import MappingProxyType
from typing import Final

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Content type of the text format."""

NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


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

    def lines(self, name: str, labels: Mapping[str, str] = NO_LABELS) -> Iterator[str]:
        """Yield the lines of the text format."""
        totals = list(accumulate(self._counts))
        for bound, total in zip((*map(number, self._bounds), "+Inf"), totals, strict=True):
            yield sample(f"{name}_bucket", total, {**labels, "le": bound})
        yield sample(f"{name}_sum", self._sum, labels)
        yield sample(f"{name}_count", totals[-1], labels)


def head(name: str, kind: str, help_text: str) -> tuple[str, str]:
    """Return the two lines that stand before the values of a metric."""
    return f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, str] = NO_LABELS) -> str:
    """Return the line of one value."""
    written = ",".join(f'{label}="{word.translate(_ESCAPES)}"' for label, word in labels.items())
    return f"{name}{{{written}}} {number(value)}" if written else f"{name} {number(value)}"


def number(value: float) -> str:
    """Return a number as the format has it."""
    value = float(value)
    if isnan(value):
        return "NaN"
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return repr(int(value)) if value.is_integer() else repr(value)


__all__ = ["METRICS_TYPE", "NO_LABELS", "Histogram", "head", "number", "sample"]
