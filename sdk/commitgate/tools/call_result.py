"""Define what became of one call, and whether the model may be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from commitgate.gate.layers import Layer
from commitgate.outcome import Committed, EffectFailed, Invalid, Outcome
from commitgate.tools.turn import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """Hold what became of one call.

    Attributes:
        call: the call.
        outcome: ``Committed`` with the judged arguments as its value and what the tool returned as its result;
            ``EffectFailed`` where the tool said no; ``Invalid`` where its arguments were refused; or how it ended else.
    """

    call: ToolCall
    outcome: Outcome[object, object] = field(repr=False)

    @property
    def has_run(self) -> bool:
        """Say whether the tool ran and what it did is on record, where there is one."""
        return isinstance(self.outcome, Committed)

    @property
    def is_told(self) -> bool:
        """Say whether the model may be told how it ended, and go on; else the run ends with it."""
        outcome = self.outcome
        return isinstance(outcome, Committed | EffectFailed) or (isinstance(outcome, Invalid) and is_told(outcome))

    @property
    def result(self) -> object:
        """Return what the tool returned; None where it did not run."""
        return self.outcome.result if isinstance(self.outcome, Committed) else None


def is_told(refused: Invalid) -> bool:
    """Say whether a refusal is for the model to know: it can do better, or must go another way."""
    # Loaded with the first refusal, so that importing the package stays quick.
    from commitgate.gate.asking import NOT_COPYABLE
    from commitgate.gate.content import CONTENT_ERROR
    from commitgate.gate.deliberation import EVIDENCE_ERROR
    from commitgate.gate.rules import RULE_ERROR
    from commitgate.gate.stored_value import NOT_STORABLE
    from commitgate.gate.type_layer import VALIDATOR_ERROR

    # What broke is the caller's to correct, and no word for the model.
    broken = (RULE_ERROR, CONTENT_ERROR, EVIDENCE_ERROR, VALIDATOR_ERROR, NOT_COPYABLE, NOT_STORABLE)
    return refused.layer is not Layer.AUTHORIZE and not any(failure.code in broken for failure in refused.failures)


__all__ = ["CallResult", "is_told"]
