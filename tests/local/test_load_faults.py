"""A model, a tokenizer or a disk that is no good is refused when it is loaded, with the reason; or does no harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_gguf import save_gguf

from commitgate import Client, Contract
from commitgate.backends.base import Event, Finish, GenerationRequest, Message
from commitgate.backends.local import LocalBackend
from commitgate.errors import ModelLoadError
from commitgate.ledger import MemoryLedger
from commitgate_local import models
from commitgate_local.local_model import LocalModel
from commitgate_local.store import ModelStore

SCHEMA: dict[str, Any] = {"enum": ["low", "high"]}


def is_well(model: LocalModel) -> bool:
    events: list[Event] = []
    contract = Contract.json_schema(SCHEMA)
    model.generate(
        GenerationRequest(model="", contract=contract, messages=(Message("user", "a"),)), events.append, lambda: False
    )
    return isinstance(events[-1], Finish) and events[-1].native == "accept"


def copied(source: Path, target: Path, **changes: Callable[[Any], Any]) -> Path:
    """Copy a model folder; each change names a JSON file without its ending, and makes of its contents what stands."""
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        data = path.read_bytes()
        if (change := changes.get(path.stem)) is not None and path.suffix == ".json":
            data = json.dumps(change(json.loads(data))).encode()
        (target / path.name).write_bytes(data)
    return target


def put(name: str, value: Any) -> Callable[[Any], Any]:
    return lambda held: {**held, name: value}


def test_gguf_file_of_these_tests_is_a_model(tiny_folder: Path, tmp_path: Path) -> None:
    save_gguf(tiny_folder, tmp_path / "tiny.gguf")
    model = LocalModel.load(str(tmp_path / "tiny.gguf"), cache_dir=tmp_path / "cache")
    assert model.engine.vocabulary.tokens[3:300] == LocalModel.load(str(tiny_folder)).engine.vocabulary.tokens[3:300]
    assert is_well(model)


@pytest.mark.parametrize("part", range(4))
def test_gguf_file_cut_anywhere_is_refused_and_leaves_nothing(tiny_folder: Path, tmp_path: Path, part: int) -> None:
    save_gguf(tiny_folder, tmp_path / "tiny.gguf")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    offsets = [*range(0, 40, 5), *range(0, len(whole), len(whole) // 40), *(len(whole) - left for left in (1, 32, 33))]
    store = ModelStore(tmp_path / "cache")
    for offset in offsets[part::4]:
        path = tmp_path / f"cut{offset}.gguf"
        path.write_bytes(whole[:offset])
        with pytest.raises(ModelLoadError, match="cut"):
            models.load(str(path), store=store)
        path.unlink()
    assert list((tmp_path / "cache" / "models").iterdir()) == []


@pytest.mark.anyio
async def test_cut_gguf_file_raises_from_the_call_and_the_next_model_is_used(tiny_folder: Path, tmp_path: Path) -> None:
    save_gguf(tiny_folder, tmp_path / "tiny.gguf")
    path = tmp_path / "cut.gguf"
    path.write_bytes((tmp_path / "tiny.gguf").read_bytes()[:-1000])
    backend = LocalBackend(load=lambda name: LocalModel.load(name, cache_dir=tmp_path / "cache"))
    async with Client(backends={"local": backend}, ledger=MemoryLedger()) as client:
        with pytest.raises(ModelLoadError):
            await client.generate_structured(f"local/{path}", SCHEMA, prompt="a")
        outcome = await client.generate_structured(f"local/{tiny_folder}", SCHEMA, prompt="a")
    assert outcome.name == "committed"
