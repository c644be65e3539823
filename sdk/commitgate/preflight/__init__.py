"""Look everything over before a contract goes live: the launch check list as a program."""

from commitgate.preflight.check import CHECKS, GROUPS, Check, CheckKind, Group, Verdict
from commitgate.preflight.page import preflight_page
from commitgate.preflight.report import BackendFacts, ContractFacts, PreflightReport
from commitgate.preflight.running import PreflightSource, preflight
from commitgate.preflight.trial import Phase, Spread, Trial, TrialRun, TriedCall

__all__ = [
    "CHECKS",
    "GROUPS",
    "BackendFacts",
    "Check",
    "CheckKind",
    "ContractFacts",
    "Group",
    "Phase",
    "PreflightReport",
    "PreflightSource",
    "Spread",
    "Trial",
    "TrialRun",
    "TriedCall",
    "Verdict",
    "preflight",
    "preflight_page",
]
