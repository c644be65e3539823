"""Find out whether a server enforces what it is asked to: ask it for one thing, and constrain it to another."""

from commitgate.probe.report import Enforcement, ProbeReport
from commitgate.probe.result import Cost, ProbeKind, ProbeResult, Verdict
from commitgate.probe.running import probe
from commitgate.probe.standing import standing
from commitgate.probe.store import PROBES_VARIABLE, Kept, ProbeStore

__all__ = [
    "PROBES_VARIABLE",
    "Cost",
    "Enforcement",
    "Kept",
    "ProbeKind",
    "ProbeReport",
    "ProbeResult",
    "ProbeStore",
    "Verdict",
    "probe",
    "standing",
]
