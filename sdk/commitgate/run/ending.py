"""Make the ending of a call whose key hands over no value."""

from __future__ import annotations

from commitgate.finding import NotApplied
from commitgate.gate.layers import Failure, Layer
from commitgate.ledger.verdict import Doubt, Forbidden, Rejected, Waiting
from commitgate.outcome import EffectFailed, InDoubt, Invalid, NeedsApproval, Receipt

REJECTED_BY_PERSON = "rejected_by_person"
"""Code of a value that a person forbade."""

APPROVAL_EXPIRED = "approval_expired"
"""Code of a value about which nobody decided in time, or of an approval of which nobody made use."""


def ending_of(
    standing: Rejected | Doubt | Waiting | Forbidden | NotApplied,
) -> EffectFailed | InDoubt | NeedsApproval | Invalid:
    """Return the ending of a key that hands over no value; its receipt is empty."""
    match standing:
        case Rejected(reason, error):
            return EffectFailed(reason=reason, cause=error, receipt=Receipt())
        case Doubt(reason, error):
            return InDoubt(reason=reason, cause=error, receipt=Receipt())
        case Waiting(reason):
            return NeedsApproval(reason=reason, receipt=Receipt())
        case Forbidden(is_expired):
            return forbidden(is_expired=is_expired)
        case NotApplied():
            reason = (
                "it was in doubt, and it was found out that the effect did not happen; use another key to have it done"
            )
            return EffectFailed(reason=reason, receipt=Receipt())


def forbidden(*, is_expired: bool) -> Invalid:
    """Return the ending of a value that a person forbade, or about which nobody decided in time."""
    code, message = (
        (APPROVAL_EXPIRED, "nobody decided in time; ask again under another key")
        if is_expired
        else (REJECTED_BY_PERSON, "a person rejected it")
    )
    failure = Failure(layer=Layer.AUTHORIZE, code=code, pointer="", message=message, retryable=False)
    return Invalid(layer=Layer.AUTHORIZE, failures=(failure,), receipt=Receipt())


__all__ = ["APPROVAL_EXPIRED", "REJECTED_BY_PERSON", "ending_of", "forbidden"]
