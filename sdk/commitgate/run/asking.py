"""Ask the model until a value is chosen or an ending stands: attempts, layers, and what may be asked again.

tenacity runs the loop and the waits; whether to ask again is ``retry.decide``'s alone. Nothing is joined over two
attempts: each has its own gate and reader, and what was shown of a dropped one is taken back by a ``Reset``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from random import random
from typing import Generic, TypeVar

import anyio
from tenacity import AsyncRetrying, retry_if_result, stop_never

from commitgate.backends.base import GenerationRequest
from commitgate.contract import Contract
from commitgate.errors import ContractError
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.refusal import refusal_reason
from commitgate.gate.verdict import Outside, Verdict, Whole
from commitgate.outcome import Failed, Invalid, NeedsApproval, Receipt, Refused, Truncated, Unsupported
from commitgate.preview import Preview, Reset
from commitgate.retry import Again, GiveUpReason, RetryBudget, Tries, decide
from commitgate.run.attempt import Attempt
from commitgate.run.facts import Facts
from commitgate.run.order import Order
from commitgate.run.question import Question
from commitgate.run.wording import Wording, unconstrained
from commitgate.worker_thread import aside

TRACED_CHOICES = 8
"""How many of the model's likeliest tokens a step is told with, where steps are wanted."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True, kw_only=True)
class Asking(Generic[T, R]):
    """Ask for one value, once.

    Args:
        order: what to do.
        contract: what the answer must satisfy.
        wording: how it is asked for.
        judge: judges whole texts.
        checks: whom to ask about a value.
        context: for whom.
        facts: where to note what is learnt.
        budget: bounds the retries of all calls of the client.
        ends_at: time by the event loop's clock at which the call ends; infinite for never.
        show: takes what is to be shown; None where nobody looks.
    """

    order: Order[T, R]
    contract: Contract[T]
    wording: Wording
    judge: Judge[T]
    checks: Checks[T]
    context: CheckContext
    facts: Facts
    budget: RetryBudget
    ends_at: float
    show: Callable[[Preview | Reset], None] | None
    _call_id: str = field(default_factory=lambda: secrets.token_hex(16), init=False, repr=False)
    _tries: Tries = field(default_factory=Tries, init=False)
    _again: Again | None = field(default=None, init=False)
    _question: Question = field(init=False)
    _had_text: bool = field(default=False, init=False)
    _is_showing: bool = field(default=False, init=False)

    async def run(self) -> Chosen[T] | Failed:
        """Return the value, or the last ending, with an empty receipt.

        Raises:
            ContractError: the backend cannot enforce the contract, and nothing else is allowed.
            BackendError: the backend cannot begin.
        """
        self._question = self._first_question()
        loop = AsyncRetrying(
            sleep=anyio.sleep,
            stop=stop_never,
            retry=retry_if_result(lambda _: self._again is not None),
            wait=lambda _: 0.0 if self._again is None else self._again.wait_s,
        )
        return await loop(self._ask)

    def _first_question(self) -> Question:
        wording, order = self.wording, self.order
        messages = order.conversation.to_send(self.contract, wording.prompt_schema, shown=wording.shown)
        return Question(messages=messages, sampling=order.sampling)

    async def _ask(self) -> Chosen[T] | Failed:
        waited_s = 0.0
        if self._again is not None:
            waited_s = self._again.wait_s
            self._tries = self._tries.after(self._again)
        self.facts.begin_attempt(anyio.current_time(), waited_s=waited_s)
        self.facts.watch.request_began(self.facts.attempts, waited_s, self._question.messages)
        ended = await self._attempt()
        failed = None if isinstance(ended, Chosen) else ended
        self.facts.end_attempt(failed)
        if self.facts.attempts == 1:
            self.budget.deposit()
        self._again = None
        return ended if failed is None else self._go_on(failed)

    def _go_on(self, ending: Failed) -> Failed:
        """Decide whether to ask again, and make everything ready for it."""
        self._had_text = self._had_text or self.facts.had_text
        decision = decide(
            ending,
            self._tries,
            policy=self.order.retry,
            was_shown=self._had_text,
            remaining_s=self.ends_at - anyio.current_time(),
            budget_allows=self.budget.has_token,
            random_unit=random(),
        )
        if not isinstance(decision, Again):
            # No wait is begun that the deadline would cut off: the call ends at once as it would then.
            is_over = decision.reason is GiveUpReason.NO_TIME_LEFT
            return self.facts.out_of_time(self.order.timeouts) if is_over else ending
        if decision.spends_budget:
            self.budget.try_spend()
        self._again = decision
        self._take_back(ending)
        self._next_question(decision, ending)
        return ending

    def _take_back(self, ending: Failed) -> None:
        if not self._is_showing:
            return
        self._is_showing = False
        reset = Reset(attempt=self.facts.attempts + 1, reason=ending.name)
        self.facts.watch.shown(reset)
        if self.show is not None:
            self.show(reset)

    def _next_question(self, again: Again, ending: Failed) -> None:
        if again.kind == "larger":
            limit = self.order.retry.larger_max_tokens
            assert limit is not None, "decided only where there is a larger limit"
            self._question = self._question.larger(limit)
        elif again.kind == "reask" and isinstance(ending, Invalid):
            is_json = self.contract.text is None
            self._question = self._question.corrected(self.facts.text, ending, is_json=is_json)
        else:
            return
        self._had_text = False

    async def _attempt(self) -> Chosen[T] | Failed:
        request = self._request()
        try:
            verdict = await self._read(request)
        except ContractError:
            # One that is raised in the midst of an answer is a fault of the backend: what was shown cannot stand.
            if not self._may_fall_back() or self.facts.had_text:
                raise
            verdict = await self._fall_back()
        if isinstance(verdict, Unsupported) and self._may_fall_back() and not self.facts.had_text:
            verdict = await self._fall_back()
        return await self._judged(verdict)

    async def _fall_back(self) -> Verdict:
        self.facts.gate = self.facts.translation = None
        self.facts.fallback = "prompt_only"
        self.wording = await unconstrained(self.contract, prompt_schema=self.order.prompt_schema)
        if self._question.number == 0:
            self._question = self._first_question()
        return await self._read(self._request())

    def _may_fall_back(self) -> bool:
        return self.order.fallback is not None and self.facts.fallback is None

    def _request(self) -> GenerationRequest:
        order, question = self.order, self._question
        is_constrained = self.facts.fallback is None
        key = question.key(
            self.contract,
            order.model,
            is_constrained=is_constrained,
            reasoning=order.reasoning,
            operation_key=order.key,
            call_id=self._call_id,
        )
        self.facts.request_key_digest = sha256(key.encode()).hexdigest()
        self.facts.most_tokens = question.sampling.max_tokens
        return GenerationRequest(
            model=order.model,
            contract=self.contract,
            messages=question.messages,
            sampling=question.sampling,
            forced=order.forced,
            idempotency_key=key,
            attempt=self.facts.attempts,
            timeouts=order.timeouts,
            is_constrained=is_constrained,
            tools=order.tools,
            reasoning=order.reasoning,
            translation=self.wording.translation,
            traced_choices=TRACED_CHOICES if self.facts.watch.wants.steps else None,
        )

    async def _read(self, request: GenerationRequest) -> Verdict:
        show = None if self.show is None and not self.facts.watch.wants.steps else self._show
        assert self.order.backend is not None, "a model is asked for what is not given"
        attempt = Attempt(
            self.order.backend,
            request,
            self.wording.automaton,
            facts=self.facts,
            show=show,
            only_reports=self.order.watch,
        )
        return await attempt.run()

    def _show(self, preview: Preview) -> None:
        self._is_showing = True
        self.facts.watch.shown(preview)
        if self.show is not None:
            self.show(preview)

    async def _judged(self, verdict: Verdict) -> Chosen[T] | Failed:
        match verdict:
            case Whole() if self.order.strict_limit and self.facts.is_at_limit:
                return Truncated(kind="max_tokens", receipt=Receipt())
            case Whole(text):
                reason = await aside(text, lambda: refusal_reason(text)) if self.contract.refusal else None
                return await self._judge(text) if reason is None else Refused(text=reason, receipt=Receipt())
            case Outside():
                self.facts.layers = self.judge.records
                return await aside(verdict.text, lambda: self.judge.explain(verdict))
            case _:
                return verdict

    async def _judge(self, text: bytes) -> Chosen[T] | Failed:
        self.facts.layers = self.judge.records
        chosen = await aside(text, lambda: self.judge.choose(text))
        if not isinstance(chosen, Chosen):
            return chosen
        ending = await self.judge.deliberate(chosen.value, self.checks, self.context)
        if ending is None or isinstance(ending, NeedsApproval):
            # What a person is asked about is named by its digest, so that nothing else can be approved in its place.
            self.facts.value_digest = sha256(chosen.value_json).hexdigest()
            self.facts.proposed = chosen.value_json
        return chosen if ending is None else ending


__all__ = ["Asking"]
