"""Run any model of transformers through its own module: one row after the other, each slot with its own cache."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

import torch

from commitgate.errors import ModelRunError
from commitgate_local.model_errors import model_breaks
from commitgate_local.runtime.base import Row, RuntimeFacts, SlotLengths
from commitgate_local.transformers_runtime import CausalModel, run_arguments


class _CacheLayer(Protocol):
    keys: torch.Tensor | None
    values: torch.Tensor | None


class _Cache(Protocol):
    layers: list[_CacheLayer]

    def crop(self, tokens: int) -> None: ...


@dataclass(slots=True)
class _Slot:
    arguments: dict[str, object] | None = None
    ids: list[int] = field(default_factory=list[int])

    @property
    def cache(self) -> _Cache | None:
        if self.arguments is None:
            return None
        return cast("_Cache", self.arguments.get("cache", self.arguments.get("past_key_values")))


class TransformersRuntime(RuntimeFacts):
    """Run a model as transformers does, in float32.

    Args:
        model: the model.
        slots: number of conversations, at least 1.
        context_tokens: most tokens of each.

    Raises:
        ModelRunError: it has a configuration that cannot be run.
    """

    def __init__(self, model: CausalModel, *, slots: int, context_tokens: int) -> None:
        head = model.get_output_embeddings()
        if head is None:
            raise ModelRunError("the model has no output layer; it is not a language model")
        super().__init__(
            kind="transformers",
            precision="float32",
            width=int(head.weight.shape[0]),
            context_tokens=context_tokens,
            slots=slots,
        )
        self._model, self._device = model, head.weight.device
        self._lengths = SlotLengths(slots, context_tokens, self.width)
        self._held = [_Slot() for _ in range(slots)]
        with model_breaks():
            run_arguments(model)

    @property
    def cache_bytes(self) -> int:
        """Return what the slots hold now."""
        return sum(_size_bytes(slot.cache) for slot in self._held)

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        """Append each row's tokens to its slot; see ``Runtime.step``.

        Raises:
            ModelRunError: a row cannot be run, or the model broke.
        """
        self._lengths.check(rows)
        found: list[torch.Tensor] = []
        try:
            with model_breaks(), torch.inference_mode():
                for row in rows:
                    logits = self._run(row)
                    if row.wants_logits:
                        found.append(logits)
        except ModelRunError:
            # A cache may be half written; what stood in it is fed again from the ids.
            for row in rows:
                slot = self._held[row.slot]
                slot.arguments, slot.ids = None, slot.ids[: row.start]
            self._lengths.cut(rows)
            raise
        self._lengths.add(rows)
        return torch.stack(found) if found else torch.zeros(0, self.width)

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        """Make a slot hold the first tokens of another.

        Raises:
            ModelRunError: the source holds fewer, or there is no such slot.
        """
        self._lengths.check_copy(source_slot, target_slot, tokens)
        source, target = self._held[source_slot], self._held[target_slot]
        if source is not target:
            with model_breaks():
                target.arguments = copy.deepcopy(source.arguments)
            target.ids = list(source.ids)
        _cut(target, tokens)
        self._lengths.set(target_slot, tokens)

    def _run(self, row: Row) -> torch.Tensor:
        slot = self._held[row.slot]
        _cut(slot, row.start)
        ids = list(row.ids)
        if slot.arguments is None:
            slot.arguments = run_arguments(self._model)
            ids = slot.ids + ids
        output = self._model(torch.tensor([ids], dtype=torch.long, device=self._device), **slot.arguments)
        slot.ids.extend(row.ids)
        return output.logits[0, -1].float().cpu()


def _cut(slot: _Slot, tokens: int) -> None:
    """Shorten a slot; where its cache cannot be shortened the ids are fed again with the next row."""
    dropped = len(slot.ids) - tokens
    del slot.ids[tokens:]
    if dropped == 0 or slot.cache is None:
        return
    layers = slot.cache.layers
    if tokens == 0 or not all(_can_crop(layer) for layer in layers):
        slot.arguments = None
        return
    slot.cache.crop(-dropped)


def _can_crop(layer: _CacheLayer) -> bool:
    # Layers that look back a limited way have dropped what they would need.
    return not getattr(layer, "is_sliding", True) and isinstance(layer.keys, torch.Tensor)


def _size_bytes(cache: _Cache | None) -> int:
    if cache is None:
        return 0
    parts = [part for layer in cache.layers for part in (layer.keys, layer.values)]
    return sum(part.nbytes for part in parts if isinstance(part, torch.Tensor))


__all__ = ["TransformersRuntime"]
