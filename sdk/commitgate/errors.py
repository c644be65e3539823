"""Define every exception that commitgate raises.

The tree::

    CommitgateError
    ├── MisuseError                  the call itself is wrong: fix the calling code
    │   ├── UnknownModelError        no such backend or model
    │   └── MissingExtraError        an optional part is not installed; the message names the extra
    ├── ContractError                the contract cannot be built or enforced
    │   ├── SchemaError              not a JSON Schema, or one whose references cannot be resolved
    │   ├── NotationError            not a pattern, grammar, list of choices or machine
    │   ├── UnsupportedError         something in it cannot be enforced
    │   ├── UnsatisfiableError       no text can ever satisfy it
    │   ├── LimitExceededError       larger than a limit allows
    │   ├── ParameterError           a value that a template's parameter does not allow
    │   └── ReviewedContractError    another contract than the one that was reviewed
    ├── BackendError                 a backend could not do its part
    │   ├── ModelLoadError           the model or its tokenizer cannot be loaded or trusted
    │   └── ModelRunError            the model broke while running (not-a-number logits, context exceeded …)
    ├── LedgerError                  the ledger could not do its part
    │   ├── LedgerUnavailableError   it cannot be opened, read or written
    │   ├── KeyConflictError         the operation key belongs to another contract, effect or input
    │   ├── InProgressError          another call holds the operation key
    │   ├── LeaseLostError           this call's claim was taken over or settled by another
    │   ├── StoredValueError         a stored value cannot be loaded again
    │   ├── DecisionError            an approval or rejection of what does not wait for one
    │   └── IllegalTransitionError   the ledger was driven out of order; a bug in the calling code
    ├── EvaluationError              an evaluation could not be begun, gone on with or compared
    │   ├── SuiteError               a file of cases or a suite that cannot be used; it lists every fault
    │   ├── RunStoreError            the kept records belong to another run, are in use, damaged or cannot be written
    │   └── ComparisonError          two runs that cannot be compared case by case
    ├── TraceError                   a file that is no trace of one generation, or a damaged one
    ├── EffectRejected               raised BY an effect: a clean no, nothing happened
    └── EndingError                  raised by ``outcome.unwrap()``; one subclass an ending

Messages never carry a prompt, model output, key or header; such facts hang on attributes that ``repr`` leaves out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commitgate.outcome import Ending


class CommitgateError(Exception):
    """Base of every exception of this library."""


class MisuseError(CommitgateError):
    """Raised when a call contradicts itself. Fix the calling code; nothing was sent or written."""


class UnknownModelError(MisuseError):
    """Raised when ``model`` names a backend or model that does not exist. Use ``backend/name`` of a known backend."""


class MissingExtraError(MisuseError):
    """Raised when an optional part is needed and not installed.

    Attributes:
        extra: the name of the extra that brings it, for ``pip install 'commitgate[<extra>]'``.
    """

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional part; install it with: pip install 'commitgate[{extra}]'")
        self.extra = extra


class ContractError(CommitgateError):
    """Base of everything that is wrong with a contract. Nothing was sent.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the place in the schema, ``""`` for its root; in a machine ``/edges/3``.
        keyword: the keyword at fault, None where no single one is; of what is no schema, its kind: ``regex``,
            ``grammar``, ``choices`` or ``machine``.
        position: offset of the place in the text of a pattern or grammar, in characters from 0; None elsewhere.
    """

    def __init__(
        self, message: str, *, pointer: str = "", keyword: str | None = None, position: int | None = None
    ) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.keyword = keyword
        self.position = position


class SchemaError(ContractError):
    """Raised when the text is not a JSON Schema, or its references cannot be resolved. Correct the named place."""


class NotationError(ContractError):
    """Raised when the text is no pattern or grammar, or a machine does not hang together. Correct the named place."""


class UnsupportedError(ContractError):
    """Raised when a keyword cannot be enforced. Remove or rewrite it as the message says.

    Attributes:
        reason: why it cannot be enforced.
    """

    def __init__(self, message: str, *, pointer: str, keyword: str, reason: str, position: int | None = None) -> None:
        super().__init__(message, pointer=pointer, keyword=keyword, position=position)
        self.reason = reason


class UnsatisfiableError(ContractError):
    """Raised when no text can satisfy the contract. ``pointer`` names the place of the contradiction."""


class LimitExceededError(ContractError):
    """Raised when a contract is larger than a limit. Make it smaller, or raise the limit on purpose.

    Attributes:
        limit_name: the field of ``Limits`` that was hit; ``reference_depth``, ``reference_ways`` and
            ``pattern_states`` are fixed and no fields of it.
        limit: its value, in the unit that its name says.
        found: what was found; equals ``limit + 1`` where counting stopped there.
    """

    def __init__(
        self,
        message: str,
        *,
        limit_name: str,
        limit: int,
        found: int,
        pointer: str = "",
        keyword: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message, pointer=pointer, keyword=keyword, position=position)
        self.limit_name = limit_name
        self.limit = limit
        self.found = found


class ParameterError(ContractError):
    """Raised when a value lies outside of what a template's parameter allows. Give another value.

    Attributes:
        parameter: the parameter's name.
    """

    def __init__(self, parameter: str, wanted: str) -> None:
        super().__init__(f"the parameter {parameter} {wanted}")
        self.parameter = parameter


class ReviewedContractError(ContractError):
    """Raised when a contract is another one than was reviewed. Read what changed, then give the new digest.

    Attributes:
        reviewed: the full digest that was reviewed; or all digests that the client allows.
        found: the full digest of the contract at hand.
        template: digest of the template that the contract was filled from; None where of none.
    """

    def __init__(
        self,
        *,
        reviewed: str | frozenset[str],
        found: str,
        template: str | None = None,
        subject: str = "the contract",
    ) -> None:
        if isinstance(reviewed, str):
            wanted = f"but {reviewed} was reviewed: its schema, prose, name, version, formats, limits or documents are"
            message = f"{subject}'s full digest is {found}, {wanted} others"
        else:
            origin = "" if template is None else f", filled from the template {template}"
            message = (
                f"{subject} may set off an effect, and its full digest {found}{origin} is none of the {len(reviewed)} "
                "that this client allows; read the contract, then add the digest to Client(reviewed=...)"
            )
        super().__init__(message)
        self.reviewed = reviewed
        self.found = found
        self.template = template


class BackendError(CommitgateError):
    """Base of what a backend raises when it cannot do its part."""


class ModelLoadError(BackendError):
    """Raised when a model or tokenizer cannot be found, loaded or trusted. The message says what to do."""


class ModelRunError(BackendError):
    """Raised when a model breaks while it runs: logits that are not numbers, a prompt longer than its context."""


class LedgerError(CommitgateError):
    """Base of what the ledger raises."""


class LedgerUnavailableError(LedgerError):
    """Raised when the ledger cannot be opened, read or written. No effect was started by the failing call."""


class KeyConflictError(LedgerError):
    """Raised when the operation key was used for another contract, effect or input. Use another key.

    Attributes:
        differs: which parts differ: ``language_digest``, ``effect_name``, ``effect_version``, ``input_fingerprint``.
    """

    def __init__(self, message: str, *, differs: tuple[str, ...]) -> None:
        super().__init__(message)
        self.differs = differs


class InProgressError(LedgerError):
    """Raised when another call holds the operation key. Wait for it, then call again: it replays.

    Attributes:
        lease_remaining_s: seconds until the other call's lease ends unless it is renewed; never negative.
    """

    def __init__(self, message: str, *, lease_remaining_s: float) -> None:
        super().__init__(message)
        self.lease_remaining_s = lease_remaining_s


class LeaseLostError(LedgerError):
    """Raised when this call's claim was taken over or settled by another: its result must not be used."""


class StoredValueError(LedgerError):
    """Raised when the value stored under the key, or what its effect returned, cannot be loaded as the contract asks.

    Nothing was done with it now. Call with the type that stored it, or read the value out of the ledger's row.
    """


class DecisionError(LedgerError):
    """Raised when an approval or rejection finds nothing that waits for one, or another value. Nothing changed.

    Attributes:
        state: the row's state, None where the key was never claimed.
    """

    def __init__(self, message: str, *, state: str | None) -> None:
        super().__init__(message)
        self.state = state


class IllegalTransitionError(LedgerError):
    """Raised when a step does not belong to the row's state. The row is unchanged; correct the code that drives it.

    Attributes:
        state: the row's state, None where there is no row.
        step: the step that was asked for.
    """

    def __init__(self, message: str, *, state: str | None, step: str) -> None:
        super().__init__(message)
        self.state = state
        self.step = step


class EvaluationError(CommitgateError):
    """Base of what keeps an evaluation from being begun, gone on with or compared. No model was asked."""


class SuiteError(EvaluationError):
    """Raised when a file of cases or a suite cannot be used. Correct every place that ``faults`` names.

    Attributes:
        faults: what is wrong, each with its place: in a file the line and a JSON pointer into it.
    """

    def __init__(self, message: str, *, faults: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join((message, *faults)))
        self.faults = faults


class RunStoreError(EvaluationError):
    """Raised when a file of kept records is another run's, in use, damaged or not to be written. It is unchanged.

    Attributes:
        differs: which parts of the run are others than the file's: ``suite_digest``, ``contracts``, ``model``,
            ``settings``, ``package_version``.
    """

    def __init__(self, message: str, *, differs: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.differs = differs


class ComparisonError(EvaluationError):
    """Raised when two runs have no cases in common by which they could be compared. Compare runs of one suite."""


class TraceError(CommitgateError):
    """Raised when a file is no trace of one generation, is damaged or too large. Record it anew.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the place in the file; ``""`` for all of it.
    """

    def __init__(self, message: str, *, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class EffectRejected(CommitgateError):  # noqa: N818 - a verdict that user code raises, named like the ending it causes
    """Raise this inside an effect for a clean no: nothing happened downstream and nothing will.

    Any other exception out of an effect leaves it unknown whether something happened, and ends as ``InDoubt``.
    """


class EndingError(CommitgateError):
    """Base of what ``outcome.unwrap()`` raises.

    Attributes:
        outcome: the ending itself, with its receipt and partial text.
    """

    def __init__(self, outcome: Ending) -> None:
        super().__init__(outcome.summary())
        self.outcome = outcome


class RefusedError(EndingError):
    """Raised by ``unwrap()`` of ``Refused``. Change the request."""


class FilteredError(EndingError):
    """Raised by ``unwrap()`` of ``Filtered``. Change the request."""


class TruncatedError(EndingError):
    """Raised by ``unwrap()`` of ``Truncated``. Call again with a larger limit."""


class CancelledEndingError(EndingError):
    """Raised by ``unwrap()`` of ``Cancelled``. Nothing was committed."""


class TimedOutError(EndingError):
    """Raised by ``unwrap()`` of ``TimedOut``. Call again, or raise the limit."""


class DisconnectedError(EndingError):
    """Raised by ``unwrap()`` of ``Disconnected``. Call again."""


class UnsupportedContractError(EndingError):
    """Raised by ``unwrap()`` of ``Unsupported``. Rewrite the keyword that the message names."""


class CompileFailedError(EndingError):
    """Raised by ``unwrap()`` of ``CompileFailed``. Correct the place that the message names."""


class DeadEndError(EndingError):
    """Raised by ``unwrap()`` of ``DeadEnd``. Change the contract or the tokenizer as the message says."""


class ViolatedError(EndingError):
    """Raised by ``unwrap()`` of ``Violated``. Do not trust this backend to enforce the contract."""


class InvalidError(EndingError):
    """Raised by ``unwrap()`` of ``Invalid``. Read ``outcome.failures``; asking again with them may help."""


class NeedsApprovalError(EndingError):
    """Raised by ``unwrap()`` of ``NeedsApproval``. Show the proposal to a person who may decide."""


class EffectFailedError(EndingError):
    """Raised by ``unwrap()`` of ``EffectFailed``. Nothing happened; decide whether to ask again."""


class InDoubtError(EndingError):
    """Raised by ``unwrap()`` of ``InDoubt``. Look downstream before doing it again."""


class UnavailableError(EndingError):
    """Raised by ``unwrap()`` of ``Unavailable``. Look at ``outcome.kind``; some kinds pass by themselves."""


__all__ = [
    "BackendError",
    "CancelledEndingError",
    "CommitgateError",
    "ComparisonError",
    "CompileFailedError",
    "ContractError",
    "DeadEndError",
    "DecisionError",
    "DisconnectedError",
    "EffectFailedError",
    "EffectRejected",
    "EndingError",
    "EvaluationError",
    "FilteredError",
    "IllegalTransitionError",
    "InDoubtError",
    "InProgressError",
    "InvalidError",
    "KeyConflictError",
    "LeaseLostError",
    "LedgerError",
    "LedgerUnavailableError",
    "LimitExceededError",
    "MissingExtraError",
    "MisuseError",
    "ModelLoadError",
    "ModelRunError",
    "NeedsApprovalError",
    "NotationError",
    "ParameterError",
    "RefusedError",
    "ReviewedContractError",
    "RunStoreError",
    "SchemaError",
    "StoredValueError",
    "SuiteError",
    "TimedOutError",
    "TraceError",
    "TruncatedError",
    "UnavailableError",
    "UnknownModelError",
    "UnsatisfiableError",
    "UnsupportedContractError",
    "UnsupportedError",
    "ViolatedError",
]
