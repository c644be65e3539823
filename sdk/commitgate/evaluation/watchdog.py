"""Decide when a run must stop early, and note what is odd about it. Sans-IO."""

from __future__ import annotations

from commitgate.evaluation.judged import Tried
from commitgate.evaluation.record import CaseRecord
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject
from commitgate.outcome import Disconnected, Receipt, TimedOut, Unavailable

MOST_WORDS = 1_000
"""Most characters of what an error says that a problem of the run tells."""

_WAITS = ("pool", "connect", "first_event")

IDENTITY = ("backend", "model", "model_revision", "tokenizer_fingerprint")
"""What of a receipt says who answered."""


class Watchdog:
    """Look at every trial as it ends.

    Args:
        dead_after: trials in a row that the backend did not serve, after which it counts as dead; None for never.
        most_failures: trials that did not come through, after which the run stops; None for never.

    Attributes:
        problems: what was odd, in words without payload.
        answered_by: who answered, in the order in which it was first seen.
        held: records of trials that the backend did not serve, since it last served one. They are no results if it is
            dead: it is asked again when the run is gone on with.
    """

    def __init__(self, *, dead_after: int | None, most_failures: int | None) -> None:
        self._dead_after = dead_after
        self._most_failures = most_failures
        self._failures = 0
        self._told: set[str] = set()
        self.problems: list[str] = []
        self.answered_by: list[JsonObject] = []
        self.held: list[CaseRecord] = []
        self.is_dead = False

    def take(self, tried: Tried) -> str | None:
        """Look at one trial; return why the run must stop, None where it goes on."""
        self._failures += not tried.record.came_through
        self._note_words(tried)
        if is_unserved(tried):
            self.held.append(tried.record)
        else:
            self.held.clear()
        if self._dead_after is not None and len(self.held) >= self._dead_after:
            self.is_dead = True
            last = tried.record
            how = last.error or (last.outcome if last.detail is None else f"{last.outcome}.{last.detail}")
            return (
                f"the backend did not serve {len(self.held)} trials in a row, the last one as {how}: it counts as dead"
            )
        if self._most_failures is not None and self._failures >= self._most_failures:
            return f"{self._failures} trials did not come through, as many as were allowed"
        return None

    def _note_words(self, tried: Tried) -> None:
        """Tell what an error of this library's own says, once for each type: it says what to do about it."""
        error = tried.record.error
        if tried.words and error is not None and error not in self._told:
            self._told.add(error)
            words = harmless(tried.words[:MOST_WORDS], keep="\n")
            self.problems.append(f"case {harmless(tried.record.case_id)} raised {error}: {words}")

    def note_identity(self, facts: JsonObject) -> bool:
        """Note who answered; return whether that was not known. More than one is a problem."""
        if facts in self.answered_by:
            return False
        self.answered_by.append(facts)
        if len(self.answered_by) > 1:
            first, last = self.answered_by[0], self.answered_by[-1]
            differs = [name for name in IDENTITY if first.get(name) != last.get(name)]
            self.problems.append(
                f"what answered changed during the run ({', '.join(differs)}): its rates are those of "
                f"{len(self.answered_by)} models together"
            )
        return True


def is_unserved(tried: Tried) -> bool:
    """Say whether the backend did not serve a trial: whatever was asked, it would not have been answered."""
    outcome = tried.outcome
    if outcome is None:
        return tried.record.error_at == "call"
    return isinstance(outcome, Unavailable | Disconnected) or (
        isinstance(outcome, TimedOut) and outcome.phase in _WAITS
    )


def identity_of(receipt: Receipt) -> JsonObject | None:
    """Return who answered; None where nobody did."""
    if receipt.backend is None:
        return None
    return {name: getattr(receipt, name) for name in IDENTITY}


__all__ = ["IDENTITY", "MOST_WORDS", "Watchdog", "identity_of", "is_unserved"]
