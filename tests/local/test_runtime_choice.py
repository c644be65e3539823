"""The precision taken by itself is chosen with a margin, remembered where that is possible, and always tried."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import torch
import transformers

from commitgate_local.runtime import Row, make_runtime
from commitgate_local.runtime.precision import Precision
from commitgate_local.runtime.remembered import RememberedPrecision
from commitgate_local.runtime.speed import WORTH, measured, preferred

WORDS: tuple[Precision, ...] = ("float32", "bfloat16", "int8")


def made(seed: int = 1, layers: int = 2) -> torch.nn.Module:
    config = transformers.LlamaConfig(
        vocab_size=300,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.2,
        pad_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    return made()


def other_than(word: str) -> Precision:
    return next(other for other in WORDS if other != word)


@pytest.mark.parametrize(
    ("times", "taken"),
    [
        ((10.0, 10.0 / WORTH, 10.0 / WORTH), "bfloat16"),
        ((10.0, 10.0 / WORTH + 0.01, 10.0 / WORTH + 0.01), "float32"),
        ((10.0, 9.9, 5.0), "int8"),
        ((10.0, 5.0, 5.0 / WORTH + 0.01), "bfloat16"),
        ((10.0, 5.0, 5.0 / WORTH - 0.01), "int8"),
        ((1.0, 9.0, 9.0), "float32"),
    ],
)
def test_less_exact_precision_is_taken_only_where_it_is_faster_by_the_margin(
    times: tuple[float, float, float], taken: str
) -> None:
    assert preferred(dict(zip(WORDS, times, strict=True))) == taken


def test_each_precision_is_timed(model: torch.nn.Module) -> None:
    times = measured(model, list(WORDS))
    assert set(times) == set(WORDS)
    assert all(0.0 < taken < float("inf") for taken in times.values())


def test_timing_leaves_the_draws_of_the_caller_alone(model: torch.nn.Module) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        wanted = torch.rand(4)
        torch.manual_seed(3)
        make_runtime(model, slots=1)
        assert torch.equal(torch.rand(4), wanted)


@pytest.mark.parametrize("word", WORDS)
def test_remembered_precision_is_taken_again(model: torch.nn.Module, tmp_path: Path, word: Precision) -> None:
    RememberedPrecision(tmp_path, model).put(word)
    assert make_runtime(model, slots=1, remembered=tmp_path).precision == word


def test_choice_is_remembered(model: torch.nn.Module, tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    taken = make_runtime(model, slots=1, remembered=folder).precision
    assert RememberedPrecision(folder, model).get(WORDS) == taken


def test_precision_that_is_asked_for_is_not_remembered(model: torch.nn.Module, tmp_path: Path) -> None:
    make_runtime(model, precision="bfloat16", slots=1, remembered=tmp_path)
    assert not list(tmp_path.iterdir())


def test_asked_precision_comes_before_the_remembered_one(model: torch.nn.Module, tmp_path: Path) -> None:
    RememberedPrecision(tmp_path, model).put("int8")
    assert make_runtime(model, precision="float32", slots=1, remembered=tmp_path).precision == "float32"


@pytest.mark.parametrize("broken", [b"", b"no such file", None])
def test_broken_file_is_as_good_as_none(model: torch.nn.Module, tmp_path: Path, broken: bytes | None) -> None:
    memory = RememberedPrecision(tmp_path, model)
    memory.put("int8")
    (file,) = tmp_path.iterdir()
    held = file.read_bytes()
    for bad in [held[:place] for place in range(0, len(held), 7)] if broken is None else [broken]:
        file.write_bytes(bad)
        assert memory.get(WORDS) is None
    # Another precision written in place of the first, without the right digest.
    file.write_bytes(held.replace(b"int8", b"auto"))
    assert memory.get(WORDS) is None
    taken = make_runtime(model, slots=1, remembered=tmp_path).precision
    assert memory.get(WORDS) == taken


def test_word_that_cannot_run_here_is_not_taken(model: torch.nn.Module, tmp_path: Path) -> None:
    RememberedPrecision(tmp_path, model).put("float16")
    assert make_runtime(model, slots=1, remembered=tmp_path).precision in WORDS


def test_other_weights_layers_or_threads_have_a_memory_of_their_own(model: torch.nn.Module, tmp_path: Path) -> None:
    RememberedPrecision(tmp_path, model).put("int8")
    assert RememberedPrecision(tmp_path, made(seed=2)).get(WORDS) is None
    assert RememberedPrecision(tmp_path, made(layers=1)).get(WORDS) is None
    assert RememberedPrecision(tmp_path, made()).get(WORDS) == "int8"
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        assert RememberedPrecision(tmp_path, model).get(WORDS) is None
    finally:
        torch.set_num_threads(threads)


def test_model_on_another_device_has_a_memory_of_its_own(model: torch.nn.Module, tmp_path: Path) -> None:
    RememberedPrecision(tmp_path, model).put("int8")
    moved = made()
    moved.model.embed_tokens.to("meta")
    assert RememberedPrecision(tmp_path, moved).get(WORDS) is None


def test_folder_that_cannot_be_written_is_no_failure(model: torch.nn.Module, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"in the way")
    runtime = make_runtime(model, slots=1, remembered=file)
    assert runtime.step([Row(0, 0, [1, 2, 3])]).shape == (1, 300)


def test_remembered_precision_that_loses_too_much_is_replaced(tmp_path: Path) -> None:
    model = made()
    # One huge weight in each row of a layer leaves no steps for the others in one byte.
    for layer in model.model.layers:
        layer.mlp.up_proj.weight.data[:, 0] = 3000.0
        layer.post_attention_layernorm.weight.data[0] = 0.0
    memory = RememberedPrecision(tmp_path, model)
    memory.put("int8")
    taken = make_runtime(model, slots=1, remembered=tmp_path).precision
    assert taken != "int8"
    assert memory.get(WORDS) == taken


@pytest.mark.parametrize("precision", ["auto", *WORDS])
def test_own_runtime_lets_go_of_the_model(precision: str) -> None:
    model = made()
    alive = weakref.ref(model)
    runtime = make_runtime(model, precision=precision, slots=1)
    del model
    gc.collect()
    assert alive() is None
    assert runtime.step([Row(0, 0, [1, 2, 3])]).shape == (1, 300)
