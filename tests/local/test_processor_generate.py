"""Whatever way ``generate`` decodes, each row is a text of its contract, and is called whole only where it is.

The oracle is transformers' own hook for allowed tokens, which walks the whole answer again in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from commitgate import AnyJson, Choices, Grammar, Regex
from commitgate.automaton import compile
from commitgate.errors import MisuseError, ModelRunError
from commitgate_local import MaskEngine, MaskProcessor
from commitgate_local.transformers_runtime import load_model, load_tokenizer

TICKET = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "count"],
    "additionalProperties": False,
}
LIST = {"type": "object", "properties": {"item": {"type": "null"}, "next": {"$ref": "#"}}, "required": ["item"]}
CODE = Regex("[A-Z]{2}-[0-9]{1,6}")
CONTRACTS = [
    TICKET,
    LIST,
    CODE,
    Regex("(ab|ba)*"),
    Choices(["yes", "no", "not yet"]),
    Grammar('root ::= "(" root ")" root | ""'),
    AnyJson(),
    {"type": "array", "items": {"enum": ["a", 1, None]}, "maxItems": 5},
]
PAD = 0
DEFAULTS = {"max_new_tokens": 40, "do_sample": False, "pad_token_id": PAD, "eos_token_id": [0, 2]}


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> Any:
    return load_model(tiny_folder)


@pytest.fixture(scope="module")
def tokenizer(tiny_folder: Path) -> Any:
    tokenizer: Any = load_tokenizer(tiny_folder)
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(PAD)
    return tokenizer


@pytest.fixture(scope="module")
def engine(tokenizer: Any) -> MaskEngine:
    return MaskEngine(tokenizer)


@pytest.fixture(scope="module")
def one(tokenizer: Any) -> dict[str, torch.Tensor]:
    """Return one prompt."""
    return prompts(tokenizer, "The printer is broken.")


@pytest.fixture(scope="module")
def two(tokenizer: Any) -> dict[str, torch.Tensor]:
    """Return two prompts of different lengths."""
    return prompts(tokenizer, "Anna", "Please send somebody to look at the door.")


def prompts(tokenizer: Any, *texts: str) -> dict[str, torch.Tensor]:
    encoded = tokenizer(list(texts), return_tensors="pt", padding=True)
    return {name: encoded[name] for name in ("input_ids", "attention_mask")}


def generate(model: Any, inputs: dict[str, torch.Tensor], seed: int = 0, **arguments: object) -> torch.Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return model.generate(**inputs, **{**DEFAULTS, **arguments})


def masked(model: Any, inputs: dict[str, torch.Tensor], processor: MaskProcessor, **arguments: object) -> torch.Tensor:
    return generate(model, inputs, logits_processor=[processor], **arguments)


def allowed(engine: MaskEngine, contracts: Sequence[object], width: int) -> Callable[[int, torch.Tensor], list[int]]:
    """Return the hook for allowed tokens: what may follow the answer, walked from its beginning."""

    def legal(prompt: int, ids: torch.Tensor) -> list[int]:
        matcher = engine.matcher(contracts[prompt % len(contracts)])
        for token in ids[width:].tolist():
            if token in engine.vocabulary.stop_ids:
                return [token]
            matcher.advance(token)
        return np.flatnonzero(matcher.mask()).tolist()

    return legal


WAYS = {
    "greedy": {},
    "sampled": {"do_sample": True, "temperature": 2.0},
    "several of each": {"do_sample": True, "temperature": 3.0, "top_k": 0, "num_return_sequences": 3},
    "cut to a few": {"do_sample": True, "top_k": 3, "top_p": 0.9},
    "beams": {"num_beams": 3},
    "all beams": {"num_beams": 4, "num_return_sequences": 4, "length_penalty": 0.0, "early_stopping": "never"},
    "cut short": {"max_new_tokens": 6},
    "beams cut short": {"num_beams": 2, "num_return_sequences": 2, "max_new_tokens": 5},
    "without a cache": {"use_cache": False},
}


@pytest.mark.parametrize("way", WAYS)
def test_generate_writes_what_walking_each_row_again_would_allow(
    model: Any, engine: MaskEngine, two: dict[str, torch.Tensor], way: str
) -> None:
    contracts = [TICKET, CODE]
    processor = MaskProcessor(engine, contracts)
    written = masked(model, two, processor, **WAYS[way])
    width = two["input_ids"].shape[1]
    hook = allowed(engine, contracts, width)
    assert torch.equal(written, generate(model, two, prefix_allowed_tokens_fn=hook, **WAYS[way]))
    answers = processor.answers(written)
    for row, answer in enumerate(answers):
        acceptor = compile(contracts[row * 2 // len(answers)]).acceptor()
        assert acceptor.feed(answer.data)
        assert not answer.is_whole or acceptor.is_accepting
    assert any(answer.is_whole for answer in answers) == (way != "cut short" and way != "beams cut short")


def test_rows_end_each_at_its_own_time(model: Any, engine: MaskEngine, two: dict[str, torch.Tensor]) -> None:
    processor = MaskProcessor(engine, [Choices(["no"]), TICKET])
    short, long = processor.answers(masked(model, two, processor))
    assert short.text == "no"
    assert long.is_whole
    assert len(long.token_ids) > len(short.token_ids)


def test_padded_prompt_is_answered_as_alone(
    model: Any, engine: MaskEngine, tokenizer: Any, two: dict[str, torch.Tensor]
) -> None:
    together = MaskProcessor(engine, TICKET)
    both = together.answers(masked(model, two, together))
    alone = MaskProcessor(engine, TICKET)
    assert alone.answers(masked(model, prompts(tokenizer, "Anna"), alone)) == both[:1]


@pytest.mark.parametrize("most", [1, 5, 9])
def test_cut_row_has_no_text_and_can_be_gone_on_with(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor], most: int
) -> None:
    whole = MaskProcessor(engine, TICKET)
    (expected,) = whole.answers(masked(model, one, whole))
    processor = MaskProcessor(engine, TICKET)
    cut = masked(model, one, processor, max_new_tokens=most)
    (answer,) = processor.answers(cut)
    assert answer.text is None
    assert expected.data.startswith(answer.data)
    resumed = MaskProcessor(engine, TICKET, answer_tokens=most)
    inputs = {"input_ids": cut, "attention_mask": torch.ones_like(cut)}
    assert resumed.answers(masked(model, inputs, resumed)) == [expected]


@pytest.mark.parametrize("way", [{}, {"do_sample": True, "temperature": 2.0}])
def test_assisted_decoding_stays_within_the_contract(
    model: Any, engine: MaskEngine, tiny_folder: Path, one: dict[str, torch.Tensor], way: dict[str, object]
) -> None:
    plain = MaskProcessor(engine, TICKET)
    (expected,) = plain.answers(masked(model, one, plain))
    assistant: Any = load_model(tiny_folder)
    with torch.no_grad():
        assistant.lm_head.weight.mul_(-1)
    for extra in ({"assistant_model": model}, {"assistant_model": assistant}, {"prompt_lookup_num_tokens": 3}):
        processor = MaskProcessor(engine, TICKET)
        (answer,) = processor.answers(masked(model, one, processor, **way, **extra))
        assert answer.is_whole
        assert compile(TICKET).acceptor().feed(answer.data)
        assert way or answer == expected


@pytest.mark.parametrize(
    ("columns", "message"), [(320, "tokenizer of this very model"), (1_000, "no assistant with another tokenizer")]
)
def test_assistant_with_another_tokenizer_is_refused(
    model: Any,
    engine: MaskEngine,
    tokenizer: Any,
    one: dict[str, torch.Tensor],
    tiny_folder: Path,
    columns: int,
    message: str,
) -> None:
    assistant: Any = load_model(tiny_folder)
    assistant.resize_token_embeddings(columns, mean_resizing=False)
    other = PreTrainedTokenizerFast(tokenizer_object=bytes_alone(), eos_token="<|im_end|>", unk_token="<|im_end|>")
    way = {"assistant_model": assistant, "tokenizer": tokenizer, "assistant_tokenizer": other}
    with pytest.raises(MisuseError, match=message):
        masked(model, one, MaskProcessor(engine, TICKET), **way)


def bytes_alone() -> Tokenizer:
    """Return a tokenizer that has a token for each byte, and one special token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(["<|im_end|>"])
    return raw


def test_beams_drawn_by_chance_are_refused_where_one_has_no_probability(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]
) -> None:
    way = {"do_sample": True, "num_beams": 4, "num_return_sequences": 4}
    with pytest.raises(MisuseError, match="num_beams with do_sample"):
        masked(model, one, MaskProcessor(engine, Choices(["yes", "no"])), **way)
    processor = MaskProcessor(engine, Regex("[a-z]{1,20}"))
    for answer in processor.answers(masked(model, one, processor, **way)):
        assert compile(Regex("[a-z]{1,20}")).acceptor().feed(answer.data)


def test_end_that_generate_does_not_know_is_followed_by_one_that_it_does(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]
) -> None:
    assert engine.vocabulary.stop_ids == (0, 2)
    for known in (0, 2):
        processor = MaskProcessor(engine, Choices(["yes"]))
        written = masked(model, one, processor, eos_token_id=known, pad_token_id=known)
        (answer,) = processor.answers(written)
        assert answer.text == "yes"
        assert written.shape[1] <= one["input_ids"].shape[1] + len(answer.token_ids) + 2


def test_raw_logits_are_left_as_they_are(model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]) -> None:
    processor = MaskProcessor(engine, CODE)
    output: Any = masked(model, one, processor, output_logits=True, output_scores=True, return_dict_in_generate=True)
    assert all(logits.isfinite().all() for logits in output.logits)
    assert not any(scores.isfinite().all() for scores in output.scores)
    assert processor.answers(output.sequences)[0].is_whole


def test_prompt_given_as_embeddings_is_answered_too(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]
) -> None:
    plain = MaskProcessor(engine, CODE)
    expected = plain.answers(masked(model, one, plain))
    inputs = {"inputs_embeds": model.get_input_embeddings()(one["input_ids"]), "attention_mask": one["attention_mask"]}
    processor = MaskProcessor(engine, CODE)
    assert processor.answers(masked(model, inputs, processor)) == expected


def test_processor_of_an_earlier_call_is_refused(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]
) -> None:
    processor = MaskProcessor(engine, CODE)
    masked(model, one, processor)
    with pytest.raises(MisuseError, match="reset"):
        masked(model, two, processor)
    processor.reset()
    assert all(answer.is_whole for answer in processor.answers(masked(model, two, processor)))


def test_setting_that_rules_out_every_legal_token_is_named(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]
) -> None:
    with pytest.raises(ModelRunError, match="min_new_tokens"):
        masked(model, one, MaskProcessor(engine, Choices(["yes"])), min_new_tokens=20)


def test_model_without_numbers_is_an_error(engine: MaskEngine, tiny_folder: Path, one: dict[str, torch.Tensor]) -> None:
    broken: Any = load_model(tiny_folder)
    with torch.no_grad():
        broken.lm_head.weight.fill_(torch.nan)
    for way in ({}, {"do_sample": True}, {"num_beams": 2}):
        with pytest.raises(ModelRunError, match="not finite numbers"):
            masked(broken, one, MaskProcessor(engine, CODE), **way)


def test_masks_undone_behind_the_processor_are_noticed(
    model: Any, engine: MaskEngine, one: dict[str, torch.Tensor]
) -> None:
    wrong = engine.vocabulary.tokens.index(b"?")

    def undo(input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        return scores.index_fill(1, torch.tensor([wrong]), 1e9)

    with pytest.raises(MisuseError, match="undid its masks"):
        generate(model, one, logits_processor=[MaskProcessor(engine, CODE), undo])
    processor = MaskProcessor(engine, CODE)
    written = generate(model, one, logits_processor=[processor, undo], max_new_tokens=1)
    # No processor sees the token that is written last, so the answers are walked once more.
    with pytest.raises(MisuseError, match="undid its masks"):
        processor.answers(written)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contracts=strategies.lists(strategies.sampled_from(CONTRACTS), min_size=1, max_size=3),
    way=strategies.sampled_from([way for name, way in WAYS.items() if name != "without a cache"]),
    most=strategies.integers(1, 30),
    seed=strategies.integers(0, 1_000),
)
def test_what_is_written_begins_a_text_and_what_is_whole_is_one(
    model: Any,
    engine: MaskEngine,
    tokenizer: Any,
    contracts: list[object],
    way: dict[str, object],
    most: int,
    seed: int,
) -> None:
    inputs = prompts(tokenizer, *("Anna", "The door and the printer", "4711 items")[: len(contracts)])
    processor = MaskProcessor(engine, contracts)
    answers = processor.answers(masked(model, inputs, processor, seed=seed, **{**way, "max_new_tokens": most}))
    for row, answer in enumerate(answers):
        contract = contracts[row * len(contracts) // len(answers)]
        acceptor = compile(contract).acceptor()
        assert acceptor.feed(answer.data)
        if answer.text is not None:
            assert acceptor.is_accepting
            assert answer.text.encode() == answer.data
        else:
            # More may follow, at least by what the model writes: an object has no white space behind it.
            rest = compile(contract, dialect="generate").acceptor()
            assert rest.feed(answer.data)
            assert any(rest.state.step(byte) is not rest.state.arena.empty for byte in range(256))
