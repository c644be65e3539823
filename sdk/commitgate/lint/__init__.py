"""Look over a contract before a model is asked with it: what is enforced, what it costs, what could be smaller."""

from commitgate.lint.finding import RULES, UNBOUNDED, Finding, Rule, Severity
from commitgate.lint.linting import LintSource, MaskMeter, lint
from commitgate.lint.report import (
    Complexity,
    LintReport,
    MaskCost,
    SupportEntry,
    VendorNote,
    VendorReport,
    Walks,
)
from commitgate.lint.vendor_facts import Reaction

__all__ = [
    "RULES",
    "UNBOUNDED",
    "Complexity",
    "Finding",
    "LintReport",
    "LintSource",
    "MaskCost",
    "MaskMeter",
    "Reaction",
    "Rule",
    "Severity",
    "SupportEntry",
    "VendorNote",
    "VendorReport",
    "Walks",
    "lint",
]
