"""Hold a rate with what it stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commitgate.evaluation.statistics import CONFIDENCE, Interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Hold how many of how many passed.

    Attributes:
        passed: how many passed.
        reached: of how many.
        cases: of how many different cases these were.
        interval: where the rate lies that stands behind it (Wilson); None where none reached it. Where cases were asked
            several times it counts cases and not answers: answers to one question are not independent of each other.
    """

    passed: int
    reached: int
    cases: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """Return the rate in [0, 1]; None where none reached it."""
        return self.passed / self.reached if self.reached else None

    @staticmethod
    def of(found: Iterable[tuple[str, bool]], *, confidence: float = CONFIDENCE) -> Rate:
        """Return the rate of what was found, each with the id of its case."""
        passed = reached = 0
        cases: set[str] = set()
        for case_id, has_passed in found:
            reached += 1
            passed += has_passed
            cases.add(case_id)
        interval = wilson(passed / reached, len(cases), confidence=confidence) if reached else None
        return Rate(passed=passed, reached=reached, cases=len(cases), interval=interval)


__all__ = ["Rate"]
