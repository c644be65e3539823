"""Say whether effects may hang on what a server's model writes: was it probed, did it pass, does that still hold?"""

from __future__ import annotations

from commitgate.backends.base import Standing
from commitgate.backends.dialect import ServerIdentity
from commitgate.harmless import harmless
from commitgate.probe.report import ProbeReport
from commitgate.probe.store import ProbeStore
from commitgate.probe.words import probe_command

VERSIONED_DAYS = 30
"""Days for which a probe holds of a server that tells its version."""

UNVERSIONED_HOURS = 24
"""Hours for which a probe holds of a server that tells no version."""

_SKEW_S = 300.0
"""Seconds by which the clock may have been put back since."""

_NOT_READY = "the server does not say that it takes requests, so nobody knows whether it is the one that was probed"

_WORDS = {
    "not_enforced": "found that it does not enforce constraints",
    "partial": "found that it enforces constraints in part only",
    "unknown": "could not tell whether it enforces constraints",
}


def standing(
    store: ProbeStore, *, dialect_name: str, base_url: str, model: str, identity: ServerIdentity, now: float
) -> Standing:
    """Return whether effects may hang on a server's model. Reads a file: work for a worker thread.

    Args:
        store: where reports are kept.
        dialect_name: of the API, as ``vllm_chat``.
        base_url: where the server is.
        model: the model's name there; ``""`` for its default.
        identity: what the server says of itself now.
        now: seconds since 1970 (UTC).
    """
    command = f"run: {probe_command(dialect_name, base_url, model)}"
    kept = store.find(dialect_name, base_url, model)
    if kept.report is None:
        why = kept.reason or "this server and model were never probed"
        return Standing(is_proven=False, reason=f"{why}; {command}")
    report = kept.report
    if report.verdict != "enforced":
        why = f"the last probe {_WORDS[report.verdict]}: {harmless(report.reason)}"
        return Standing(is_proven=False, reason=f"{why}; to probe it again, {command}")
    if not identity.is_ready:
        reason = f"{_NOT_READY}: see whether it runs, and if it does, {command}"
        return Standing(is_proven=False, reason=reason, is_reachable=False)
    why = _why_stale(report, identity, now)
    return Standing(is_proven=False, reason=f"{why}; {command}") if why else Standing(is_proven=True)


def _why_stale(report: ProbeReport, identity: ServerIdentity, now: float) -> str:
    for name, then, found in (
        ("version", report.server_version, identity.version),
        ("model's revision", report.revision, identity.revision),
        ("engine", report.engine, identity.engine),
    ):
        if then != found:
            return f"the server's {name} was {_told(then)} when it was probed and is {_told(found)} now"
    age_s = now - report.made_at
    if age_s < -_SKEW_S:
        return "the last probe lies in the future: one of two clocks is wrong"
    if report.server_version is None and age_s > UNVERSIONED_HOURS * 3600:
        return f"the server tells no version, and the last probe is older than {UNVERSIONED_HOURS} hours"
    if age_s > VERSIONED_DAYS * 86_400:
        return f"the last probe is older than {VERSIONED_DAYS} days"
    return ""


def _told(word: str | None) -> str:
    return "not told" if word is None else harmless(word)


__all__ = ["UNVERSIONED_HOURS", "VERSIONED_DAYS", "standing"]
