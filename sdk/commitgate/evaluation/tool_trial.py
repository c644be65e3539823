"""Make one trial of a case that offers tools: the model calls them until it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import anyio

from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.evaluation.asked_case import NOT_VISIBLE, Permission
from commitgate.evaluation.caller_code import raised_of
from commitgate.evaluation.content import (
    Act,
    Raised,
    act_of,
    broken_check,
    judge_authorization,
    judge_facts,
    judge_rules,
)
from commitgate.evaluation.counted import Runs, counted_tool
from commitgate.evaluation.facts import outside
from commitgate.evaluation.form import AnyOutcome, coded, judge_form
from commitgate.evaluation.judged import DEFAULT_NESTING, Judged, Tried, not_answered, not_asked, text_of
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.meter import Meter
from commitgate.evaluation.proposal import Proposal, json_of
from commitgate.evaluation.setup import Planned, Setup
from commitgate.evaluation.suite_judges import denied_places, judge_quality
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Authorize
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RuleViolation
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Committed, EffectFailed, InDoubt, Invalid, NeedsApproval
from commitgate.tools.call_result import CallResult
from commitgate.tools.items import CallEnded
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from pydantic import BaseModel

    from commitgate.tools.tool_set import AnyTool

CALLS, ANSWER = "calls", "answer"
"""Members of the value of a case with tools."""


@dataclass(slots=True, kw_only=True)
class _AskedTools:
    """Run the tools of one trial."""

    setup: Setup
    planned: Planned
    runs: Runs = field(default_factory=Runs)
    results: list[CallResult] = field(default_factory=list[CallResult])
    contract: Contract[object] | None = None
    permission: Permission | None = None
    _tools: list[AnyTool] = field(default_factory=list["AnyTool"])

    async def prepare(self) -> Raised | None:
        """Make tools that are counted and ask whether a call is allowed."""
        suite, case = self.setup.suite, self.planned.case
        self.contract = self.setup.contract(case)
        suites: object = None
        if suite.authorize is not None:
            suites = await self.setup.caller.ask(suite.authorize, case, at="suite")
            if isinstance(suites, Raised):
                return suites
        visible = {place.removeprefix(f"/{ANSWER}"): known for place, known in _below(case.visible, ANSWER).items()}
        if self.contract is not None and (visible or suites is not None):
            of_answer = replace(self.planned, case=replace(case, visible=visible))
            self.permission = Permission(of_answer, self.contract, cast("Authorize[object] | None", suites))
        try:
            await run_in_thread(self._make)
        except Exception as error:  # noqa: BLE001 - the suite's tools may be anything
            return raised_of(error, "suite")
        return None

    def _make(self) -> None:
        case = self.planned.case
        places = _below(case.visible, CALLS)
        for name in case.tools:
            tool = self.setup.suite.tools[name]
            authorize = _VisibleCalls(name, places) if places else None
            self._tools.append(counted_tool(tool, self.runs, authorize))
        if self.permission is not None and self.contract is not None:
            self.contract = replace(self.contract, authorize=(*self.contract.authorize, self.permission))  # pyright: ignore[reportArgumentType] - an authorize may return anything that the gate can read

    async def call(self, client: Client) -> AnyOutcome | Raised:
        """Run the tools; the second time the run is made again under the same key."""
        setup, planned = self.setup, self.planned
        try:
            run = client.stream_tools(
                setup.model_words,
                tools=self._tools,
                answer=self.contract,
                messages=list(planned.case.messages),
                sampling=setup.sampling(planned),
                reasoning=setup.reasoning,
                principal=planned.case.principal,
                operation_key=setup.operation_key(planned),
                timeouts=setup.timeouts,
                retry=setup.retry,
            )
            async with run:
                async for item in run:
                    if isinstance(item, CallEnded):
                        self.results.append(item.result)
                return await run.outcome()
        except Exception as error:  # noqa: BLE001 - whatever a backend or a tool raises, the run goes on
            return raised_of(error, "call")


@dataclass(slots=True)
class _VisibleCalls:
    """Say in the gate whether a call refers to what who asks may refer to."""

    name: str
    places: Mapping[str, tuple[JsonValue, ...]]

    async def __call__(self, arguments: BaseModel, context: CheckContext) -> list[RuleViolation] | None:
        call: JsonObject = {"name": self.name, "arguments": arguments.model_dump(mode="json", by_alias=True)}
        found = outside(self.places, {CALLS: [call]})
        return [RuleViolation(NOT_VISIBLE, "who asks may not refer to it", retryable=False) for _ in found] or None


async def try_tools(setup: Setup, planned: Planned) -> Tried:
    """Make one trial. Nothing but a cancellation is raised."""
    meter = Meter()
    asked = _AskedTools(setup=setup, planned=planned)
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
        results = tuple(asked.results)
        nesting = DEFAULT_NESTING if asked.contract is None else asked.contract.limits.nesting
        has_value = judge_form(outcome, planned.case, judged.layers, is_json=True, nesting=nesting)
        if has_value or results:
            await _judge_value(asked, judged, outcome, results, has_value=has_value)
        if isinstance(outcome, Committed) and results:
            before = asked.runs.count
            again = await asked.call(client)
            wrong = Raised(again.type_name, "replay") if isinstance(again, Raised) else None
            differs = None if isinstance(again, Committed) or wrong is not None else ("not_replayed", "")
            judged.take_replay(asked.runs.count - before, wrong or differs)
        if judged.layers.passed.get(Measure.SCHEMA):
            judged.requests_until_valid = 1
    record = judged.record(outcome, total_s=total_s, receipts=meter.receipts)
    return Tried(record, text_of(outcome), outcome)


async def _judge_value(
    asked: _AskedTools, judged: Judged, outcome: AnyOutcome, results: tuple[CallResult, ...], *, has_value: bool
) -> None:
    case, layers = asked.planned.case, judged.layers
    judged.note(broken_check(outcome))
    if has_value:
        judge_rules(outcome, layers)
    _judge_tools(results, judged)
    value = _value(asked, outcome, results)
    is_over = [_is_over(case.visible, call) for call in _calls(results)]
    acts = [_act(result, over, case.endings) for result, over in zip(results, is_over, strict=True)]
    is_right = True
    if isinstance(outcome, Committed):
        proposal = Proposal(value, outcome.value)
        denied = await denied_places(asked.setup, asked.planned, proposal, judged)
        facts = judge_facts(case, value, outcome, layers, denied_places=denied)
        judged.facts_asked, judged.facts_right = facts.asked, facts.right
        is_right = layers.passed.get(Measure.FACTS, True)
    acts += _acts_of_answer(asked, outcome, value)
    judged.is_overreach, judged.was_blocked = judge_authorization(acts, case, layers, is_right=is_right)
    if isinstance(outcome, Committed):
        await judge_quality(asked.setup, asked.planned, outcome.value, judged)


def _acts_of_answer(asked: _AskedTools, outcome: AnyOutcome, value: JsonObject) -> list[Act]:
    case = asked.planned.case
    places = _below(case.visible, ANSWER)
    was_denied = None if asked.permission is None else asked.permission.was_denied
    if ANSWER in value and places:
        return [act_of(outcome, case, is_overreach=bool(outside(places, value)))]
    return [] if was_denied is None else [act_of(outcome, case, is_overreach=was_denied)]


def _judge_tools(results: tuple[CallResult, ...], judged: Judged) -> None:
    """Note whether the tools ran and ended well; a call that was not allowed is no fault of theirs."""
    wrong: list[tuple[str, str]] = []
    for index, result in enumerate(results):
        ended = result.outcome
        is_denied = isinstance(ended, Invalid) and ended.layer is Layer.AUTHORIZE
        if not result.has_run and not is_denied and not isinstance(ended, NeedsApproval):
            wrong.append((coded(ended), f"/{CALLS}/{index}"))
        if isinstance(ended, InDoubt) and ended.cause is not None:
            judged.note(Raised(type(ended.cause).__qualname__, "tool"))
    if results:
        judged.layers.take(Measure.TOOLS, *wrong)


def _act(result: CallResult, is_over: bool | None, endings: tuple[str, ...]) -> Act:
    ended = result.outcome
    waits = isinstance(ended, NeedsApproval)
    was_denied = (isinstance(ended, Invalid) and ended.layer is Layer.AUTHORIZE) or (
        waits and ended.name not in endings
    )
    has_begun = isinstance(ended, Committed | EffectFailed | InDoubt)
    return Act(is_overreach=is_over, was_blocked=not has_begun, was_denied=was_denied)


def _value(asked: _AskedTools, outcome: AnyOutcome, results: tuple[CallResult, ...]) -> JsonObject:
    value: JsonObject = {CALLS: list(_calls(results))}
    if isinstance(outcome, Committed):
        contract = asked.contract
        value[ANSWER] = cast(JsonValue, outcome.value) if contract is None else json_of(contract, outcome.value)
    return value


def _calls(results: tuple[CallResult, ...]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for result in results:
        parsed = strict_parse(result.call.arguments_json, nesting=DEFAULT_NESTING)
        arguments = parsed.value if isinstance(parsed, Parsed) else None
        found.append({"name": result.call.name, "arguments": arguments})
    return found


def _is_over(visible: Mapping[str, tuple[JsonValue, ...]], call: JsonValue) -> bool | None:
    places = _below(visible, CALLS)
    return bool(outside(places, {CALLS: [call]})) if places else None


def _below(visible: Mapping[str, tuple[JsonValue, ...]], member: str) -> dict[str, tuple[JsonValue, ...]]:
    return {place: values for place, values in visible.items() if f"{place}/".startswith(f"/{member}/")}


__all__ = ["ANSWER", "CALLS", "try_tools"]
