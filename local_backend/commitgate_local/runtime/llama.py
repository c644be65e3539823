"""Run llama-like models with an own forward pass: all rows' tokens go through each weight together.

A small model's time is the reading of its weights and the calls between; so the weights are read once for all rows, and
the calls are few. Norms, positions and the sums between layers are in float32 on a CPU in every precision.

What a row gets depends on its own slot, and on its company by rounding alone: sums of float32 are taken in another
order for one row than for several. Of the logits' spread that is 1e-5 in float32, 1e-3 in int8 and up to 1e-2 in
bfloat16, so a seed draws the same tokens alone and in company unless a draw falls that near to a border between two
candidates. Equal bits are not promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import cast

import torch
from torch.nn import functional

from commitgate_local.model_errors import model_breaks
from commitgate_local.runtime.attention import Attention
from commitgate_local.runtime.base import Row, RuntimeFacts, SlotLengths
from commitgate_local.runtime.kv_cache import KeyValueCache
from commitgate_local.runtime.lengths import euclidean
from commitgate_local.runtime.llama_weights import DecoderLayer, Layer, LlamaConfig, decoder, norm_weight, pack_layer
from commitgate_local.runtime.precision import Precision, activation_type, pack_linear
from commitgate_local.transformers_runtime import CausalModel


class LlamaRuntime(RuntimeFacts):
    """Run one llama-like model.

    Args:
        model: a model of a known kind; its weights are read, and some are kept.
        precision: of the weights; it can run where the model is.
        slots: number of conversations, at least 1.
        context_tokens: most tokens of each.
        keeps_layers: False packs each layer anew in each pass, for one pass that needs no room.
    """

    def __init__(
        self, model: CausalModel, *, precision: Precision, slots: int, context_tokens: int, keeps_layers: bool = True
    ) -> None:
        parts, config = decoder(model), cast("LlamaConfig", model.config)
        head = model.get_output_embeddings()
        assert head is not None, "a model without an output layer is refused before"
        super().__init__(
            kind="llama",
            precision=precision,
            width=int(head.weight.shape[0]),
            context_tokens=context_tokens,
            slots=slots,
        )
        attention, weight = parts.layers[0].self_attn, parts.embed_tokens.weight.detach()
        self._device, self._kind = weight.device, activation_type(precision, weight.device)
        # Of its own where it can be: a part of a mapped file keeps the whole file in memory, float32's layers anyway.
        self._embedding = weight if precision == "float32" else weight.clone()
        passing = _PassingLayers(parts.layers, precision)
        self._layers: Iterable[Layer] = list(passing) if keeps_layers else passing
        self._norm, self._epsilon = norm_weight(parts.norm.weight, self._kind), parts.norm.variance_epsilon
        self._floors = {
            size: torch.tensor((size * self._epsilon) ** 0.5, device=self._device)
            for size in (self._norm.numel(), attention.head_dim)
        }
        self._head = pack_linear(head.weight, head.bias, precision)
        self._heads, self._kv_heads = config.num_attention_heads, config.num_key_value_heads
        self._size, self._scaling = attention.head_dim, attention.scaling
        self._rotary, self._turns = parts.rotary_emb, torch.zeros(0, self._size // 2, dtype=torch.complex64)
        self._lengths = SlotLengths(slots, context_tokens, int(weight.shape[0]))
        self._cache = KeyValueCache(
            layers=len(parts.layers),
            slots=slots,
            shape=(2 * self._kv_heads, self._size),
            most_tokens=context_tokens,
            kind=self._kind,
            device=self._device,
        )

    @property
    def cache_bytes(self) -> int:
        """Return what the cache may touch at its present size."""
        return self._cache.size_bytes

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        """Append each row's tokens to its slot; see ``Runtime.step``.

        Raises:
            ModelRunError: a row cannot be run, or the model broke.
        """
        self._lengths.check(rows)
        self._lengths.cut(rows)
        # In the order of the slots neighbours stand together, and go through the attention together.
        order = sorted(range(len(rows)), key=lambda number: rows[number].slot)
        ordered = [rows[number] for number in order]
        with model_breaks(), torch.inference_mode():
            self._cache.make_room(ordered, self._lengths.all)
            logits = self._logits(ordered, self._forward(ordered))
            wanting = [number for number in order if rows[number].wants_logits]
            if wanting != sorted(wanting):
                logits = logits[torch.tensor(wanting).argsort()]
        self._lengths.add(rows)
        return logits

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        """Make a slot hold the first tokens of another.

        Raises:
            ModelRunError: the source holds fewer, or there is no such slot.
        """
        self._lengths.check_copy(source_slot, target_slot, tokens)
        if source_slot != target_slot:
            with model_breaks(), torch.inference_mode():
                self._cache.copy(source_slot, target_slot, tokens)
        self._lengths.set(target_slot, tokens)

    def _forward(self, rows: Sequence[Row]) -> torch.Tensor:
        """Return the last hidden state of each row. [rows, hidden]"""
        fed = [token for row in rows for token in row.ids]
        positions = [row.start + number for row in rows for number in range(len(row.ids))]
        slots = [row.slot for row in rows for _ in row.ids]
        # One tensor, so that it goes to a device in one piece.
        ids, at, slot = torch.tensor([fed, positions, slots], device=self._device).unbind(0)
        places = {capacity: slot * capacity + at for capacity in self._cache.capacities}
        attention = Attention(rows, groups=self._heads // self._kv_heads, kind=self._kind, device=self._device)
        turns = self._turns_of(self._cache.capacity)[at][:, None]
        hidden = functional.embedding(ids, self._embedding).to(self._kind)
        for layer, cache in zip(self._layers, self._cache.layers, strict=True):
            hidden = self._run_layer(layer, hidden, turns, places[cache.shape[1]], cache, attention)
        if len(fed) == len(rows):
            return hidden
        ends = torch.tensor([end - 1 for end in accumulate(len(row.ids) for row in rows)], device=self._device)
        return hidden[ends]

    def _run_layer(
        self,
        layer: Layer,
        hidden: torch.Tensor,
        turns: torch.Tensor,
        places: torch.Tensor,
        cache: torch.Tensor,
        attention: Attention,
    ) -> torch.Tensor:
        flat = layer.qkv(self._normed(hidden, layer.attention_norm))
        mixed = flat.view(hidden.shape[0], -1, self._size)
        turning = self._heads + self._kv_heads
        if layer.query_norm is not None and layer.key_norm is not None:
            queries, keys = mixed[:, : self._heads], mixed[:, self._heads : turning]
            queries.copy_(self._normed(queries, layer.query_norm))
            keys.copy_(self._normed(keys, layer.key_norm))
        self._turn(mixed[:, :turning], turns)
        held = cache.view(-1, 2 * self._kv_heads * self._size)
        held.index_copy_(0, places, flat[:, self._heads * self._size :])
        found = attention.attend(mixed[:, : self._heads], cache, self._scaling)
        hidden = layer.out(found).add_(hidden)
        both = layer.gate_up(self._normed(hidden, layer.mlp_norm))
        half = both.shape[1] // 2
        return layer.down(functional.silu(both[:, :half]).mul_(both[:, half:])).add_(hidden)

    def _normed(self, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if self._kind != torch.float32:
            return functional.rms_norm(hidden, (weight.numel(),), weight, self._epsilon)
        # As one length of the numbers and the epsilon, times a weight that holds the root of their count (see
        # ``Layer``): four calls, where torch's own makes ten, and calls are what a small model's time goes into.
        length = euclidean(hidden)
        return (hidden * weight).div_(torch.hypot(length, self._floors[weight.numel()]))

    def _turn(self, heads: torch.Tensor, turns: torch.Tensor) -> None:
        """Turn pairs of numbers by their positions, in place. [tokens, heads, head_dim]"""
        # Within a token the heads stand close together, so pairs can be looked at without a copy.
        pairs = heads.view(heads.shape[0], heads.shape[1], -1, 2)
        if self._kind == torch.float32:
            torch.view_as_complex(pairs).mul_(turns)
        else:
            pairs.copy_(torch.view_as_real(torch.view_as_complex(pairs.float()).mul_(turns)))

    def _turns_of(self, tokens: int) -> torch.Tensor:
        if self._turns.shape[0] < tokens:
            positions = torch.arange(tokens, device=self._device)[None]
            like = torch.zeros(1, dtype=torch.float32, device=self._device)
            cosines, sines = self._rotary(like, positions)
            half = self._size // 2
            self._turns = torch.complex(cosines[0, :, :half].contiguous(), sines[0, :, :half].contiguous())
        return self._turns

    def _logits(self, rows: Sequence[Row], hidden: torch.Tensor) -> torch.Tensor:
        if not bool(torch.isfinite(hidden.sum())):
            for number, row in enumerate(rows):
                if not bool(torch.isfinite(hidden[number]).all()):
                    self._cache.mark_broken(row.slot)
        wanting = [number for number, row in enumerate(rows) if row.wants_logits]
        if not wanting:
            return torch.zeros(0, self.width)
        if len(wanting) < len(rows):
            hidden = hidden[torch.tensor(wanting, device=self._device)]
        return self._head(self._normed(hidden, self._norm)).float().cpu()


class _PassingLayers:
    """Pack layers while they are gone through, one at a time."""

    def __init__(self, layers: Sequence[DecoderLayer], precision: Precision) -> None:
        self._layers = layers
        self._precision: Precision = precision

    def __iter__(self) -> Iterator[Layer]:
        return (pack_layer(layer, self._precision) for layer in self._layers)


__all__ = ["LlamaRuntime"]
