"""Keep keys and values of several conversations, bounded, one slot each.

Every layer has one tensor ``[slots, capacity, 2 * kv_heads, head_dim]``: a token's keys and values stand together,
so one copy a layer stores a whole pass, whatever rows it has. The capacity doubles when a text outgrows it, up to the
bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch

from commitgate_local.runtime.base import Row

# Tokens of a slot to begin with.
_FIRST_TOKENS: Final = 256


class KeyValueCache:
    """Hold the keys and values.

    Args:
        layers: number of layers.
        slots: number of conversations.
        shape: 2 * kv_heads and head_dim.
        most_tokens: most tokens of a slot.
        kind: type of the numbers.
        device: where they are.

    Attributes:
        capacities: tokens of a slot that the layers have room for; more than one number only where memory ended while
            they grew.
        layers: one tensor a layer. [slots, capacity, 2 * kv_heads, head_dim]
    """

    def __init__(
        self,
        *,
        layers: int,
        slots: int,
        shape: tuple[int, int],
        most_tokens: int,
        kind: torch.dtype,
        device: torch.device,
    ) -> None:
        self._slots, self._shape, self._kind, self._device = slots, shape, kind, device
        self._most_tokens = most_tokens
        # Slots that hold something that is no number: behind their end nothing of it may be left, since a weight of
        # nought times it is no number either.
        self._broken: set[int] = set()
        first = min(_FIRST_TOKENS, most_tokens)
        self.layers = [self._room(first) for _ in range(layers)]
        self.capacities = frozenset((first,))

    @property
    def capacity(self) -> int:
        """Return the tokens of a slot that every layer has room for."""
        return min(self.capacities)

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all tensors."""
        return sum(layer.nbytes for layer in self.layers)

    def make_room(self, rows: Sequence[Row], held: Sequence[int]) -> None:
        """Grow until the rows fit, and clear what they overwrite where that is needed. They fit the bound.

        Args:
            rows: the rows of the next pass.
            held: tokens that each slot holds; nothing else is taken over. [slots]
        """
        wanted = max(row.start + len(row.ids) for row in rows)
        if wanted > self.capacity:
            self._grow(min(self._most_tokens, max(wanted, 2 * self.capacity)), held)
        for row in rows:
            if row.slot in self._broken:
                self._clear(row.slot, row.start)

    def mark_broken(self, slot: int) -> None:
        """Say that a slot holds something that is no number."""
        self._broken.add(slot)

    def copy(self, source: int, target: int, tokens: int) -> None:
        """Copy the first tokens of a slot into another."""
        if target in self._broken:
            self._clear(target, 0)
        if source in self._broken:
            self._broken.add(target)
        for layer in self.layers:
            layer[target, :tokens].copy_(layer[source, :tokens])

    def _grow(self, capacity: int, held: Sequence[int]) -> None:
        try:
            for number, old in enumerate(self.layers):
                if old.shape[1] >= capacity:
                    continue
                # One layer after the other, so that no more than one is there twice; and of each slot what it holds,
                # so that one long text does not have the system hand out as many pages for every slot.
                grown = self._room(capacity)
                for slot, tokens in enumerate(held):
                    grown[slot, :tokens].copy_(old[slot, :tokens])
                self.layers[number] = grown
        finally:
            # Where memory ends in between, the layers that have grown stay so: going back would take memory too.
            self.capacities = frozenset(layer.shape[1] for layer in self.layers)

    def _clear(self, slot: int, start: int) -> None:
        for layer in self.layers:
            layer[slot, start:].zero_()
        if start == 0:
            self._broken.discard(slot)

    def _room(self, capacity: int) -> torch.Tensor:
        shape = (self._slots, capacity, *self._shape)
        if self._device.type == "cpu" and self._kind == torch.float32:
            # The system hands out pages of nought when they are touched; filling them would take them at once.
            return torch.as_tensor(np.zeros(shape, np.float32))
        return torch.zeros(shape, dtype=self._kind, device=self._device)


__all__ = ["KeyValueCache"]
