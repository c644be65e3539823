"""Hold what all trials of one run have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from commitgate.backends.base import Backend, Sampling
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.evaluation.caller_code import CallerCode
from commitgate.evaluation.case import Case, Suite
from commitgate.evaluation.meter import Meter
from commitgate.evaluation.prompt_only import PromptOnly
from commitgate.evaluation.proposal import Proposals
from commitgate.evaluation.record import Variant
from commitgate.ledger import Ledger
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry, RetryBudget
from commitgate.telemetry.observer import Observer
from commitgate.timeouts import Timeouts

BACKEND = "asked"
"""What a trial's client calls the backend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Name one trial.

    Attributes:
        case: what is asked.
        variant: how.
        repetition: from 1.
    """

    case: Case
    variant: Variant
    repetition: int

    @property
    def key(self) -> tuple[str, Variant, int]:
        """Return what names it in its run."""
        return self.case.id, self.variant, self.repetition


@dataclass(slots=True, kw_only=True)
class Setup:
    """Hold what trials are made with.

    Attributes:
        suite: the suite.
        backend: who is asked.
        model: the model's name at it.
        ledger: the run's own; None where nothing needs one.
        run_id: random; names the run's acts.
        observers: who else watches the calls.
        timeouts: limits on the waits of each call.
        retry: what each call may ask again.
        reasoning: how the model may think first.
        most_reasks: how often an answer by the prompt alone that has not the right form is asked for again.
        caller: runs the suite's functions.
        budget: bounds the retries of all calls together.
    """

    suite: Suite[object]
    backend: Backend
    model: str
    ledger: Ledger | None
    run_id: str
    observers: Sequence[Observer]
    timeouts: Timeouts
    retry: Retry
    reasoning: Reasoning | None
    most_reasks: int
    caller: CallerCode
    budget: RetryBudget = field(default_factory=RetryBudget)
    _proposals: dict[int, Proposals] = field(default_factory=dict[int, Proposals])

    def contract(self, case: Case) -> Contract[object] | None:
        """Return what the answers of a case must satisfy; None where they are words."""
        return contract_of(self.suite, case)

    def proposals(self, contract: Contract[object]) -> Proposals:
        """Return what makes proposals of a contract; always the same."""
        # Contracts of two types may have one digest; all of them live as long as the suite.
        found = self._proposals.get(id(contract))
        if found is None:
            found = self._proposals[id(contract)] = Proposals(contract, self.backend)
        return found

    def client(self, variant: Variant, meter: Meter) -> Client:
        """Return a client for one trial, of which the meter counts all calls."""
        backend = PromptOnly(self.backend) if variant == "prompt_only" else self.backend
        return Client(
            backends={BACKEND: backend},
            ledger=self.ledger,
            retry_budget=self.budget,
            observers=(*self.observers, meter),
        )

    @property
    def model_words(self) -> str:
        """Return the model's name as a trial's client knows it."""
        return f"{BACKEND}/{self.model}"

    def sampling(self, planned: Planned) -> Sampling:
        """Return how tokens are drawn: each repetition with a seed of its own, where there is one."""
        sampling = self.suite.sampling
        if sampling.seed is None:
            return sampling
        return replace(sampling, seed=sampling.seed + planned.repetition - 1)

    def retry_of(self, variant: Variant) -> Retry:
        """Return what a call may ask again; of an answer by the prompt alone the first one counts."""
        return self.retry if variant == "constrained" else replace(self.retry, reasks=0, larger_max_tokens=None)

    def operation_key(self, planned: Planned) -> str:
        """Return the name of the act of a trial; it never leaves the run's own ledger."""
        name = sha256(planned.case.id.encode()).hexdigest()
        return f"evaluation:{self.run_id}:{name}:{planned.variant}:{planned.repetition}"


def contract_of(suite: Suite[object], case: Case) -> Contract[object] | None:
    """Return what the answers of a case must satisfy; None where they are words."""
    if case.contract is not None:
        return suite.contracts[case.contract]
    return next(iter(suite.contracts.values())) if suite.contracts else None


__all__ = ["BACKEND", "Planned", "Setup", "contract_of"]
