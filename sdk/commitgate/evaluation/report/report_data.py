"""Bring a run and what was made of it into one piece of JSON, for pages and programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import cast

from commitgate.evaluation.comparison import Comparison, compare
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import EvaluationRun
from commitgate.evaluation.record_json import dump_run
from commitgate.evaluation.report.changes import Change, changes
from commitgate.evaluation.report.thresholds import Missed
from commitgate.evaluation.report.wording import (
    GROUPS,
    QUANTITIES,
    SIGNIFICANT,
    TITLES,
    WAYS,
    form_of,
    headline,
    truth_of,
)
from commitgate.evaluation.summary import Summary
from commitgate.json_value import JsonObject, JsonValue
from commitgate.plain_data import plain

REPORT_VERSION = 1
"""Counts changes of the report's shape that take away or rename; what is added does not change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Hold how a run compares with another one.

    Attributes:
        comparison: layer by layer.
        changes: the cases that came out otherwise.
    """

    comparison: Comparison
    changes: tuple[Change, ...]

    @staticmethod
    def of(first: EvaluationRun, second: EvaluationRun) -> Compared:
        """Return how the second run compares with the first.

        Raises:
            ComparisonError: they are not of the same cases.
        """
        return Compared(comparison=compare(first, second), changes=changes(first, second))

    @staticmethod
    def of_ways(run: EvaluationRun) -> Compared:
        """Return how the constrained answers of a run compare with those by the prompt alone."""
        return Compared(
            comparison=compare(run, run, variant="prompt_only", second_variant="constrained"),
            changes=changes(run, run, variant="prompt_only", second_variant="constrained"),
        )


def report_data(
    run: EvaluationRun, summary: Summary, *, compared: Compared | None = None, failed: Sequence[Missed] = ()
) -> JsonObject:
    """Return it. It is payload-free, as runs are.

    Args:
        run: it.
        summary: of it.
        compared: with another run; None with none.
        failed: what is not good enough.
    """
    ways = None if summary.baseline is None else Compared.of_ways(run)
    return {
        "commitgate_evaluation_report": REPORT_VERSION,
        "run": json.loads(dump_run(run)),
        "is_complete": run.is_complete,
        "came_through": [record.came_through for record in run.records],
        "summary": _finite(plain(summary)),
        "headlines": [headline(variant) for variant in summary.variants],
        "glance": _glance(summary),
        "titles": {measure.value: TITLES[measure] for measure in Measure},
        "asked": _finite(plain(WAYS)),
        "quantities": {**QUANTITIES},
        "significant": SIGNIFICANT,
        "groups": [{"name": name, "layers": [each.value for each in measures]} for name, measures in GROUPS],
        "comparison": None if compared is None else _finite(plain(compared.comparison)),
        "changes": None if compared is None else _finite(plain(compared.changes)),
        "ways": None if ways is None else _finite(plain(ways)),
        "failed": [each.summary() for each in failed],
    }


def _glance(summary: Summary) -> JsonObject:
    """Name the layers that say most of form and content, the same for all ways of asking."""
    if not summary.variants:
        return {"form": None, "content": None}
    form, truth = form_of(summary.variants[0]), truth_of(summary.variants[0])
    return {
        "form": None if form is None else form.measure.value,
        "content": None if truth is None else truth.measure.value,
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


__all__ = ["REPORT_VERSION", "Compared", "report_data"]
