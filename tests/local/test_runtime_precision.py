"""Precisions stay near float32, do not mix rows, and are refused where they cannot run."""

from __future__ import annotations

from typing import cast

import pytest
import torch
import transformers

from commitgate.errors import MisuseError
from commitgate_local.runtime import Row, make_runtime
from commitgate_local.runtime.precision import Precision, pack_linear

VOCABULARY = 300
ERRORS = {"float32": 1e-5, "bfloat16": 0.01, "int8": 0.015}


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.2,
        pad_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return transformers.LlamaForCausalLM(config).eval()


def spread_error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("precision", list(ERRORS))
@pytest.mark.parametrize("rows", [1, 2, 8, 33])
def test_packed_layer_computes_what_the_layer_does(precision: str, rows: int) -> None:
    draw = torch.Generator().manual_seed(2)
    weight, bias = torch.randn(48, 64, generator=draw), torch.randn(48, generator=draw)
    given = torch.randn(rows, 64, generator=draw) * torch.logspace(-3, 3, rows)[:, None]
    found = pack_linear(weight, bias, cast("Precision", precision))(given)
    for one, line in zip(found, given, strict=True):
        assert spread_error(one, torch.nn.functional.linear(line, weight, bias)) < ERRORS[precision]


def test_outlier_of_an_input_does_not_hide_the_rest_in_int8() -> None:
    draw = torch.Generator().manual_seed(3)
    weight, given = torch.randn(48, 64, generator=draw), torch.randn(1, 64, generator=draw)
    given[0, 5] = 200.0
    weight[:, 5] = 0.0
    found = pack_linear(weight, None, "int8")(given)
    assert spread_error(found, torch.nn.functional.linear(given, weight)) < 0.03


def test_rows_of_zeros_stay_zero_in_int8() -> None:
    assert not bool(pack_linear(torch.ones(32, 32), None, "int8")(torch.zeros(2, 32)).any())


@pytest.mark.parametrize(("precision", "most"), [("float32", 1e-5), ("bfloat16", 0.03), ("int8", 0.05)])
def test_logits_stay_near_those_of_transformers(model: torch.nn.Module, precision: str, most: float) -> None:
    runtime = make_runtime(model, precision=precision, slots=2)
    assert runtime.precision == precision
    ids = [(37 * number) % VOCABULARY for number in range(40)]
    runtime.step([Row(0, 0, ids[:20])])
    found = torch.cat([runtime.step([Row(0, place, [ids[place]])]) for place in range(20, 40)])
    with torch.inference_mode():
        wanted = model(torch.tensor([ids])).logits[0, 20:]
    assert spread_error(found, wanted) < most
    assert float((found.argmax(-1) == wanted.argmax(-1)).float().mean()) >= 0.9


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_row_with_huge_numbers_does_not_change_another_row(precision: str) -> None:
    draw = torch.Generator().manual_seed(4)
    weight, given = torch.randn(48, 64, generator=draw), torch.randn(4, 64, generator=draw)
    linear = pack_linear(weight, None, cast("Precision", precision))
    huge = given.clone()
    huge[0] = 1e6
    broken = given.clone()
    broken[0] = float("nan")
    assert torch.equal(linear(given)[1:], linear(huge)[1:])
    assert torch.equal(linear(given)[1:], linear(broken)[1:])
    assert bool(torch.isnan(linear(broken)[0]).all())


def test_auto_takes_a_precision_that_runs(model: torch.nn.Module) -> None:
    assert make_runtime(model, slots=1).precision in {"float32", "bfloat16", "int8"}


@pytest.mark.parametrize("precision", ["", "fp32", "int4", "Float32"])
def test_unknown_precision_is_refused(model: torch.nn.Module, precision: str) -> None:
    with pytest.raises(MisuseError, match="precision must be"):
        make_runtime(model, precision=precision)


def test_precision_that_needs_another_device_is_refused(model: torch.nn.Module) -> None:
    with pytest.raises(MisuseError, match="float16"):
        make_runtime(model, precision="float16")


def test_precision_that_needs_the_own_runtime_is_refused_for_other_models() -> None:
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    other = transformers.GPT2LMHeadModel(config).eval()
    with pytest.raises(MisuseError, match="int8"):
        make_runtime(other, precision="int8")
    assert make_runtime(other, precision="auto").name == "transformers, float32"


def test_model_of_a_known_name_that_computes_otherwise_runs_on_transformers(model: torch.nn.Module) -> None:
    other = transformers.LlamaForCausalLM(model.config).eval()
    other.model.layers[0].register_forward_hook(lambda module, given, made: made * 1.5)
    assert make_runtime(other, slots=1).name == "transformers, float32"


@pytest.mark.parametrize(
    "arguments", [{"slots": 0}, {"slots": True}, {"context_tokens": 0}, {"cache_bytes": 0}, {"cache_bytes": 100}]
)
def test_impossible_sizes_are_refused(model: torch.nn.Module, arguments: dict[str, int]) -> None:
    with pytest.raises(MisuseError):
        make_runtime(model, **arguments)


def test_bound_of_the_cache_limits_the_context(model: torch.nn.Module) -> None:
    # 2 layers of 2 heads of 16 numbers, keys and values, 4 bytes each.
    token_bytes = 2 * 2 * 2 * 16 * 4
    runtime = make_runtime(model, precision="float32", slots=4, cache_bytes=4 * 50 * token_bytes + 1)
    assert runtime.context_tokens == 50
    runtime.step([Row(slot, 0, [1] * 50) for slot in range(4)])
    assert runtime.cache_bytes == 4 * 50 * token_bytes


# Of the logits' spread: what other orders of the same float32 sums may change, and what rounding makes of it.
COMPANY = {"float32": 1e-5, "bfloat16": 0.02, "int8": 0.01}


@pytest.mark.parametrize("precision", list(COMPANY))
def test_row_gets_the_same_alone_and_in_company_up_to_rounding(model: torch.nn.Module, precision: str) -> None:
    runtime = make_runtime(model, precision=precision, slots=8)
    texts = [[(31 * place + 7 * slot) % VOCABULARY for place in range(5 + 9 * slot)] for slot in range(8)]
    for slot, ids in enumerate(texts):
        runtime.step([Row(slot, 0, ids, wants_logits=False)])
    alone = torch.cat([runtime.step([Row(slot, len(ids), [5])]) for slot, ids in enumerate(texts)])
    together = runtime.step([Row(slot, len(ids), [5]) for slot, ids in enumerate(texts)])
    for one, other in zip(alone, together, strict=True):
        assert spread_error(other, one) < COMPANY[precision]


def test_layer_of_bytes_gives_a_row_the_same_bits_alone_and_in_company() -> None:
    draw = torch.Generator().manual_seed(6)
    weight, given = torch.randn(48, 64, generator=draw), torch.randn(9, 64, generator=draw)
    linear = pack_linear(weight, None, "int8")
    together = linear(given)
    assert all(torch.equal(linear(given[place : place + 1])[0], together[place]) for place in range(9))
