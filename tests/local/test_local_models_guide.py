"""The page about models on this machine: its blocks run with the bundled model, its figures are those of the code."""

import re

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.backends.local import DECODE_THREADS
from commitgate_local.local_model import PRECISION_VARIABLE, LocalModel
from commitgate_local.runtime import PRECISIONS, SLOTS
from commitgate_local.scheduler import PIECE_TOKENS, WAITING

PAGE = (DOCS / "local-models.md").read_text(encoding="utf-8")


@pytest.mark.anyio
@pytest.mark.model
async def test_blocks_run_as_they_stand(bundled: LocalModel, capsys: pytest.CaptureFixture[str]) -> None:
    await run_blocks(blocks_of("local-models.md"), "local_models_guide")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "committed"
    name, context, in_flight = second.split()
    assert (name, in_flight) == (bundled.identity.model, "0")
    assert int(context) == 8192


def test_precisions_on_the_page_are_those_of_the_code() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)[: len(PRECISIONS)] == [*PRECISIONS[1:], "auto"]
    assert PRECISION_VARIABLE in PAGE


def test_numbers_on_the_page_are_those_of_the_code() -> None:
    assert f"`slots` answers are written at once ({SLOTS})" in PAGE
    assert f"in which they came: {WAITING} at the model" in PAGE
    assert f"a piece of\n{PIECE_TOKENS} tokens" in PAGE
    assert f"at most {DECODE_THREADS} in work" in PAGE
