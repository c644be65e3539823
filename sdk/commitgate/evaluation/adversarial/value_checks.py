"""Check that legal values of every size and shape are committed as they are, and illegal ones are not."""

from __future__ import annotations

import json
from collections.abc import Iterator

from commitgate.contract import Contract
from commitgate.evaluation.adversarial.check import Check, Found, Run
from commitgate.evaluation.adversarial.judge import UNFORCED, TextJudge, Unforced, ValueJudge, exact
from commitgate.evaluation.adversarial.keyword_cases import KeywordCase, TextCase, keyword_cases, text_cases
from commitgate.evaluation.adversarial.laws import of_endings, of_value
from commitgate.evaluation.adversarial.stage import Scene, json_contract
from commitgate.evaluation.adversarial.values import NESTING, ForcedValue, forced_by_schema, forced_values, nested
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.worker_thread import run_in_thread

_SHOWN_CHARACTERS = 1_500
_ONE = "the one legal value is committed, and no other"
_ANY = "what is committed is legal; what nobody enforces is refused by the gate"


def value_checks() -> Iterator[Check]:
    """Yield the checks of values."""
    for each in forced_values():
        yield _check(each.name, each.about, _ONE, _forced(each))
    for name, about, schema, value in forced_by_schema():
        yield _check(name, about, _ONE, _of_schema(schema, value, _prompt(value), 400))
    for case in keyword_cases():
        yield _check(case.name, case.about, _ANY, _of_keyword(case))
    for text in text_cases():
        yield _check(text.name, text.about, "what is committed is a text of the language", _of_text(text))
    yield _check("too_deep", "a value that nests one deeper than it may", "it is refused before it is asked for", _deep)


def _check(name: str, about: str, law: str, run: Run) -> Check:
    return Check(name=name, group="values", about=about, law=law, run=run)


def _prompt(value: JsonValue) -> str:
    text = json.dumps(exact(value), ensure_ascii=False, default=str)
    return f"Answer with this and nothing else: {text}" if len(text) < _SHOWN_CHARACTERS else "Answer."


def _forced(value: ForcedValue) -> Run:
    return _of_schema(value.schema, value.expected, _prompt(value.value), value.max_tokens)


def _of_schema(schema: JsonSchema, expected: JsonValue | Unforced, prompt: str, max_tokens: int) -> Run:
    async def run(scene: Scene) -> Found:
        contract = await json_contract(schema)
        judge = ValueJudge(schema=schema, expected=expected)
        async with scene.stage() as stage:
            outcome = await stage.ask(contract, prompt, max_tokens=max_tokens)
        return of_value(outcome, judge, contract, is_forced=not isinstance(expected, Unforced))

    return run


def _of_keyword(case: KeywordCase) -> Run:
    return _of_schema(case.schema, UNFORCED, case.prompt, case.max_tokens)


def _of_text(case: TextCase) -> Run:
    async def run(scene: Scene) -> Found:
        contract = await run_in_thread(lambda: Contract[object].of(case.source))
        async with scene.stage() as stage:
            outcome = await stage.ask(contract, "Answer.", max_tokens=case.max_tokens)
        return of_value(outcome, TextJudge(is_right=case.is_right), contract, is_forced=False)

    return run


async def _deep(scene: Scene) -> Found:
    schema: JsonSchema = {"const": nested(NESTING + 1)}
    async with scene.stage() as stage:
        outcome = await stage.client.generate_structured(stage.model, schema, prompt="Answer.")
    return of_endings(outcome, ("compile_failed", "unsupported"))


__all__ = ["value_checks"]
