"""Give every ending and every error its exit code. Codes are stable: a shell script may test for them."""

from __future__ import annotations

from enum import IntEnum

from commitgate.errors import (
    CommitgateError,
    ContractError,
    DecisionError,
    EvaluationError,
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
    LedgerUnavailableError,
    MissingExtraError,
    MisuseError,
    ModelLoadError,
    ModelRunError,
    StoredValueError,
    TraceError,
    UnsupportedError,
)
from commitgate.outcome import Outcome


class ExitCode(IntEnum):
    """Name every code that ``commitgate`` exits with.

    0 to 9 are those of a call that came to no ending, 10 to 22 and 24 those of the endings; 23 is that of an ending
    that could not be told on stdout; 25 and 26 are those of commands about one row of the ledger; 27 is that of
    ``lint``; 28 to 30 are those of ``probe``; 31 and 32 are those of ``eval``; 33 and 34 are those of ``preflight``;
    130 is what a shell gives a program stopped by Ctrl-C.
    """

    COMMITTED = 0
    UNEXPECTED = 1
    USAGE = 2
    MISSING_EXTRA = 3
    MODEL_UNAVAILABLE = 4
    LEDGER_UNAVAILABLE = 5
    KEY_CONFLICT = 6
    IN_PROGRESS = 7
    LEASE_LOST = 8
    STORED_VALUE = 9
    REFUSED = 10
    FILTERED = 11
    TRUNCATED = 12
    TIMED_OUT = 13
    DISCONNECTED = 14
    UNSUPPORTED = 15
    COMPILE_FAILED = 16
    DEAD_END = 17
    VIOLATED = 18
    INVALID = 19
    EFFECT_FAILED = 20
    IN_DOUBT = 21
    UNAVAILABLE = 22
    UNWRITTEN = 23
    NEEDS_APPROVAL = 24
    NO_SUCH_KEY = 25
    WRONG_STATE = 26
    FINDINGS = 27
    NOT_ENFORCED = 28
    PARTLY_ENFORCED = 29
    NOT_PROVEN = 30
    BELOW_RATE = 31
    RUN_UNFINISHED = 32
    PREFLIGHT_FAILED = 33
    PREFLIGHT_WARNED = 34
    CANCELLED = 130

    @property
    def label(self) -> str:
        """Return the name that JSON output uses: that of the ending, or of the error."""
        return self.name.lower()


# Looked through in order, so a subclass stands before its base.
_OF_ERROR: tuple[tuple[type[CommitgateError], ExitCode], ...] = (
    (MissingExtraError, ExitCode.MISSING_EXTRA),
    (MisuseError, ExitCode.USAGE),
    (EvaluationError, ExitCode.USAGE),
    (TraceError, ExitCode.USAGE),
    (UnsupportedError, ExitCode.UNSUPPORTED),
    (ContractError, ExitCode.COMPILE_FAILED),
    (ModelLoadError, ExitCode.MODEL_UNAVAILABLE),
    (ModelRunError, ExitCode.UNAVAILABLE),
    (LedgerUnavailableError, ExitCode.LEDGER_UNAVAILABLE),
    (StoredValueError, ExitCode.STORED_VALUE),
    (KeyConflictError, ExitCode.KEY_CONFLICT),
    (InProgressError, ExitCode.IN_PROGRESS),
    (LeaseLostError, ExitCode.LEASE_LOST),
    (DecisionError, ExitCode.WRONG_STATE),
    (IllegalTransitionError, ExitCode.WRONG_STATE),
)


def of_outcome(outcome: Outcome[object, object]) -> ExitCode:
    """Return the exit code of an ending."""
    return ExitCode[outcome.name.upper()]


def of_error(error: CommitgateError) -> ExitCode:
    """Return the exit code of an error that a call raised before it came to an ending."""
    return next((code for kind, code in _OF_ERROR if isinstance(error, kind)), ExitCode.UNEXPECTED)


__all__ = ["ExitCode", "of_error", "of_outcome"]
