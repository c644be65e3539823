"""Every block of the guide to tools runs as it stands, and its tables say what the code says."""

import re
from typing import get_args

import pytest
from guide import DOCS, blocks_of, run_blocks
from till import answering, calling

from commitgate import Committed
from commitgate.testing import ScriptedBackend
from commitgate.tools import ToolKind

pytestmark = pytest.mark.anyio

GUIDE = (DOCS / "tools.md").read_text(encoding="utf-8")
SCRIPTS = [
    calling(("find_order", '{"number":"A-1"}')),
    calling(("refund", '{"order":"A-1","amount":80.00}')),
    answering("It is refunded."),
    calling(("find_order", '{"number":"A-2"}')),
    answering("20.00"),
    calling(("find_order", '{"number":"A-2"}')),
    answering("20.00"),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_block_of_the_guide_runs(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    backend = ScriptedBackend(SCRIPTS[0], then=SCRIPTS[1:], name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.setenv("COMMITGATE_LEDGER", f"{tmp_path}/ledger.db")
    names = await run_blocks(blocks_of("tools.md"), "tools_guide")
    assert isinstance(names["outcome"], Committed)
    assert names["turn"].answer == "20.00"
    assert len(backend.requests) == len(SCRIPTS)
    shown = capsys.readouterr().out
    assert (
        "It is refunded. [('find_order', {'number': 'A-1', 'price': '80.00'}), ('refund', 'refunded 80.00')]" in shown
    )
    assert "find_order ended as committed" in shown


def test_table_of_kinds_names_every_kind() -> None:
    section = GUIDE.split("## Tools", 1)[1].split("\n## ", 1)[0]
    kinds = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert kinds == list(get_args(ToolKind))
