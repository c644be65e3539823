"""Every block of the guide to checks runs as it stands, and its tables say what the code says."""

import re
from pathlib import Path

import pytest
from guide import blocks_of, run_blocks

from commitgate import Invalid, Layer
from commitgate.gate import asking, content, deliberation, hidden_characters, rules
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

GUIDE = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
REFUND = '{"invoice":"R-4711","cents":12000,"bought":"2026-11-02","shipped":"2026-11-03","note":"it broke"}'
ANSWER: list[Step] = [{"text": REFUND[:40]}, {"text": REFUND[40:]}, {"finish": "stop"}]


def cells(heading: str) -> list[list[str]]:
    section = GUIDE.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


async def test_every_block_of_the_guide_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = ScriptedBackend(ANSWER, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    names = await run_blocks(blocks_of("checks.md"), "checks")
    outcome = names["outcome"]
    assert isinstance(outcome, Invalid)
    assert [failure.code for failure in outcome.failures] == ["no_such_invoice"]
    shown = capsys.readouterr().out
    assert f"refunds above 100.00 need a second pair of eyes {REFUND}" in shown
    assert "{'type': 'object', 'properties': {'cents': {'type': 'integer'}}, 'required': ['cents']}" in shown


def test_table_of_the_order_names_every_layer_in_it() -> None:
    first = [row[0] for row in cells("The order")]
    assert re.findall(r"`(\w+)`", " ".join(first)) == list(Layer)


def test_table_of_broken_checks_names_every_code() -> None:
    assert [row[1].strip("`") for row in cells("A check that breaks")[2:]] == [
        rules.RULE_ERROR,
        content.CONTENT_ERROR,
        deliberation.EVIDENCE_ERROR,
        deliberation.AUTHORIZE_ERROR,
        deliberation.APPROVE_ERROR,
        asking.NOT_COPYABLE,
    ]


def test_table_of_hidden_characters_names_every_code() -> None:
    named = {row[0].strip("`") for row in cells("Content")}
    assert hidden_characters.WANTED.keys() <= named
