"""Show what an evaluation came to: lines for a terminal, one page for a browser, JSON for programs."""

from commitgate.evaluation.report.changes import Change, changes
from commitgate.evaluation.report.comparison_lines import comparison_lines
from commitgate.evaluation.report.page import evaluation_page
from commitgate.evaluation.report.report_data import Compared, report_data
from commitgate.evaluation.report.run_lines import run_lines
from commitgate.evaluation.report.thresholds import Missed, Threshold, missed

__all__ = [
    "Change",
    "Compared",
    "Missed",
    "Threshold",
    "changes",
    "comparison_lines",
    "evaluation_page",
    "missed",
    "report_data",
    "run_lines",
]
