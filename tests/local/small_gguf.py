"""Write a tiny model as a GGUF file, as other programs write theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
from safetensors.torch import load_file

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_CONTROL, _NORMAL = 3, 1


def save_gguf(folder: Path, path: Path) -> None:
    """Write the llama model of a folder, whose tokenizer is byte-level BPE, as a GGUF file."""
    config: Any = json.loads((folder / "config.json").read_text("utf-8"))
    tokenizer: Any = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_block_count(config["num_hidden_layers"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_head_count_kv(config["num_key_value_heads"])
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    out.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    out.add_vocab_size(config["vocab_size"])
    _add_tokenizer(out, tokenizer, config)
    for name, weight in load_file(folder / "model.safetensors").items():
        out.add_tensor(_renamed(name), weight.float().numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def _add_tokenizer(out: gguf.GGUFWriter, tokenizer: Any, config: Any) -> None:
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    added = {entry["id"] for entry in tokenizer["added_tokens"]}
    tokens = sorted(vocabulary, key=lambda token: vocabulary[token])
    tokens += [f"[PAD{number}]" for number in range(len(tokens), config["vocab_size"])]
    out.add_tokenizer_model("gpt2")
    out.add_token_list(tokens)
    out.add_token_types([_CONTROL if number in added else _NORMAL for number in range(len(tokens))])
    out.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    out.add_eos_token_id(config["eos_token_id"])


def _renamed(name: str) -> str:
    stem = name.removesuffix(".weight")
    layer = stem.removeprefix("model.layers.")
    if layer != stem:
        number, _, part = layer.partition(".")
        return f"blk.{number}.{_NAMES[part]}.weight"
    return f"{_NAMES[stem]}.weight"
