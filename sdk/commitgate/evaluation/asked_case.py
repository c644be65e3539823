"""Ask one case without tools: what the call is given, how it ended, and what making it again did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from commitgate.backends.base import Message
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectFunction
from commitgate.evaluation.caller_code import answer, raised_of
from commitgate.evaluation.content import Raised
from commitgate.evaluation.counted import Runs, counted_effect, may_run_again
from commitgate.evaluation.facts import outside
from commitgate.evaluation.form import AnyOutcome, has_value
from commitgate.evaluation.proposal import Proposal, json_of
from commitgate.evaluation.setup import Planned, Setup
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Authorize
from commitgate.gate.deliberation import denials
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.rules import Rule, RuleViolation
from commitgate.outcome import Committed, InDoubt, Invalid, Receipt, Truncated, Violated
from commitgate.run.question import Question

NOT_VISIBLE = "not_visible"
"""Code of a value that refers to what who asks may not see."""


@dataclass(slots=True)
class Permission:
    """Ask in the gate whether a value is allowed, and remember what was said.

    Attributes:
        planned: of which trial.
        contract: what the value is of.
        suites: the suite's own function for the case; None where it has none.
        was_denied: what was said; None where the gate did not come so far, or the function broke.
    """

    planned: Planned
    contract: Contract[object]
    suites: Authorize[object] | None
    was_denied: bool | None = None

    async def __call__(self, value: object, context: CheckContext) -> object:
        """Be the ``authorize`` of a call."""
        if self.suites is None:
            places = outside(self.planned.case.visible, json_of(self.contract, value))
            self.was_denied = bool(places)
            denied = [RuleViolation(NOT_VISIBLE, "who asks may not refer to it", at, retryable=False) for at in places]
            return denied or None
        # What is measured is the caller's own authorization; what the case knows must not help it.
        found = await answer(self.suites, value, context)
        denied = denials(found)
        self.was_denied = None if denied is None else bool(denied)
        return found


@dataclass(slots=True, kw_only=True)
class AskedCase:
    """Make the call of one trial.

    Args:
        setup: of the run.
        planned: which trial.
        contract: what its answer must satisfy.

    Attributes:
        runs: counts its effects.
        permission: what the gate asks; None where the case does not say who may what.
        has_effect: something is done with a committed value.
    """

    setup: Setup
    planned: Planned
    contract: Contract[object]
    runs: Runs = field(default_factory=Runs)
    permission: Permission | None = None
    _rules: list[Rule[object]] | None = None
    _effect: EffectFunction[object, object] | None = None

    @property
    def has_effect(self) -> bool:
        """Say whether something is done with a committed value."""
        return self._effect is not None

    async def prepare(self) -> Raised | None:
        """Have the suite make what the call is given; return what went wrong."""
        suite, case, ask = self.setup.suite, self.planned.case, self.setup.caller.ask
        suites: object = None
        if suite.rules is not None:
            rules = await ask(suite.rules, case, at="suite")
            if isinstance(rules, Raised):
                return rules
            self._rules = list(cast("list[Rule[object]]", rules)) if isinstance(rules, list | tuple) else None
            if self._rules is None:
                return Raised("MisuseError", "suite")
        if suite.authorize is not None:
            suites = await ask(suite.authorize, case, at="suite")
            if isinstance(suites, Raised):
                return suites
        if case.visible or suites is not None:
            self.permission = Permission(self.planned, self.contract, cast("Authorize[object] | None", suites))
        # By the prompt alone nothing is done: it would be done twice, once for each variant.
        if suite.effect is not None and self.planned.variant == "constrained":
            effect = await ask(suite.effect, case, at="suite")
            if isinstance(effect, Raised):
                return effect
            if effect is not None:
                return self._take_effect(cast("EffectFunction[object, object]", effect))
        return None

    async def call(self, client: Client, messages: tuple[Message, ...] | None = None) -> AnyOutcome | Raised:
        """Make the call; the second time it is made again under the same key.

        Args:
            client: makes it.
            messages: what is asked in place of the case's own words.
        """
        setup, planned, case = self.setup, self.planned, self.planned.case
        try:
            outcome = await client.generate_structured(
                setup.model_words,
                self.contract,
                messages=list(messages or case.messages),
                sampling=setup.sampling(planned),
                reasoning=setup.reasoning,
                rules=self._rules,
                authorize=cast("Authorize[object] | None", self.permission),
                principal=case.principal,
                effect=self._effect,
                operation_key=setup.operation_key(planned) if self.has_effect else None,
                timeouts=setup.timeouts,
                retry=setup.retry_of(planned.variant),
                prompt_schema=setup.suite.prompt_schema,
                watch=planned.variant == "prompt_only",
            )
        except Exception as error:  # noqa: BLE001 - whatever a backend or a check raises, the run goes on
            return raised_of(error, "call")
        return outcome

    async def is_overreach(self, proposal: Proposal) -> bool | Raised | None:
        """Return whether what is proposed is not allowed to who asks; None where the case does not say."""
        permission, case = self.permission, self.planned.case
        if permission is None:
            return None
        if case.visible:
            return bool(outside(case.visible, proposal.json))
        if permission.was_denied is not None:
            return permission.was_denied
        if permission.suites is None:
            return False
        # The gate did not come so far: another layer had refused the value before.
        context = CheckContext(principal=case.principal, contract_name=self.contract.name)
        found = await self.setup.caller.ask(permission.suites, proposal.typed, context, at="authorize")
        if isinstance(found, Raised):
            return found
        denied = denials(found)
        return Raised("MisuseError", "authorize") if denied is None else bool(denied)

    async def made_again(
        self, client: Client, outcome: AnyOutcome
    ) -> tuple[int | None, tuple[str, str] | Raised | None]:
        """Make an act again under its key; return the second effects, and what else was wrong."""
        if self._effect is None or not isinstance(outcome, Committed | InDoubt):
            return None, None
        if isinstance(outcome, InDoubt) and may_run_again(self._effect):
            return None, None
        before = self.runs.count
        again = await self.call(client)
        second = self.runs.count - before
        if isinstance(again, Raised):
            return second, Raised(again.type_name, "replay")
        is_same = again.name == outcome.name and (not isinstance(again, Committed) or again.is_replayed)
        return second, None if is_same else ("not_replayed", "")

    async def asked_until_valid(self, client: Client, first: AnyOutcome, *, most: int) -> int | None:
        """Ask again until an answer has the right form; return which request that was, counted from 2.

        Args:
            client: asks.
            first: the first answer, which had not.
            most: most further requests.
        """
        question = Question(messages=self.planned.case.messages, sampling=self.setup.sampling(self.planned))
        outcome: AnyOutcome | Raised = first
        for number in range(2, most + 2):
            if isinstance(outcome, Raised) or not isinstance(outcome, Invalid | Violated | Truncated):
                return None
            question = question.corrected(
                outcome.partial_text, _refusal_of(outcome), is_json=self.contract.text is None
            )
            outcome = await self.call(client, question.messages)
            if not isinstance(outcome, Raised) and has_value(outcome):
                return number
        return None

    def _take_effect(self, effect: EffectFunction[object, object]) -> Raised | None:
        try:
            self._effect = counted_effect(effect, self.runs)
        except Exception as error:  # noqa: BLE001 - what the suite returned may be anything
            return raised_of(error, "suite")
        return None


def _refusal_of(outcome: Invalid | Violated | Truncated) -> Invalid:
    if isinstance(outcome, Invalid):
        return outcome
    if isinstance(outcome, Truncated):
        failure = Failure(
            layer=Layer.FINISH, code="truncated", pointer="", message="the answer was cut; make it shorter"
        )
    else:
        failure = Failure(layer=Layer.ACCEPT, code=outcome.kind, pointer="", message=outcome.explanation)
    return Invalid(layer=failure.layer, failures=(failure,), receipt=Receipt())


__all__ = ["NOT_VISIBLE", "AskedCase", "Permission"]
