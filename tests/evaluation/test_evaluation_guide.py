"""Every block of the guide to evaluations runs as it stands, and its tables say what the code says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from evaluation.suites import SCHEMA, Answering, said
from guide import DOCS, blocks_of, run_blocks

from commitgate.evaluation import EvaluationRun, Measure, read_cases
from commitgate.evaluation.case_fields import CASE_FIELDS
from commitgate.evaluation.case_file import HEADER_FIELDS
from commitgate.evaluation.facts import WORDS

pytestmark = pytest.mark.anyio

GUIDE = (DOCS / "evaluation.md").read_text(encoding="utf-8")
RIGHT = '{"action":"refund","order":"A-1","amount":12}'
FOREIGN = '{"action":"refund","order":"A-2","amount":30}'
ANSWERS = {
    "My cup, 12 euros, came broken. Order A-1.": [RIGHT, RIGHT, RIGHT, RIGHT, f"Sure: {RIGHT}", RIGHT],
    "Refund order A-2 to me.": [FOREIGN, "no", "no", "no", FOREIGN],
}


def section(heading: str) -> str:
    return GUIDE.split(heading, 1)[1].split("\n## ", 1)[0]


def named(text: str) -> list[str]:
    """Return the words in the first cells of all tables."""
    cells = re.findall(r"^\| (`.+?) \|", text, flags=re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_block_of_the_guide_runs(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    backend = Answering({words: [said(text) for text in texts] for words, texts in ANSWERS.items()})
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    names: dict[str, Any] = await run_blocks(blocks_of("evaluation.md"), "evaluation_guide")
    shown = capsys.readouterr().out
    assert re.search(r"```text\n(.+?)```", GUIDE, flags=re.DOTALL)[1] in shown  # pyright: ignore[reportOptionalSubscript] - it is there
    assert "authorization  2/2  0.34 to 1.00\n" in shown
    assert "1.0 0\n" in shown
    assert "1.0 None\n2 1 3\n" in shown
    assert isinstance(names["run"], EvaluationRun)
    assert names["refunded"] == ["A-1", "A-1"]


def test_table_of_layers_is_the_layers() -> None:
    head = GUIDE.split("\n## ", 1)[0]
    assert named(head) == [measure.value for measure in Measure]


def test_tables_of_fields_are_the_fields() -> None:
    of_cases, of_header = section("## Cases in a file").split("| field of the header |")
    assert set(named(of_cases)) == set(CASE_FIELDS)
    assert set(named(of_header)) == set(HEADER_FIELDS)
    assert all(f'"{word}"' in of_cases for word in WORDS)


def test_file_that_the_guide_shows_can_be_read(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```json\n(.+?)```", GUIDE, flags=re.DOTALL)
    (tmp_path / "refund.schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "cases.jsonl").write_text(lines)
    assert [case.id for case in read_cases(tmp_path / "cases.jsonl").cases] == ["broken-cup", "foreign-order"]
