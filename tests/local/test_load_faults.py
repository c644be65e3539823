"""A model, a tokenizer or a disk that is no good is refused when it is loaded, with the reason; or does no harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from local.small_gguf import save_gguf
from local.tiny_model import save_model, save_tokenizer
from transformers import PreTrainedTokenizerFast

from commitgate import Client, Contract
from commitgate.backends.base import Event, Finish, GenerationRequest, Message
from commitgate.backends.local import LocalBackend
from commitgate.errors import ModelLoadError
from commitgate.ledger import MemoryLedger
from commitgate_local import models
from commitgate_local.local_model import LocalModel
from commitgate_local.store import ModelStore

PROGRAM = "from commitgate.cli import main; main()"
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


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_position_embeddings", -5, "holds -5 tokens"),
        ("max_position_embeddings", 0, "holds 0 tokens"),
        ("num_hidden_layers", 3, "lacks 18 of the weights"),
        ("attention_bias", True, "lacks 4 of the weights"),
        ("model_type", "bert", "lacks"),
        ("hidden_size", 64, "cannot be loaded"),
        ("vocab_size", 400, "cannot be loaded"),
    ],
)
def test_configuration_that_is_not_that_of_the_weights_is_refused(
    tiny_folder: Path, tmp_path: Path, name: str, value: Any, said: str
) -> None:
    with pytest.raises(ModelLoadError, match=said):
        LocalModel.load(str(copied(tiny_folder, tmp_path, config=put(name, value))))


@pytest.mark.parametrize(("columns", "is_taken"), [(300, False), (420, True), (4_400, True), (6_000, False)])
def test_tokenizer_is_refused_where_its_size_gives_it_away(tmp_path: Path, columns: int, is_taken: bool) -> None:
    save_tokenizer(tmp_path)
    save_model(tmp_path, vocab_size=columns)
    if is_taken:
        assert is_well(LocalModel.load(str(tmp_path), cache_dir=tmp_path / "cache"))
    else:
        with pytest.raises(ModelLoadError, match="another model's"):
            LocalModel.load(str(tmp_path), cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("number", [2**24 + 1, 2**32 - 1])
def test_tokenizer_with_an_id_beyond_all_others_is_refused_at_once(
    tiny_folder: Path, tmp_path: Path, number: int
) -> None:
    folder = copied(tiny_folder, tmp_path)
    file = folder / "tokenizer.json"
    held = json.loads(file.read_text())
    held["model"]["vocab"]["zzz"] = number
    file.write_text(json.dumps(held))
    with pytest.raises(ModelLoadError, match=f"has the id {number}"):
        LocalModel.load(str(folder), cache_dir=tmp_path / "cache")


@pytest.mark.parametrize(
    ("stops", "is_taken"), [([50], False), ([50, 60], False), ([2, 50], True), ([99_999], True), (None, True)]
)
def test_tokenizer_is_refused_where_the_model_ends_by_its_words(
    tiny_folder: Path, tmp_path: Path, stops: Any, is_taken: bool
) -> None:
    changed = put("eos_token_id", stops)
    folder = copied(tiny_folder, tmp_path, config=changed, generation_config=changed)
    if is_taken:
        assert is_well(LocalModel.load(str(folder)))
    else:
        with pytest.raises(ModelLoadError, match="ordinary text to the tokenizer"):
            LocalModel.load(str(folder))


def test_template_that_writes_ids_unknown_to_the_model_is_refused(tmp_path: Path) -> None:
    save_tokenizer(tmp_path)
    save_model(tmp_path, vocab_size=425)
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    tokenizer.add_tokens([f"<|turn{number}|>" for number in range(20)], special_tokens=True)
    tokenizer.save_pretrained(tmp_path)
    assert is_well(LocalModel.load(str(tmp_path)))
    tokenizer.chat_template = "<|turn19|>" + tokenizer.chat_template
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelLoadError, match="chat template"):
        LocalModel.load(str(tmp_path))


def test_cache_folder_that_is_none_costs_time_alone(tiny_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"in the way")
    model = LocalModel.load(str(tiny_folder), cache_dir=tmp_path / "cache")
    assert is_well(model)
    model.close()
    assert model.engine.stats().folder_error is not None


def test_full_disk_costs_time_alone_and_gets_no_fuller(tiny_folder: Path, tmp_path: Path) -> None:
    with served(tiny_folder, tmp_path / "cache", file_bytes=100) as (_, ask):
        assert ask(SCHEMA) in SCHEMA["enum"]
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_server_says_how_its_model_runs_and_keeps_what_its_schemas_took(tiny_folder: Path, tmp_path: Path) -> None:
    def kept() -> set[str]:
        return {path.name for path in (tmp_path / "cache").rglob("*.arrays")}

    options = ("--precision", "bfloat16", "--max-concurrent", "16")
    with served(tiny_folder, tmp_path / "cache", *options) as (line, ask):
        assert "(llama, bfloat16 on cpu, 16 answers at once of up to 512 tokens each)" in line
        ask({"type": "string", "pattern": "^[a-c]{2,5}x?$"})
        before = kept()
    assert before < kept()


@contextmanager
def served(
    folder: Path, cache: Path, *options: str, file_bytes: int | None = None
) -> Generator[tuple[str, Callable[[Any], object]]]:
    """Serve a model in a process, which may write no larger files; give its first line, and what asks it by a schema.

    It ends in order, or the test fails.
    """
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({file_bytes},) * 2); " if file_bytes else ""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{limit}{PROGRAM}", "serve", str(folder), "--port", "0", "--name", "small", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "COMMITGATE_CACHE": str(cache)},
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()

        def ask(schema: Any) -> object:
            form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
            body = {"model": "small", "messages": [{"role": "user", "content": "a"}], "response_format": form}
            response = httpx.post(f"{line.split()[-1]}/chat/completions", json=body, timeout=60)
            return json.loads(response.json()["choices"][0]["message"]["content"])

        yield line, ask
        process.terminate()
        _, err = process.communicate(timeout=30)
        assert (process.returncode, "Traceback" in err) == (0, False), err
    finally:
        process.kill()
        process.communicate()


def test_disk_that_takes_no_converted_model_is_named(tiny_folder: Path, tmp_path: Path) -> None:
    save_gguf(tiny_folder, tmp_path / "tiny.gguf")
    (tmp_path / "cache").write_bytes(b"in the way")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "serve", str(tmp_path / "tiny.gguf"), "--port", "0"],
        capture_output=True,
        env={**os.environ, "COMMITGATE_CACHE": str(tmp_path / "cache")},
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "COMMITGATE_CACHE" in done.stderr
    assert "Traceback" not in done.stderr
