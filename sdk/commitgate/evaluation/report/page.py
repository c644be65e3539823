"""Show what an evaluation came to as one page in one file."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.evaluation.comparison import Comparison
from commitgate.evaluation.record import EvaluationRun
from commitgate.evaluation.report.report_data import report_data
from commitgate.evaluation.report.thresholds import Missed
from commitgate.evaluation.summary import Summary
from commitgate.page import Asset, standalone_page

_PACKAGE = "commitgate.evaluation.report"


def evaluation_page(
    run: EvaluationRun, summary: Summary, *, comparison: Comparison | None = None, failed: Sequence[Missed] = ()
) -> str:
    """Return a whole HTML document that needs nothing else; the arguments are those of ``report_data``."""
    return standalone_page(
        f"Evaluation: {run.suite}",
        body=Asset(_PACKAGE, "page.html").read(),
        data=report_data(run, summary, comparison=comparison, failed=failed),
        scripts=(
            Asset(_PACKAGE, "drawing.js").read(),
            Asset(_PACKAGE, "plots.js").read(),
            Asset(_PACKAGE, "cases.js").read(),
        ),
        styles=(Asset(_PACKAGE, "page.css").read(),),
    )


__all__ = ["evaluation_page"]
