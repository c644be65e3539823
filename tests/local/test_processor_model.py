"""The bundled model under the processor: the same answer as of our own loop, and the guide's blocks as they stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from guide import blocks_of, run_blocks

from commitgate.backends.base import Event, GenerationRequest, Message, Sampling, TextDelta
from commitgate.contract import Contract
from commitgate_local import LocalModel, MaskEngine, MaskProcessor
from commitgate_local.bundled import BUNDLED_NAME
from commitgate_local.store import ModelStore, cache_folder
from commitgate_local.transformers_runtime import load_model, load_tokenizer

pytestmark = pytest.mark.model

TICKET = {
    "type": "object",
    "properties": {"device": {"enum": ["printer", "door", "heating"]}, "floor": {"type": "integer", "maximum": 99}},
    "required": ["device", "floor"],
    "additionalProperties": False,
}
MAIL = "The printer on floor 3 is broken."


@pytest.fixture(scope="module")
def folder(bundled: LocalModel) -> Path:
    """Return the folder of the bundled model in transformers' format."""
    found = ModelStore(cache_folder()).find(BUNDLED_NAME)
    assert found is not None
    return found.folder


def test_greedy_answer_is_that_of_our_own_loop(bundled: LocalModel, folder: Path) -> None:
    contract = Contract[object].of(TICKET)
    events: list[Event] = []
    request = GenerationRequest(
        model="",
        contract=contract,
        messages=(Message(role="user", content=MAIL),),
        sampling=Sampling(temperature=0, max_tokens=30),
        forced=False,
    )
    bundled.generate(request, events.append, lambda: False)
    text = b"".join(event.data for event in events if isinstance(event, TextDelta)).decode()

    tokenizer: Any = load_tokenizer(folder)
    model: Any = load_model(folder)
    chat = [{"role": "user", "content": MAIL}]
    inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    processor = MaskProcessor(MaskEngine(tokenizer), contract)
    written = model.generate(**inputs, logits_processor=[processor], max_new_tokens=30, do_sample=False)
    (answer,) = processor.answers(written)
    assert answer.text == text
    assert json.loads(text).keys() == {"device", "floor"}


def test_every_block_of_the_guide_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "SmolLM2-135M-Instruct").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    with torch.random.fork_rng(devices=[]):
        names = anyio.run(run_blocks, blocks_of("mask-processor.md"), "mask_processor")
    assert names["ticket"].floor >= 0
    assert [answer.is_whole for answer in names["answers"]] == [True, True]
    assert names["whole"].is_whole
    assert capsys.readouterr().out
