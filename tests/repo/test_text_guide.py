"""Every block of the guide to texts runs as it stands; a script answers for the bundled model."""

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.run import text_outline
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

ANSWERS = [
    "refund",
    "2027-05-03",
    "5 + 7",
    'OPEN\nSET volume=11\n{"unit": "kg"}\nCLOSE\n',
    '{"kind": "pump"}',
]


def answer(text: str) -> list[Step]:
    return [{"text": text[:3]}, {"text": text[3:]}, {"finish": "stop"}]


async def test_every_block_of_the_guide_to_texts_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *rest = map(answer, ANSWERS)
    backend = ScriptedBackend(first, then=rest, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    await run_blocks(blocks_of("text-contracts.md"), "texts")
    assert len(backend.requests) == len(ANSWERS)
    texts = "\n".join([*ANSWERS[:4], "{'kind': 'pump'}"])
    assert capsys.readouterr().out == f"{texts}\ncompile_failed 9\n"


def test_bounds_on_what_a_model_is_told_are_those_of_the_code() -> None:
    page = (DOCS / "text-contracts.md").read_text(encoding="utf-8")
    assert f"at most {text_outline.LINES} lines and {text_outline.CHARACTERS:,} characters" in page
