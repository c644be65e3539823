"""Exit codes: one for each ending and each error."""

from typing import get_args

import pytest

from commitgate import errors
from commitgate.cli.exit_codes import ExitCode, of_error
from commitgate.outcome import Committed, Failed


def endings() -> list[str]:
    return [Committed.name, *(ending.name for ending in get_args(Failed))]


def test_every_ending_has_a_code_of_its_own() -> None:
    codes = [ExitCode[name.upper()] for name in endings()]
    assert len(set(codes)) == len(endings())
    others = {ExitCode.UNWRITTEN, ExitCode.NO_SUCH_KEY, ExitCode.WRONG_STATE, ExitCode.FINDINGS}
    others |= {ExitCode.NOT_ENFORCED, ExitCode.PARTLY_ENFORCED, ExitCode.NOT_PROVEN}
    others |= {ExitCode.BELOW_RATE, ExitCode.RUN_UNFINISHED, ExitCode.PREFLIGHT_FAILED, ExitCode.PREFLIGHT_WARNED}
    assert {code for code in ExitCode if code >= 10} - others | {ExitCode.COMMITTED} == set(codes)


def test_codes_are_stable() -> None:
    assert [(code.name, int(code)) for code in ExitCode] == [
        ("COMMITTED", 0),
        ("UNEXPECTED", 1),
        ("USAGE", 2),
        ("MISSING_EXTRA", 3),
        ("MODEL_UNAVAILABLE", 4),
        ("LEDGER_UNAVAILABLE", 5),
        ("KEY_CONFLICT", 6),
        ("IN_PROGRESS", 7),
        ("LEASE_LOST", 8),
        ("STORED_VALUE", 9),
        ("REFUSED", 10),
        ("FILTERED", 11),
        ("TRUNCATED", 12),
        ("TIMED_OUT", 13),
        ("DISCONNECTED", 14),
        ("UNSUPPORTED", 15),
        ("COMPILE_FAILED", 16),
        ("DEAD_END", 17),
        ("VIOLATED", 18),
        ("INVALID", 19),
        ("EFFECT_FAILED", 20),
        ("IN_DOUBT", 21),
        ("UNAVAILABLE", 22),
        ("UNWRITTEN", 23),
        ("NEEDS_APPROVAL", 24),
        ("NO_SUCH_KEY", 25),
        ("WRONG_STATE", 26),
        ("FINDINGS", 27),
        ("NOT_ENFORCED", 28),
        ("PARTLY_ENFORCED", 29),
        ("NOT_PROVEN", 30),
        ("BELOW_RATE", 31),
        ("RUN_UNFINISHED", 32),
        ("PREFLIGHT_FAILED", 33),
        ("PREFLIGHT_WARNED", 34),
        ("CANCELLED", 130),
    ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.MisuseError("m"), ExitCode.USAGE),
        (errors.UnknownModelError("m"), ExitCode.USAGE),
        (errors.MissingExtraError("local", "it"), ExitCode.MISSING_EXTRA),
        (errors.SchemaError("m"), ExitCode.COMPILE_FAILED),
        (errors.UnsatisfiableError("m"), ExitCode.COMPILE_FAILED),
        (errors.UnsupportedError("m", pointer="", keyword="k", reason="r"), ExitCode.UNSUPPORTED),
        (errors.ModelLoadError("m"), ExitCode.MODEL_UNAVAILABLE),
        (errors.StoredValueError("m"), ExitCode.STORED_VALUE),
        (errors.ModelRunError("m"), ExitCode.UNAVAILABLE),
        (errors.LedgerUnavailableError("m"), ExitCode.LEDGER_UNAVAILABLE),
        (errors.KeyConflictError("m", differs=()), ExitCode.KEY_CONFLICT),
        (errors.InProgressError("m", lease_remaining_s=1.0), ExitCode.IN_PROGRESS),
        (errors.LeaseLostError("m"), ExitCode.LEASE_LOST),
        (errors.DecisionError("m", state="committed"), ExitCode.WRONG_STATE),
        (errors.IllegalTransitionError("m", state="committed", step="Reconcile"), ExitCode.WRONG_STATE),
        (errors.EffectRejected("m"), ExitCode.UNEXPECTED),
    ],
)
def test_each_error_has_its_code(error: errors.CommitgateError, code: ExitCode) -> None:
    assert of_error(error) is code
