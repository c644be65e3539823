"""Ask the caller's checks about a typed value, stage by stage, until it is chosen, refused or waits for a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from commitgate.errors import MisuseError
from commitgate.gate.asking import Kind, RunBlocking, ask
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.content import CONTENT, PlacedViolation, refuse_hidden_characters
from commitgate.gate.layer_states import Stage, Step
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.rules import RETURNS, RULE, RuleViolation, failure, violations
from commitgate.gate.untrusted_places import Path
from commitgate.gate.way import Way
from commitgate.outcome import Invalid, NeedsApproval, Receipt

T = TypeVar("T")

EVIDENCE_ERROR = "evidence_error"
"""Code of an evidence check that broke."""

AUTHORIZE_ERROR = "authorize_error"
"""Code of an ``authorize`` that broke."""

APPROVE_ERROR = "approve_error"
"""Code of an ``approve`` that broke. It stands at the layer ``authorize``: nothing was allowed."""

NOT_AUTHORIZED = "not_authorized"
"""Code of an ``authorize`` that said False."""

DEFAULT_REASON = "a person must decide"
"""The reason of an ``approve`` that gives none."""

EVIDENCE = Kind(layer=Layer.EVIDENCE, word="evidence check", error_code=EVIDENCE_ERROR, returns=RETURNS)
AUTHORIZE = Kind(
    layer=Layer.AUTHORIZE, word="authorize function", error_code=AUTHORIZE_ERROR, returns=f"a bool, {RETURNS}"
)
APPROVE = Kind(
    layer=Layer.AUTHORIZE, word="approve function", error_code=APPROVE_ERROR, returns="None, a bool or a reason"
)


@dataclass(slots=True, kw_only=True)
class Deliberation(Generic[T]):
    """Judge one value by one call's checks.

    Args:
        way: where the value stands; its stage says what is asked.
        value: it. Each check gets a copy of its own.
        checks: whom to ask.
        context: for whom.
        show_pointer: writes a path into the value as a JSON pointer without the model's own words.
        run_blocking: runs sync evidence, ``authorize`` and ``approve``, which look things up.
    """

    way: Way
    value: T = field(repr=False)
    checks: Checks[T]
    context: CheckContext
    show_pointer: Callable[[Path], str]
    run_blocking: RunBlocking
    reasons: tuple[str, ...] = field(default=(), init=False, repr=False)

    async def run(self) -> Invalid | NeedsApproval | None:
        """Ask all that is left to ask; return None where the value may be acted on now.

        Raises:
            MisuseError: no value is to be judged where the way stands.
        """
        while True:
            match self.way.stage:
                case Stage.RULES:
                    await self._ask(RULE, self.checks.rules)
                case Stage.CONTENT:
                    built_in = await ask(
                        refuse_hidden_characters, self.value, kind=CONTENT, read=violations, copies=False
                    )
                    await self._ask(CONTENT, self.checks.content, built_in)
                case Stage.EVIDENCE:
                    await self._look_up(EVIDENCE, self.checks.evidence, violations)
                case Stage.APPROVAL:
                    await self._ask_for_a_person()
                case Stage.AUTHORIZE | Stage.AUTHORIZE_FOR_A_PERSON:
                    await self._look_up(AUTHORIZE, self.checks.authorize, denials)
                case Stage.CHOSEN:
                    return None
                case Stage.WAITING:
                    return NeedsApproval(reason="; ".join(self.reasons), receipt=Receipt())
                case Stage.REFUSED:
                    record = self.way.records[-1]
                    return Invalid(layer=record.layer, failures=record.failures, receipt=Receipt())
                case stage:
                    raise MisuseError(f"no value can be judged at {None if stage is None else stage.name}")

    async def _ask(
        self, kind: Kind, functions: Sequence[Callable[[T], object]], *before: tuple[RuleViolation, ...] | Failure
    ) -> None:
        answers = [await ask(each, self.value, kind=kind, read=violations) for each in functions]
        self._settle(kind, [*before, *answers])

    async def _look_up(
        self,
        kind: Kind,
        functions: Sequence[Callable[[T, CheckContext], object]],
        read: Callable[[object], tuple[RuleViolation, ...] | None],
    ) -> None:
        answers = [
            await ask(each, self.value, self.context, kind=kind, read=read, run=self.run_blocking) for each in functions
        ]
        self._settle(kind, answers)

    def _settle(self, kind: Kind, answers: list[tuple[RuleViolation, ...] | Failure]) -> None:
        """Take the step that the answers of one layer's checks amount to."""
        failures: list[Failure] = []
        for answer in answers:
            if isinstance(answer, Failure):
                failures.append(answer)
            else:
                failures += [self._failure(kind, violation) for violation in answer]
        step = Step.FAILED if failures else Step.PASSED if answers else Step.SKIPPED
        self.way.take(step, tuple(failures))

    def _failure(self, kind: Kind, violation: RuleViolation) -> Failure:
        found = failure(violation, kind.layer, may_retry=kind is not AUTHORIZE)
        if not isinstance(violation, PlacedViolation):
            return found
        data = {} if found.data is None else found.data
        return replace(
            found,
            pointer=self.show_pointer(violation.path),
            data={**data, "pointer": violation.pointer} if isinstance(data, dict) else data,
        )

    async def _ask_for_a_person(self) -> None:
        failures: tuple[Failure, ...] = ()
        reasons: tuple[str, ...] = ()
        for each in self.checks.approve:
            answer = await ask(each, self.value, self.context, kind=APPROVE, read=reasons_of, run=self.run_blocking)
            if isinstance(answer, Failure):
                failures += (answer,)
            else:
                reasons += answer
        self.reasons = reasons
        if failures:
            self.way.take(Step.FAILED, failures)
        elif reasons:
            self.way.take(Step.PERSON)
        else:
            self.way.take(Step.PASSED if self.checks.approve else Step.SKIPPED)


def denials(result: object) -> tuple[RuleViolation, ...] | None:
    """Return why an ``authorize`` denies, empty where it allows; None where it returned what it may not."""
    if result is True:
        return ()
    if result is False:
        return (RuleViolation(NOT_AUTHORIZED, "the principal may not have this done"),)
    # What is empty reads as a no in Python, as rights that were looked for and not found: it must not read as a yes.
    if result is not None and isinstance(result, Sized) and not len(result):
        return None
    return violations(result)


def reasons_of(result: object) -> tuple[str, ...] | None:
    """Return why an ``approve`` asks for a person, empty where it does not; None where it returned what it may not."""
    if result is None or result is False:
        return ()
    if result is True:
        return (DEFAULT_REASON,)
    # Blank words are no reason, but still no leave to go on without a person.
    return (result.strip() or DEFAULT_REASON,) if isinstance(result, str) else None


__all__ = ["APPROVE_ERROR", "AUTHORIZE_ERROR", "EVIDENCE_ERROR", "NOT_AUTHORIZED", "Deliberation"]
