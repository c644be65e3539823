"""The page on looking over before a launch runs as it stands, and its tables say what the code says."""

import re
from pathlib import Path

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.cli.exit_codes import ExitCode
from commitgate.preflight import CHECKS
from commitgate.preflight.trial_checks import LEAST_LEGAL_MASS

PAGE = (DOCS / "preflight.md").read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_every_block_of_the_guide_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COMMITGATE_LEDGER", str(tmp_path / "ledger.sqlite"))
    names = await run_blocks(blocks_of("preflight.md"), "preflight_guide")
    (shown,) = re.findall(r"```text\n(.+?)```", PAGE, flags=re.DOTALL)
    assert capsys.readouterr().out == shown
    assert names["report"].verdict == "failed"
    assert names["page"].startswith("<!doctype html>")


def test_table_of_the_checks_is_the_list() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, flags=re.MULTILINE)
    assert [(id, about.strip()) for id, about in rows] == [(each.id, each.about) for each in CHECKS.values()]


def test_numbers_of_the_page_are_those_of_the_code() -> None:
    assert f"legal mass of a call is below {LEAST_LEGAL_MASS}" in PAGE
    assert f"| {ExitCode.PREFLIGHT_FAILED.value} | at least one check failed |" in PAGE
    assert f"| {ExitCode.PREFLIGHT_WARNED.value} | with `--strict`" in PAGE
