"""Take the weights of a llama-like model out of its transformers module, packed for running.

Queries, keys and values become one matrix, as do gate and up. The rows of queries and keys are ordered so that the two
numbers which a rotary position turns stand side by side, as one complex number: their product is the same in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, cast

import torch

from commitgate_local.runtime.precision import Linear, Precision, activation_type, pack_linear
from commitgate_local.transformers_runtime import CausalModel

# Classes of transformers whose layers compute what ``LlamaRuntime`` does.
KNOWN_CLASSES: Final = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")

# Rotary positions whose frequencies do not depend on how long the text is.
_KNOWN_ROTATIONS: Final = ("default", "linear", "llama3", "yarn")


class LlamaConfig(Protocol):
    """Name what is used of the configuration."""

    hidden_act: str
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int


class Norm(Protocol):
    """Name what is used of an RMSNorm."""

    weight: torch.Tensor
    variance_epsilon: float


class _Attention(Protocol):
    q_proj: torch.nn.Linear
    k_proj: torch.nn.Linear
    v_proj: torch.nn.Linear
    o_proj: torch.nn.Linear
    head_dim: int
    scaling: float


class _Mlp(Protocol):
    gate_proj: torch.nn.Linear
    up_proj: torch.nn.Linear
    down_proj: torch.nn.Linear


class DecoderLayer(Protocol):
    """Name what is used of a layer."""

    self_attn: _Attention
    mlp: _Mlp
    input_layernorm: Norm
    post_attention_layernorm: Norm


class Rotary(Protocol):
    """Name what is used of the rotary positions."""

    def __call__(self, like: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]: ...


class Decoder(Protocol):
    """Name what is used of the stack of layers."""

    embed_tokens: torch.nn.Embedding
    layers: list[DecoderLayer]
    norm: Norm
    rotary_emb: Rotary


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Hold one layer, packed.

    Attributes:
        attention_norm, mlp_norm: weights of the norms before each half; see ``norm_weight``.
        query_norm, key_norm: weights of the norms of each head; None where there are none.
    """

    attention_norm: torch.Tensor
    qkv: Linear
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    out: Linear
    mlp_norm: torch.Tensor
    gate_up: Linear
    down: Linear


def why_unknown(model: CausalModel) -> str | None:
    """Return why a model is not one of these; None where it is."""
    if type(model).__name__ not in KNOWN_CLASSES:
        return f"{type(model).__name__} is none of {', '.join(KNOWN_CLASSES)}"
    config = model.config
    if getattr(config, "hidden_act", None) != "silu":
        return "its activation is not silu"
    kinds = cast("list[str]", getattr(config, "layer_types", None) or [])
    if any(kind != "full_attention" for kind in kinds):
        return "some of its layers look back a limited way only"
    rotation = cast("dict[str, object]", getattr(config, "rope_parameters", None) or {})
    if rotation.get("rope_type", "default") not in _KNOWN_ROTATIONS:
        return "its positions depend on the length of the text"
    return None


def decoder(model: CausalModel) -> Decoder:
    """Return the stack of layers of a known model."""
    return cast("Decoder", getattr(model, "model"))  # noqa: B009 - the protocol of models has no such part


def known_context(model: CausalModel) -> int:
    """Return the most tokens for which the runtime computes what the model does."""
    config = cast("LlamaConfig", model.config)
    # Within its window a model that looks back a limited way sees everything.
    window = cast("int | None", getattr(model.config, "sliding_window", None))
    is_limited = window is not None and type(model).__name__ == "MistralForCausalLM"
    return min(config.max_position_embeddings, window) if is_limited and window else config.max_position_embeddings


def pack_layer(layer: DecoderLayer, precision: Precision) -> Layer:
    """Pack one layer."""
    attention, mlp = layer.self_attn, layer.mlp
    size = attention.head_dim
    norms = [cast("Norm | None", getattr(attention, name, None)) for name in ("q_norm", "k_norm")]
    order = _pairs(size, attention.q_proj.weight.device)
    kind = activation_type(precision, attention.q_proj.weight.device)
    query_norm, key_norm = [None if norm is None else norm_weight(norm.weight[order], kind) for norm in norms]
    projections = [(attention.q_proj, order), (attention.k_proj, order), (attention.v_proj, None)]
    return Layer(
        attention_norm=norm_weight(layer.input_layernorm.weight, kind),
        qkv=_pack_together([_ordered(part, rows) for part, rows in projections], precision),
        query_norm=query_norm,
        key_norm=key_norm,
        out=pack_linear(attention.o_proj.weight, attention.o_proj.bias, precision),
        mlp_norm=norm_weight(layer.post_attention_layernorm.weight, kind),
        gate_up=_pack_together([_ordered(mlp.gate_proj, None), _ordered(mlp.up_proj, None)], precision),
        down=pack_linear(mlp.down_proj.weight, mlp.down_proj.bias, precision),
    )


def norm_weight(weight: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Return a norm's weight; in float32 times the root of its size, so that numbers are divided by their length."""
    weight = weight.detach()
    return weight.float() * weight.numel() ** 0.5 if kind == torch.float32 else weight.to(kind)


def _pairs(size: int, device: torch.device) -> torch.Tensor:
    return torch.arange(size, device=device).view(2, size // 2).t().reshape(-1)


def _ordered(linear: torch.nn.Linear, order: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
    bias = cast("torch.Tensor | None", linear.bias)
    weight = linear.weight.detach()
    if order is None:
        return weight, bias
    size = order.numel()
    heads = weight.view(-1, size, weight.shape[1])[:, order].reshape(weight.shape)
    return heads, None if bias is None else bias.detach().view(-1, size)[:, order].reshape(-1)


def _pack_together(parts: list[tuple[torch.Tensor, torch.Tensor | None]], precision: Precision) -> Linear:
    weight = torch.cat([weight for weight, _ in parts])
    if all(bias is None for _, bias in parts):
        return pack_linear(weight, None, precision)
    biases = [weight.new_zeros(weight.shape[0]) if bias is None else bias for weight, bias in parts]
    return pack_linear(weight, torch.cat(biases), precision)


__all__ = [
    "KNOWN_CLASSES",
    "Decoder",
    "DecoderLayer",
    "Layer",
    "LlamaConfig",
    "decoder",
    "known_context",
    "norm_weight",
    "pack_layer",
    "why_unknown",
]
