"""Bring a run and what was made of it into one piece of JSON, for pages and programs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import cast

from commitgate.evaluation.comparison import Comparison
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import EvaluationRun
from commitgate.evaluation.report.thresholds import Missed
from commitgate.evaluation.report.wording import TITLES, headline
from commitgate.evaluation.summary import Summary
from commitgate.json_value import JsonObject, JsonValue
from commitgate.plain_data import plain

REPORT_VERSION = 1
"""Counts changes of the report's shape."""


def report_data(
    run: EvaluationRun, summary: Summary, *, comparison: Comparison | None = None, failed: Sequence[Missed] = ()
) -> JsonObject:
    """Return it. It is payload-free, as runs are.

    Args:
        run: it.
        summary: of it.
        comparison: with another run; None of none.
        failed: what is not good enough.
    """
    return {
        "commitgate_evaluation_report": REPORT_VERSION,
        "run": _finite(plain(run)),
        "is_complete": run.is_complete,
        "came_through": [record.came_through for record in run.records],
        "summary": _finite(plain(summary)),
        "headlines": [headline(variant) for variant in summary.variants],
        "titles": {measure.value: TITLES[measure] for measure in Measure},
        "comparison": None if comparison is None else _finite(plain(comparison)),
        "failed": [each.summary() for each in failed],
    }


def _finite(value: object) -> JsonValue:
    """Return data in which what no JSON number can say, as an interval without an end, is null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast("list[object]", value)]
    return cast("JsonValue", value)


__all__ = ["REPORT_VERSION", "report_data"]
