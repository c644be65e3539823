"""Every block of the guides to effects and approvals runs as it stands; a script answers for the bundled model."""

import re
from pathlib import Path

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.effect_kind import EffectKind
from commitgate.run.ending import APPROVAL_EXPIRED, REJECTED_BY_PERSON
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio


def answer(text: str) -> list[Step]:
    return [{"text": text[:9]}, {"text": text[9:]}, {"finish": "stop"}]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> ScriptedBackend:
    """Let a script answer for the local model, and let files be written into a folder of the test."""
    first, *rest = map(answer, request.param)
    backend = ScriptedBackend(first, then=rest, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.chdir(tmp_path)
    return backend


@pytest.mark.parametrize(
    "scripted", [['{"invoice":"R-4711","cents":12000}', '{"invoice":"R-0815","cents":20000}']], indirect=True
)
async def test_every_block_of_the_guide_to_approvals_runs(
    scripted: ScriptedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    names = await run_blocks(blocks_of("approvals.md"), "approvals")
    assert names["PAID"] == ["R-4711"]
    assert len(scripted.requests) == 2
    shown = capsys.readouterr().out
    assert 'mail-17 refunds above 100.00 need a second pair of eyes {"invoice":"R-4711","cents":12000}' in shown
    assert "refund of 12000 1" in shown


ORDER = '{"item":"pump","pieces":2}'


@pytest.mark.parametrize("scripted", [[ORDER, '{"item":"pump","pieces":40}', ORDER]], indirect=True)
async def test_every_block_of_the_guide_to_effects_runs(
    scripted: ScriptedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    await run_blocks(blocks_of("effects.md"), "effects")
    assert len(scripted.requests) == 6
    assert capsys.readouterr().out == "0 {} ()\n"


def test_table_of_kinds_names_every_kind() -> None:
    page = (DOCS / "effects.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `@(\w+)` ", page, flags=re.MULTILINE) == list(EffectKind)


def test_table_of_codes_names_those_of_decisions() -> None:
    page = (DOCS / "approvals.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` ", page, flags=re.MULTILINE) == [REJECTED_BY_PERSON, APPROVAL_EXPIRED]
