"""The page on the adversarial set says what the code says, and its blocks run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from evaluation.adversarial_backends import Obedient
from evaluation.adversarial_results import NAMES, TITLES, tables
from guide import DOCS, blocks_of, run_blocks

from commitgate.evaluation.adversarial import GROUPS, VERDICTS, checks

pytestmark = pytest.mark.anyio

GUIDE = (DOCS / "adversarial.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> list[str]:
    section = GUIDE.split(heading, 1)[1].split("\n\n", 2)[1]
    return [row.strip("|").split("|")[0].strip().strip("`") for row in section.splitlines()[2:]]


async def test_every_block_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", Obedient)
    names: dict[str, Any] = await run_blocks(blocks_of("adversarial.md"), "adversarial_guide")
    assert len(names["report"].of("passed")) > 30


def test_tables_name_every_group_and_verdict() -> None:
    assert tuple(first_cells("--update-ratchet")) == GROUPS
    assert tuple(first_cells("What a check came to:")) == VERDICTS


def test_number_of_checks_is_about_right() -> None:
    told = re.search(r"Some (\d+) checks", GUIDE)
    assert told is not None
    assert abs(int(told[1]) - len(checks())) < 20


def test_results_are_of_checks_that_there_are_and_every_failure_is_explained() -> None:
    known = {each.id for each in checks()}
    results, reasons = GUIDE.split("Why the failures:")
    rows = [line.split("|") for line in results.split("<!-- tables: begin -->")[1].splitlines() if "`" in line]
    failed = {(row[1].strip(), row[2].strip().strip("`")) for row in rows if row[3].strip() == "failed"}
    unpassed = {row[2].strip().strip("`") for row in rows if "/" in row[2]}
    assert unpassed
    assert unpassed <= known
    for title, name in failed:
        assert any(title in line and f"`{name}`" in line for line in reasons.splitlines()), (title, name)
    assert all(TITLES[name] in results for name in NAMES)


def test_tables_are_made_of_reports() -> None:
    check = {"id": "values/a", "group": "values", "verdict": "failed", "reason": "why", "ending": "", "time_s": 2.4}
    counts = {"values": {"passed": 0, "failed": 1, "skipped": 0}}
    lines = tables({"vllm": {"counts": counts, "checks": [check]}}).splitlines()
    assert "| vLLM | values | 0 | 1 | 0 | 2 |" in lines
    assert "| vLLM | `values/a` | failed |  | why |" in lines
