"""Measure answers layer by layer over a set of cases."""

from commitgate.evaluation.case import Authority, Case, Scorer, Suite
from commitgate.evaluation.case_file import read_cases
from commitgate.evaluation.comparison import Comparison, compare
from commitgate.evaluation.costs import Estimate, Prices, estimate
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Fault, Variant
from commitgate.evaluation.record_json import dump_run, load_run
from commitgate.evaluation.run_file import read_run
from commitgate.evaluation.running import evaluate
from commitgate.evaluation.settings import RunSettings
from commitgate.evaluation.suite_source import load_suite
from commitgate.evaluation.summary import Summary, summarize

__all__ = [
    "Authority",
    "Case",
    "CaseRecord",
    "Comparison",
    "Estimate",
    "EvaluationRun",
    "Fault",
    "Measure",
    "Prices",
    "RunSettings",
    "Scorer",
    "Suite",
    "Summary",
    "Variant",
    "compare",
    "dump_run",
    "estimate",
    "evaluate",
    "load_run",
    "load_suite",
    "read_cases",
    "read_run",
    "summarize",
]
