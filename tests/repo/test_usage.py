"""Every block of the guide runs as it stands; a script answers in place of the bundled model."""

import ast
import inspect
import re
import types
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest

from commitgate import Committed
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

GUIDE = Path(__file__).parents[2] / "docs" / "usage.md"
BLOCKS: list[str] = re.findall(r"```python\n(.+?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
TICKET: list[Step] = [{"text": '{"priority":"high",'}, {"text": '"summary":"The pump leaks"}'}, {"finish": "stop"}]


async def run_blocks() -> dict[str, object]:
    """Run the blocks one after another in one namespace, and return it."""
    names: dict[str, object] = {"__name__": "usage"}
    for number, block in enumerate(BLOCKS):
        program = compile(block, f"block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        # What has `await` at its top gives a coroutine when it is called; the rest runs at once.
        result = types.FunctionType(program, names)()
        if inspect.isawaitable(result):
            await result
    return names


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedBackend:
    """Let a script answer for the local model, and let files be written into a folder of the test."""
    backend = ScriptedBackend(TICKET, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.chdir(tmp_path)
    return backend


async def test_every_block_of_the_guide_runs(local: ScriptedBackend) -> None:
    names = await run_blocks()
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 1
    for test in tests:
        await cast("Callable[[], Awaitable[None]]", test)()
    outcome = names["outcome"]
    assert isinstance(outcome, Committed)
    assert str(outcome.result).startswith("ticket ")
    assert len(local.requests) == 5
    assert local.open_streams == 0
