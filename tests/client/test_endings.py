"""Every ending has a handler, or making the handlers fails: for a type checker, and when the program runs."""

import copy
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from guide import blocks_of, run_blocks

from commitgate import Client, Committed, Ending, Invalid, Layer, Receipt, TimedOut, Unavailable, Unsupported, Violated
from commitgate.endings import ENDINGS, Handlers, handle
from commitgate.errors import MisuseError
from commitgate.gate.layers import Failure
from commitgate.outcome import CompileFailed, DeadEnd, EffectFailed, Failed, InDoubt, NeedsApproval
from commitgate.testing import ScriptedBackend

MORE: dict[type[object], dict[str, Any]] = {
    Committed: {"value": 1},
    TimedOut: {"phase": "total", "limit_s": 1.0},
    Unsupported: {"keyword": "", "pointer": "", "reason": ""},
    CompileFailed: {"keyword": None, "pointer": "", "reason": ""},
    DeadEnd: {"cause": "schema", "prefix_tokens": 0, "explanation": ""},
    Violated: {"kind": "not_json", "position": 0, "explanation": ""},
    Invalid: {"layer": Layer.RULES, "failures": (Failure(layer=Layer.RULES, code="x", pointer="", message="y"),)},
    NeedsApproval: {"reason": ""},
    EffectFailed: {"reason": ""},
    InDoubt: {"reason": ""},
    Unavailable: {"kind": "server", "message": ""},
}


def name_of(outcome: Any) -> str:
    return str(outcome.name)


def handlers(**changed: Any) -> Handlers[Any, Any, Any]:
    made: Any = Handlers
    return made(**dict.fromkeys(ENDINGS, name_of) | changed)


def outcome(name: str) -> Any:
    kind: Any = ENDINGS[name]
    return kind(receipt=Receipt(), **MORE.get(kind, {}))


def test_handlers_are_those_of_the_endings() -> None:
    assert [entry.name for entry in fields(Handlers)] == list(ENDINGS)
    assert list(ENDINGS.values()) == [Committed, *get_args(Failed)]


@pytest.mark.parametrize("name", ENDINGS)
def test_each_outcome_goes_to_the_handler_of_its_ending(name: str) -> None:
    called: list[Any] = []
    found = handle(outcome(name), handlers(**{name: called.append}))
    assert (found, [each.name for each in called]) == (None, [name])
    assert handle(outcome(name), handlers()) == name


@pytest.mark.parametrize("name", ENDINGS)
def test_handler_that_is_missing_is_named_when_handlers_are_made(name: str) -> None:
    given = {each: name_of for each in ENDINGS if each != name}
    make: Any = Handlers
    with pytest.raises(MisuseError, match=f"missing: {name}$"):
        make(**given)


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"refused": "a text"}, "refused must be a function"), ({"refusal": name_of}, "no ending: refusal")],
)
def test_handler_that_is_none_is_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        handlers(**changed)


def test_handlers_without_names_are_refused() -> None:
    make: Any = Handlers
    with pytest.raises(MisuseError, match="by the name of its ending"):
        make(name_of)


def test_handlers_can_be_copied_replaced_and_pickled() -> None:
    made = handlers()
    assert copy.copy(made) == copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert replace(made, refused=len).refused is len
    kind: Any = Handlers[int, None, str]
    assert kind(**dict.fromkeys(ENDINGS, name_of)) == made


@pytest.mark.parametrize("given", [None, "refused", Ending])
def test_what_is_no_outcome_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError, match="outcome must be an outcome"):
        handle(given, handlers())


@pytest.mark.anyio
async def test_async_handlers_are_awaited_by_the_caller() -> None:
    async def later(ending: Any) -> str:
        return f"{ending.name} later"

    backend = ScriptedBackend([{"text": "7"}, {"finish": "stop"}])
    async with Client(backends={"scripted": backend}) as client:
        found = await client.generate_structured("scripted", int, prompt="a number")
    assert await handle(found, handlers(committed=later)) == "committed later"


@pytest.mark.anyio
async def test_block_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    await run_blocks(blocks_of("outcomes.md"), "outcomes_page")
    assert capsys.readouterr().out.splitlines() == ["7 days", "I will not count", "ask again in a while"]


COMPLETE = ", ".join(f"{name}=lambda it: it.summary()" for name in ENDINGS)
LACKING = ", ".join(f"{name}=lambda it: it.summary()" for name in ENDINGS if name != "in_doubt")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (f"h: Handlers[int, None, str] = Handlers({COMPLETE})\n", None),
        (f"h: Handlers[int, None, str] = Handlers({LACKING})\n", 'missing for parameter "in_doubt"'),
        (
            f"h: Handlers[int, None, str] = Handlers({LACKING}, in_doubt=lambda it: 3)\n",
            '"int" is not assignable to "str"',
        ),
        (f"h: Handlers[int, None, str] = Handlers({LACKING}, in_doubt=lambda it: it.text)\n", "text"),
        (
            f"h: Handlers[int, None, str] = Handlers({COMPLETE})\n"
            "def f(o: Outcome[int, None]) -> str:\n    return handle(o, h)\n"
            "def g(o: Outcome[str, None]) -> str:\n    return handle(o, h)\n",
            '"str" is not assignable to "int"',
        ),
    ],
)
def test_type_checker_decides(tmp_path: Path, made: str, told: str | None) -> None:
    text = f"from commitgate import Outcome\nfrom commitgate.endings import Handlers, handle\n{made}"
    (tmp_path / "it.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == (0 if told is None else 1), done.stdout
    assert told is None or told in done.stdout
