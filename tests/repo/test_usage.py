"""Every block of the guide runs as it stands; a script answers in place of the bundled model."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest
from guide import blocks_of, run_blocks

from commitgate import Committed
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

BLOCKS = blocks_of("usage.md")
TICKET: list[Step] = [{"text": '{"priority":"high",'}, {"text": '"summary":"The pump leaks"}'}, {"finish": "stop"}]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedBackend:
    """Let a script answer for the local model, and let files be written into a folder of the test."""
    backend = ScriptedBackend(TICKET, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.chdir(tmp_path)
    return backend


async def test_every_block_of_the_guide_runs(local: ScriptedBackend) -> None:
    names = await run_blocks(BLOCKS, "usage")
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 1
    for test in tests:
        await cast("Callable[[], Awaitable[None]]", test)()
    outcome = names["outcome"]
    assert isinstance(outcome, Committed)
    assert str(outcome.result).startswith("ticket ")
    assert len(local.requests) == 5
    assert local.open_streams == 0
