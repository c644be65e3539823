"""Make a tiny random model with a tokenizer of its own, in transformers' format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

TRAINING_TEXT = [
    '{"name": "Anna", "priority": "high", "items": ["printer", "door"], "count": 12}',
    '{"order": {"id": 4711, "note": "left at the door", "paid": true, "tax": null}}',
    "The printer on the third floor is broken again, please send somebody to look at it.",
    "Grüße aus Köln, 日本語のテキスト 😀",
]


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Run torch in one thread: small models gain nothing from more, and lose much where tests share a machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def save_tokenizer(folder: Path, *, decoder: object = None) -> None:
    """Train a byte-level tokenizer with a few hundred tokens and save it with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoder or decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        min_frequency=1,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TRAINING_TEXT * 4, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", unk_token="<|endoftext|>")
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)


def save_model(folder: Path, *, vocab_size: int = 448, context_tokens: int = 512) -> None:
    """Save a random model of one layer; its logits have more columns than there are tokens."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=context_tokens,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=None,
        initializer_range=1.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
