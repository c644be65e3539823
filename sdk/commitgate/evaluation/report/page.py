"""Show what an evaluation came to as one page in one file."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.evaluation.record import EvaluationRun
from commitgate.evaluation.report.report_data import Compared, report_data
from commitgate.evaluation.report.thresholds import Missed
from commitgate.evaluation.summary import Summary
from commitgate.page import Asset, standalone_page

_PACKAGE = "commitgate.evaluation.report"
_SCRIPTS = ("drawing.js", "layers.js", "plots.js", "comparison.js", "kinds.js", "cases.js")


def evaluation_page(
    run: EvaluationRun, summary: Summary, *, compared: Compared | None = None, failed: Sequence[Missed] = ()
) -> str:
    """Return a whole HTML document that needs nothing else; the arguments are those of ``report_data``."""
    return standalone_page(
        f"Evaluation: {run.suite}",
        body=Asset(_PACKAGE, "page.html").read(),
        data=report_data(run, summary, compared=compared, failed=failed),
        scripts=tuple(Asset(_PACKAGE, name).read() for name in _SCRIPTS),
        styles=(Asset(_PACKAGE, "page.css").read(),),
    )


__all__ = ["evaluation_page"]
