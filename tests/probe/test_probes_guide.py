"""The page about probes says what there is, and its block runs."""

import re
from pathlib import Path

import pytest
from guide import DOCS, blocks_of, run_blocks
from probe.scripted_server import ScriptedServer, obeying

from commitgate.backends.dialects.table import DIALECTS
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.probe import CODES
from commitgate.probe import ProbeStore, Verdict
from commitgate.probe.plan import plan
from commitgate.probe.running import MOST_REQUESTS
from commitgate.probe.standing import UNVERSIONED_HOURS, VERSIONED_DAYS
from commitgate.probe.store import MOST_REPORTS

PAGE = (DOCS / "probes.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> list[str]:
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])]


def test_page_lists_every_probe_in_its_order() -> None:
    planned = [step.name for step in plan(DIALECTS["commitgate_chat"]().facts, trials=2)]
    assert first_cells("What each probe sends") == planned
    for make in DIALECTS.values():
        assert {step.name for step in plan(make().facts, trials=2)} <= set(planned)


def test_page_lists_every_verdict() -> None:
    assert first_cells("What an answer proves") == [str(verdict) for verdict in Verdict]


def test_page_names_the_codes_and_the_bounds() -> None:
    assert {verdict: int(code) for verdict, code in CODES.items()} == {
        "enforced": 0,
        "not_enforced": 28,
        "partial": 29,
        "unknown": 30,
    }
    assert ExitCode.NOT_PROVEN == 30
    for words in (
        f"At most {MOST_REQUESTS}\nrequests",
        f"older than {VERSIONED_DAYS} days, or than {UNVERSIONED_HOURS} hours",
        f"at most {MOST_REPORTS} of them",
    ):
        assert words in PAGE


@pytest.mark.anyio
async def test_block_runs_as_it_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMMITGATE_PROBES", str(tmp_path))
    names = await run_blocks(blocks_of("probes.md"), "probes")
    assert await names["prove"](ScriptedServer(), "m") is True
    assert await names["prove"](ScriptedServer(write=obeying), "m") is False
    assert "enum dropped" in capsys.readouterr().out
    found = ProbeStore().find("vllm_chat", "http://server.test/v1", "m").report
    assert found is not None
    assert found.verdict == "not_enforced"
