"""Try a backend with answers, streams, changes, texts and contracts that are made to break things."""

from commitgate.evaluation.adversarial.catalogue import checks
from commitgate.evaluation.adversarial.check import GROUPS, VERDICTS, Check, CheckVerdict, Found, Group
from commitgate.evaluation.adversarial.ratchet import Held, Ratchet, hold
from commitgate.evaluation.adversarial.report import AdversarialReport, CheckResult
from commitgate.evaluation.adversarial.report_lines import report_lines
from commitgate.evaluation.adversarial.running import run_adversarial

__all__ = [
    "GROUPS",
    "VERDICTS",
    "AdversarialReport",
    "Check",
    "CheckResult",
    "CheckVerdict",
    "Found",
    "Group",
    "Held",
    "Ratchet",
    "checks",
    "hold",
    "report_lines",
    "run_adversarial",
]
