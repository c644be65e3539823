"""Hold what a run of the adversarial set came to, and write it as JSON: names, words of ours and counts, no payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commitgate.evaluation.adversarial.check import GROUPS, VERDICTS, CheckVerdict, Group
from commitgate.json_value import JsonObject, JsonValue

REPORT_VERSION = 1
"""Counts changes of the report's shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Hold what one check came to.

    Attributes:
        id: names the check, as ``streams/ended_in_key``.
        group: what sort of trial it is.
        about: what was set up, in words.
        law: what must hold, in words.
        verdict: whether it does.
        reason: why not, or why that cannot be told; empty where it holds.
        ending: how the call that tells it ended; empty where there was none.
        time_s: seconds that it took.
    """

    id: str
    group: Group
    about: str
    law: str
    verdict: CheckVerdict
    reason: str = ""
    ending: str = ""
    time_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversarialReport:
    """Hold what a run came to.

    Attributes:
        backend: what sort of backend was tried, as ``local`` or ``vllm_chat``: what a ratchet goes by.
        model: the model's name, as the run was given it.
        model_revision: which version of it answered last; None where nobody tells.
        tokenizer_fingerprint: digest of its vocabulary; None where nobody tells.
        results: one for each check, in the order in which they were tried.
        problems: what kept the run from being whole, in words; empty where nothing did.
        time_s: seconds of all of it.
    """

    backend: str
    model: str
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    results: tuple[CheckResult, ...] = field(default=(), repr=False)
    problems: tuple[str, ...] = ()
    time_s: float = 0.0

    def of(self, verdict: CheckVerdict) -> tuple[CheckResult, ...]:
        """Return the results with a verdict."""
        return tuple(each for each in self.results if each.verdict == verdict)

    @property
    def has_passed(self) -> bool:
        """Say whether nothing failed, and the run was whole."""
        return not self.of("failed") and not self.problems

    @property
    def counts(self) -> Mapping[Group, Mapping[CheckVerdict, int]]:
        """Return how many checks of each group came to each verdict; groups that were not asked are left out."""
        asked = {each.group for each in self.results}
        return {
            group: {
                verdict: sum(each.group == group and each.verdict == verdict for each in self.results)
                for verdict in VERDICTS
            }
            for group in GROUPS
            if group in asked
        }

    def to_json(self) -> JsonObject:
        """Return it as plain JSON."""
        counts: dict[str, JsonValue] = {
            group: {str(verdict): found[verdict] for verdict in VERDICTS} for group, found in self.counts.items()
        }
        return {
            "commitgate_adversarial": REPORT_VERSION,
            "backend": self.backend,
            "model": self.model,
            "model_revision": self.model_revision,
            "tokenizer_fingerprint": self.tokenizer_fingerprint,
            "has_passed": self.has_passed,
            "counts": counts,
            "problems": list(self.problems),
            "time_s": round(self.time_s, 3),
            "checks": [_plain(each) for each in self.results],
        }


def _plain(result: CheckResult) -> JsonObject:
    return {
        "id": result.id,
        "group": result.group,
        "about": result.about,
        "law": result.law,
        "verdict": result.verdict,
        "reason": result.reason,
        "ending": result.ending,
        "time_s": round(result.time_s, 3),
    }


__all__ = ["REPORT_VERSION", "AdversarialReport", "CheckResult"]
