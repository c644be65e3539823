"""Make one trial: ask, judge the answer layer by layer, make the act again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import anyio

from commitgate.evaluation.asked_case import AskedCase
from commitgate.evaluation.content import (
    Raised,
    act_of,
    broken_check,
    judge_authorization,
    judge_effect,
    judge_facts,
    judge_rules,
)
from commitgate.evaluation.form import AnyOutcome, judge_form
from commitgate.evaluation.judged import Judged, Tried, not_answered, not_asked, text_of
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.meter import Meter
from commitgate.evaluation.record import Variant
from commitgate.evaluation.setup import Planned, Setup
from commitgate.evaluation.suite_judges import denied_places, judge_quality
from commitgate.outcome import Committed
from commitgate.retry import Retry
from commitgate.worker_thread import run_in_thread


async def try_case(setup: Setup, planned: Planned) -> Tried:
    """Make one trial. Nothing but a cancellation is raised."""
    if planned.case.tools:
        # Loaded with the first of them: few suites have any.
        from commitgate.evaluation.tool_trial import try_tools

        return await try_tools(setup, planned)
    contract = setup.contract(planned.case)
    assert contract is not None, "the suite was checked: a case without tools has a contract"
    meter = Meter()
    asked = AskedCase(setup=setup, planned=planned, contract=contract)
    judged = Judged(planned=planned, meter=meter)
    unready = await asked.prepare()
    if unready is not None:
        return not_asked(judged, unready)
    async with setup.client(planned.variant, meter) as client:
        began = anyio.current_time()
        outcome = await asked.call(client)
        total_s = anyio.current_time() - began
        if isinstance(outcome, Raised):
            return not_answered(judged, outcome, total_s=total_s)
        has_value = judge_form(
            outcome, planned.case, judged.layers, is_json=contract.text is None, nesting=contract.limits.nesting
        )
        if has_value:
            await _judge_value(asked, judged, outcome)
        if asked.has_effect and has_value:
            judged.note(judge_effect(outcome, judged.layers))
            judged.take_replay(*await asked.made_again(client, outcome))
        if judged.layers.passed.get(Measure.SCHEMA):
            judged.requests_until_valid = 1
        elif planned.variant == "prompt_only" and setup.most_reasks:
            judged.requests_until_valid = await asked.asked_until_valid(client, outcome, most=setup.most_reasks)
    return Tried(judged.record(outcome, total_s=total_s), text_of(outcome), outcome)


async def warm_up(setup: Setup, waiting: Sequence[Planned], variant: Variant) -> None:
    """Send one request of one token, whose answer is thrown away; what goes wrong shows in the trials themselves."""
    planned = next((each for each in waiting if each.variant == variant and not each.case.tools), None)
    contract = None if planned is None else setup.contract(planned.case)
    if planned is None or contract is None:
        return
    async with setup.client(variant, Meter()) as client:
        with suppress(Exception):
            await client.generate_structured(
                setup.model_words,
                contract,
                messages=list(planned.case.messages),
                sampling=replace(setup.sampling(planned), max_tokens=1),
                reasoning=setup.reasoning,
                timeouts=setup.timeouts,
                retry=Retry(attempts=1),
                prompt_schema=setup.suite.prompt_schema,
            )


async def _judge_value(asked: AskedCase, judged: Judged, outcome: AnyOutcome) -> None:
    """Judge what an answer proposes, whether or not the gate let it through."""
    case, layers = asked.planned.case, judged.layers
    judged.note(broken_check(outcome))
    judge_rules(outcome, layers)
    proposals = asked.setup.proposals(asked.contract)
    is_constrained = asked.planned.variant == "constrained"
    proposal = await run_in_thread(lambda: proposals.of(outcome, is_constrained=is_constrained))
    if proposal is None:
        return
    denied = await denied_places(asked.setup, asked.planned, proposal, judged)
    facts = judge_facts(case, proposal.json, outcome, layers, denied_places=denied)
    judged.facts_asked, judged.facts_right = facts.asked, facts.right
    is_right = layers.passed.get(Measure.FACTS, True)
    is_over = await asked.is_overreach(proposal)
    judged.note(is_over)
    if not isinstance(is_over, Raised) and not _is_broken_authorize(judged):
        acts = [act_of(outcome, case, is_overreach=is_over)]
        judged.is_overreach, judged.was_blocked = judge_authorization(acts, case, layers, is_right=is_right)
    if isinstance(outcome, Committed):
        await judge_quality(asked.setup, asked.planned, outcome.value, judged)


def _is_broken_authorize(judged: Judged) -> bool:
    return judged.raised is not None and judged.raised.at == "authorize"


__all__ = ["try_case", "warm_up"]
