"""No prompt, answer, value, principal or key reaches a record, a store, a problem or a log."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from evaluation.suites import SCHEMA, case, run_suite, said, suite_of

from commitgate import Contract, EffectContext, Message, RuleViolation
from commitgate.evaluation import compare, dump_run, summarize
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

CANARY = "canary-7f3a"
OPEN: dict[str, Any] = {**SCHEMA, "additionalProperties": True}


def suite_with(**given: Any) -> Any:
    asked = case(
        messages=(Message("user", f"prompt {CANARY}"),),
        expected={"/to": f"expected {CANARY}"},
        known={"/to": (f"known {CANARY}",), f"/{'*'}": ("x",)},
        visible={"/to": (f"visible {CANARY}",)},
        principal={"token": CANARY},
    )
    return suite_of(asked, contracts={"payment": Contract.json_schema(OPEN, name="payment")}, **given)


def effect(_case: Any) -> Any:
    def broken(_value: Any, context: EffectContext) -> None:
        raise RuntimeError(f"{CANARY} {context.key}")

    return broken


def raising(*_given: Any) -> Any:
    raise ValueError(CANARY)


ANSWERS = [
    f'{{"amount":5,"to":"{CANARY}","{CANARY}":1}}',
    f'{{"amount":"{CANARY}","to":"x"}}',
    f"no JSON {CANARY}",
    f'{{"{CANARY}":',
]
SUITES: list[dict[str, Any]] = [
    {},
    {"effect": effect},
    {"scorer": raising, "authority": raising},
    {"authorize": lambda _case: raising},
    {"rules": raising},
    {"rules": lambda _case: [raising]},
    {"rules": lambda _case: [lambda value: RuleViolation("code", f"message {value}", data={"v": CANARY})]},
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
@pytest.mark.parametrize("given", SUITES, ids=range(len(SUITES)))
async def test_canary_is_nowhere(answer: str, given: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = tmp_path / "run.jsonl"
    backend = ScriptedBackend(said(answer), then=[[{"fault": "auth", "message": CANARY, "code": "c"}]])
    run = await run_suite(
        suite_with(**given), backend=backend, store=store, variants=("constrained", "prompt_only"), repetitions=2
    )
    told = [
        store.read_text(),
        dump_run(run).decode(),
        repr(run),
        repr(summarize(run)),
        repr(compare(run, run)),
        json.dumps(run.problems),
        caplog.text,
    ]
    assert [CANARY in each for each in told] == [False] * len(told)


async def test_wrong_place_under_a_star_does_not_tell_the_models_own_key() -> None:
    answer = json.dumps({"amount": 5, "to": "x", CANARY: "y"})
    run = await run_suite(suite_with(), said(answer))
    assert ("invented", "/*") in [(fault.code, fault.pointer) for fault in run.records[0].faults]
