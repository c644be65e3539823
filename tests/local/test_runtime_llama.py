"""The own runtime gives the logits of transformers, however the tokens are cut, mixed, taken back and copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

from commitgate.errors import ModelRunError
from commitgate_local.runtime import Row, Runtime, make_runtime
from commitgate_local.runtime.kv_cache import KeyValueCache

VOCABULARY = 61
CONTEXT = 320
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "initializer_range": 0.5,
    "bos_token_id": None,
    "eos_token_id": 2,
    "pad_token_id": None,
}
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 1000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}

Maker = Callable[[], tuple[object, object]]
KINDS: dict[str, Maker] = {
    "llama": lambda: (transformers.LlamaForCausalLM, transformers.LlamaConfig(**SIZES)),
    "llama, tied, biases": lambda: (
        transformers.LlamaForCausalLM,
        transformers.LlamaConfig(**SIZES, tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
    ),
    "llama 3": lambda: (transformers.LlamaForCausalLM, transformers.LlamaConfig(**SIZES, rope_parameters=LLAMA_3)),
    "mistral": lambda: (
        transformers.MistralForCausalLM,
        transformers.MistralConfig(**SIZES, head_dim=8, sliding_window=None),
    ),
    "qwen 2": lambda: (transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**SIZES)),
    "qwen 3": lambda: (transformers.Qwen3ForCausalLM, transformers.Qwen3Config(**SIZES, head_dim=8)),
    "gpt 2": lambda: (
        transformers.GPT2LMHeadModel,
        transformers.GPT2Config(
            vocab_size=VOCABULARY, n_embd=24, n_layer=2, n_head=2, n_positions=CONTEXT, initializer_range=0.5
        ),
    ),
}


def made(kind: str) -> torch.nn.Module:
    """Return a random model, all of its numbers away from what they begin with."""
    model_class, config = KINDS[kind]()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = model_class(config).eval()
        for name, values in model.named_parameters():
            if "norm" in name or "bias" in name or "ln_" in name:
                values.data += torch.randn_like(values) * 0.3
    return model


@pytest.fixture(scope="module", params=list(KINDS))
def model(request: pytest.FixtureRequest) -> torch.nn.Module:
    return made(request.param)


def expected(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0, -1]


def drawn_ids(count: int, seed: int = 0) -> list[int]:
    return torch.randint(VOCABULARY, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def near(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    return torch.allclose(found, wanted, rtol=1e-3, atol=2e-3)


def test_known_kinds_run_on_the_own_runtime_and_others_on_transformers(model: torch.nn.Module) -> None:
    own = make_runtime(model, precision="float32", slots=2).name.startswith("llama")
    assert own is (type(model).__name__ != "GPT2LMHeadModel")


IDS = st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=9)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_pieces_of_any_slots_give_the_logits_of_the_whole_text(model: torch.nn.Module, data: st.DataObject) -> None:
    slots = 3
    runtime = make_runtime(model, precision="float32", slots=slots)
    texts: list[list[int]] = [[] for _ in range(slots)]
    for _ in range(data.draw(st.integers(1, 6))):
        if data.draw(st.booleans()):
            source, target = data.draw(st.integers(0, slots - 1)), data.draw(st.integers(0, slots - 1))
            kept = data.draw(st.integers(0, len(texts[source])))
            runtime.copy_prefix(source, target, kept)
            texts[target] = texts[source][:kept]
        rows: list[Row] = []
        for slot in data.draw(st.lists(st.integers(0, slots - 1), min_size=1, max_size=slots, unique=True)):
            start, ids = data.draw(st.integers(0, len(texts[slot]))), data.draw(IDS)
            texts[slot] = texts[slot][:start] + ids
            rows.append(Row(slot, start, ids, data.draw(st.booleans())))
        found = runtime.step(rows)
        wanting = [row for row in rows if row.wants_logits]
        assert found.shape == (len(wanting), VOCABULARY)
        assert found.dtype == torch.float32
        for logits, row in zip(found, wanting, strict=True):
            assert near(logits, expected(model, texts[row.slot]))


@pytest.mark.parametrize("lengths", [(5, 6, 7, 4), (3, 3, 3, 3), (60, 2, 1, 1)])
def test_rows_of_one_token_each_are_right_together(model: torch.nn.Module, lengths: tuple[int, ...]) -> None:
    runtime = make_runtime(model, precision="float32", slots=4)
    texts = [drawn_ids(length, seed) for seed, length in enumerate(lengths)]
    for slot, ids in enumerate(texts):
        runtime.step([Row(slot, 0, ids, wants_logits=False)])
    for _ in range(3):
        found = runtime.step([Row(slot, len(ids), [7]) for slot, ids in reversed(list(enumerate(texts)))])
        texts = [[*ids, 7] for ids in texts]
        for logits, ids in zip(found, reversed(texts), strict=True):
            assert near(logits, expected(model, ids))


def test_text_longer_than_the_first_chunk_of_the_cache_is_right(model: torch.nn.Module) -> None:
    runtime = make_runtime(model, precision="float32", slots=2)
    ids = drawn_ids(CONTEXT)
    before = runtime.cache_bytes
    runtime.step([Row(1, 0, ids[:200])])
    runtime.step([Row(0, 0, ids[:5])])
    found = runtime.step([Row(1, 200, ids[200:])])
    assert near(found[0], expected(model, ids))
    assert near(runtime.step([Row(0, 5, ids[5:6])])[0], expected(model, ids[:6]))
    assert runtime.cache_bytes > before


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no row"),
        ([Row(0, 0, [])], "no tokens"),
        ([Row(0, 0, [1]), Row(0, 1, [1])], "same slot"),
        ([Row(2, 0, [1])], "no slot"),
        ([Row(-1, 0, [1])], "no slot"),
        ([Row(0, 5, [1])], "starts at 5"),
        ([Row(0, -1, [1])], "starts at -1"),
        ([Row(0, 0, [VOCABULARY])], "outside"),
        ([Row(0, 0, [-1])], "outside"),
        ([Row(1, 0, [1]), Row(0, 4, [1] * (CONTEXT - 3))], "does not fit"),
    ],
)
def test_rows_that_cannot_be_run_are_refused_and_change_nothing(
    model: torch.nn.Module, rows: list[Row], said: str
) -> None:
    runtime = make_runtime(model, precision="float32", slots=2)
    runtime.step([Row(0, 0, [3, 4, 5, 6])])
    with pytest.raises(ModelRunError, match=said):
        runtime.step(rows)
    assert near(runtime.step([Row(0, 4, [8])])[0], expected(model, [3, 4, 5, 6, 8]))


def test_text_that_just_fits_is_run_and_one_token_more_is_not(model: torch.nn.Module) -> None:
    runtime = make_runtime(model, precision="float32", slots=1, context_tokens=20)
    assert runtime.context_tokens == 20
    ids = drawn_ids(20)
    assert near(runtime.step([Row(0, 0, ids)])[0], expected(model, ids))
    with pytest.raises(ModelRunError, match="21 tokens"):
        runtime.step([Row(0, 20, [1])])


@pytest.mark.parametrize(("source", "target", "tokens"), [(0, 1, 5), (0, 2, 1), (3, 0, 0), (0, 1, -1)])
def test_prefix_that_is_not_there_is_not_copied(model: torch.nn.Module, source: int, target: int, tokens: int) -> None:
    runtime: Runtime = make_runtime(model, precision="float32", slots=2)
    runtime.step([Row(0, 0, [1, 2, 3, 4])])
    with pytest.raises(ModelRunError):
        runtime.copy_prefix(source, target, tokens)


@pytest.mark.parametrize("precision", ["auto", "float32", "bfloat16", "int8"])
def test_weights_that_are_no_numbers_show_in_the_logits(precision: str) -> None:
    model = made("llama")
    model.model.layers[1].mlp.down_proj.weight.data[3, 4] = float("nan")
    runtime = make_runtime(model, precision=precision, slots=2)
    assert not bool(torch.isfinite(runtime.step([Row(0, 0, [1, 2, 3])])).all())


def test_slot_whose_numbers_broke_is_whole_again_for_the_next_text() -> None:
    model = made("llama")
    # One token alone breaks the model.
    model.model.embed_tokens.weight.data[9] = float("nan")
    runtime = make_runtime(model, precision="float32", slots=2)
    runtime.step([Row(0, 0, [1, 2, 3, 9, 5, 6, 7, 8]), Row(1, 0, [1, 2, 3, 4])])
    runtime.step([Row(0, 0, [4, 5])])
    found = runtime.step([Row(0, 2, [6]), Row(1, 4, [7])])
    assert near(found[0], expected(model, [4, 5, 6]))
    assert near(found[1], expected(model, [1, 2, 3, 4, 7]))


class ShortMemory(TorchFunctionMode):
    """Refuse room for a cache after so many tensors were made."""

    def __init__(self, tensors: int) -> None:
        super().__init__()
        self.left = tensors

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func in (torch.zeros, torch.as_tensor):
            self.left -= 1
            if self.left < 0:
                raise MemoryError
        return func(*args, **(kwargs or {}))


def test_memory_that_ends_between_two_layers_harms_no_other_conversation() -> None:
    model = made("llama")
    runtime = make_runtime(model, precision="float32", slots=2)
    other, long = drawn_ids(200), drawn_ids(300, seed=1)
    runtime.step([Row(1, 0, other[:100])])
    with ShortMemory(1), pytest.raises(ModelRunError):
        runtime.step([Row(0, 0, long)])
    found = runtime.step([Row(0, 0, long[:150]), Row(1, 100, other[100:])])
    assert near(found[0], expected(model, long[:150]))
    assert near(found[1], expected(model, other))
    # Once there is memory the rest grows.
    found = runtime.step([Row(0, 150, long[150:]), Row(1, 200, [9])])
    assert near(found[0], expected(model, long))
    assert near(found[1], expected(model, [*other, 9]))


def test_growing_takes_over_what_each_slot_holds_and_no_more() -> None:
    cache = KeyValueCache(
        layers=2, slots=3, shape=(2, 4), most_tokens=4096, kind=torch.float32, device=torch.device("cpu")
    )
    for layer in cache.layers:
        layer.fill_(7.0)
    cache.make_room([Row(0, 0, range(700))], [0, 5, 256])
    for layer in cache.layers:
        assert layer.shape[1] >= 700
        assert [int((layer[slot] == 7.0).all(-1).all(-1).sum()) for slot in range(3)] == [0, 5, 256]
