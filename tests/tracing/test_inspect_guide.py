"""The page on looking at one generation, run as it stands."""

import pytest
from guide import blocks_of, run_blocks

pytestmark = pytest.mark.anyio


async def test_blocks_run() -> None:
    names = await run_blocks(blocks_of("inspect.md"), "inspect_guide")
    assert names["trace"].outcome == "committed"
