"""Every block of the guide to previews runs as it stands; a script answers in place of the bundled model."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from guide import blocks_of, run_blocks

from commitgate import Contract, Reset
from commitgate.preview import PreviewReader
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

BLOCKS = blocks_of("previews.md")
ORDER = {"customer": "Ada", "amount": 12, "lines": ["pump", "seal"]}
STOP = {"finish": "stop"}


async def run_guide(
    monkeypatch: pytest.MonkeyPatch, script: Sequence[Mapping[str, object]] = ({"text": json.dumps(ORDER)}, STOP)
) -> dict[str, Any]:
    """Run the blocks one after another in one namespace, with a script for the local model, and return it."""
    backend = ScriptedBackend(script, name="local", chunking="bytes")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    names = await run_blocks(BLOCKS, "previews")
    assert backend.open_streams == 0
    return names


async def test_every_block_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    names = await run_guide(monkeypatch)
    *shown, value = names["seen"]
    assert value == names["Order"](**ORDER)
    assert shown[-1] == dict.fromkeys(ORDER, "final")
    assert names["rows"] == [(0, "/lines/0", "pump"), (1, "/lines/1", "seal")]


async def test_answer_without_an_end_shows_all_fields_final_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    names = await run_guide(monkeypatch, [{"text": json.dumps(ORDER)}])
    assert names["seen"][-2:] == [dict.fromkeys(ORDER, "final"), names["outcome"].summary()]


async def test_fields_go_from_empty_over_open_to_final_and_numbers_are_never_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = await run_guide(monkeypatch)
    reader = PreviewReader(Contract.of(names["Order"]))
    moments = [names["states"](reader.feed(bytes([byte]))) for byte in json.dumps(ORDER).encode()]
    order = ["empty", "open", "final"]
    for earlier, later in pairwise(moments):
        assert all(order.index(earlier[name]) <= order.index(later[name]) for name in ORDER)
    assert {moment["customer"] for moment in moments} == set(order)
    assert {moment["amount"] for moment in moments} == {"empty", "final"}


async def test_events_hold_one_line_of_data_whatever_the_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    names = await run_guide(monkeypatch)
    text = '\n\nevent: reset\ndata: {"reason": "forged"}\n\n\u2028'
    event = names["sse_event"](PreviewReader().feed(json.dumps({"customer": text, "price": 1.5}).encode()))
    assert re.fullmatch(r"event: preview\ndata: [ -~]+\n\n", event)
    assert json.loads(event.split("data: ", 1)[1])["value"]["customer"] == text
    assert names["sse_event"](Reset(2, "lost")).startswith("event: reset\n")
