"""The guide to thinking models runs as it stands; its table is that of the code."""

import re
from dataclasses import fields

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate import Reasoning
from commitgate.reasoning import END_MARK, MAX_MARK_BYTES
from commitgate.testing import ScriptedBackend, Step

PAGE = (DOCS / "reasoning.md").read_text(encoding="utf-8")
ANSWER: list[Step] = [{"reasoning": "5 - 3"}, {"text": '{"coins":2}'}, {"usage": [40, 15, 9]}, {"finish": "stop"}]


@pytest.mark.anyio
async def test_block_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = ScriptedBackend(ANSWER, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    names = await run_blocks(blocks_of("reasoning.md"), "reasoning_guide")
    assert names["change"].coins == 2
    assert names["thought"] == 9
    assert backend.requests[0].reasoning == Reasoning(max_tokens=48, begin="<think>\n")


def test_table_has_every_field_and_the_bound_of_marks() -> None:
    table = PAGE.split("| field of `Reasoning` |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == [entry.name for entry in fields(Reasoning)]
    assert f"| `end` | `{END_MARK}` |" in table
    assert Reasoning(max_tokens=0).gap == "\n\n"
    assert f"at most {MAX_MARK_BYTES} bytes each" in PAGE
