"""The page about masks: its block runs as it stands, its figures are those of the code."""

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate_local import engine

PAGE = (DOCS / "masks.md").read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_block_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    await run_blocks(blocks_of("masks.md"), "masks_guide")
    words, count = capsys.readouterr().out.splitlines()
    assert words == "'false' or 'true' (at /properties/ok of the schema)"
    assert count == "2 masks worked out"


def test_bounds_on_the_page_are_those_of_the_code() -> None:
    kept, dropped = engine._KEPT_CONTRACTS, engine._DROPPED_CONTRACTS
    assert f"| compiled contracts | {kept} to {kept + dropped} |" in PAGE
    assert f"| masks as handed out | `cache_bytes`, {engine.DEFAULT_CACHE_BYTES >> 20} MiB |" in PAGE
