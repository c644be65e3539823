"""Measure answers layer by layer over a set of cases."""

from commitgate.evaluation.case import Case, Suite
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Fault, Variant

__all__ = ["Case", "CaseRecord", "EvaluationRun", "Fault", "Measure", "Suite", "Variant"]
