"""The guide's blocks run as they stand, against a real server; its tables are those of the code."""

import re
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from guide import DOCS, blocks_of, run_blocks
from served_app import served

from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.serve import TOKEN_VARIABLE
from commitgate.testing import ScriptedBackend
from commitgate_local.engine import MaskEngine
from commitgate_local.scheduler import SchedulerStats
from commitgate_local.server.metrics import ServerMetrics
from commitgate_local.server.model_gauges import model_gauges
from commitgate_local.server.model_list import ServedModel
from commitgate_local.vocabulary import Vocabulary

PAGE = (DOCS / "serve.md").read_text(encoding="utf-8")
TEXT = [{"text": "Oslo."}, {"finish": "stop"}]


@pytest.fixture
def anyio_backend() -> str:
    """Run under asyncio alone: the official client's own transport needs it."""
    return "asyncio"


@pytest.mark.anyio
async def test_blocks_run_as_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    backend = ScriptedBackend([{"text": '{"city": "Oslo"}'}, {"finish": "stop"}], then=[TEXT])
    with served(backend, models=[ServedModel(name="local", created=0)]) as server:
        await run_blocks([f"url = {server.url + '/v1'!r}", *blocks_of("serve.md")], "serve_guide")
    assert capsys.readouterr().out == "city='Oslo'\n"
    assert len(backend.requests) == 2


def test_exit_codes_are_those_of_the_command_line() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)}
    names = ("COMMITTED", "USAGE", "MISSING_EXTRA", "MODEL_UNAVAILABLE", "UNWRITTEN")
    assert documented == {int(ExitCode[name]) for name in names}


def resting_model() -> Any:
    """Return what the gauges ask of a model."""
    stats = SchedulerStats(*(0 for _ in fields(SchedulerStats)))
    return SimpleNamespace(stats=lambda: stats, slots=1, engine=MaskEngine(Vocabulary([b"a"])))


def test_names_on_the_page_are_in_the_code() -> None:
    assert TOKEN_VARIABLE in PAGE
    text = ServerMetrics().text(model_gauges(resting_model()))
    named = set(re.findall(r"`(commitgate_\w+)`", PAGE)) - {"commitgate_local"}
    assert {name for name in named if name not in text} == set()
