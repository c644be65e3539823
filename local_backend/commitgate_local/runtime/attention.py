"""Attend from the tokens of one pass to what their slots hold, under grouped key-value heads.

The query heads that share a key-value head are attended as more queries of that head: nothing is repeated.
Where each row has one token and the slots are neighbours of like length, all rows go through one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch.nn.functional import scaled_dot_product_attention

from commitgate_local.runtime.base import Row

# Rows of one token go together as long as padding them to the longest does not more than double the work.
_MOST_PADDING: Final = 2


@dataclass(frozen=True, slots=True)
class _Part:
    """Hold rows that are attended in one call.

    Attributes:
        first, last: tokens of the pass, from and to before.
        slots: the slots, from and to before.
        length: tokens looked at in each slot.
        mask: added to the scores; None where everything is looked at. [slots or 1, 1, queries, length]
    """

    first: int
    last: int
    slots: slice
    length: int
    mask: torch.Tensor | None


class Attention:
    """Plan the attention of one pass, which is the same in every layer.

    Args:
        rows: the rows of the pass.
        groups: query heads for each key-value head.
        kind: type of the numbers.
        device: where they are.
    """

    def __init__(self, rows: Sequence[Row], *, groups: int, kind: torch.dtype, device: torch.device) -> None:
        self._groups, self._kind, self._device = groups, kind, device
        together = _together(rows)
        self._parts = [self._batch(rows)] if together else self._singles(rows)

    def attend(self, queries: torch.Tensor, cache: torch.Tensor, scaling: float) -> torch.Tensor:
        """Return what each token gathers.

        Args:
            queries: [tokens, heads, head_dim]
            cache: keys and values of one layer, the pass's own among them. [slots, capacity, 2 * kv_heads, head_dim]
            scaling: factor of the scores.

        Returns:
            [tokens, heads * head_dim]
        """
        found = [self._attend_part(part, queries, cache, scaling) for part in self._parts]
        return found[0] if len(found) == 1 else torch.cat(found)

    def _attend_part(self, part: _Part, queries: torch.Tensor, cache: torch.Tensor, scaling: float) -> torch.Tensor:
        tokens, size = part.last - part.first, queries.shape[2]
        rows = part.slots.stop - part.slots.start
        heads = cache.shape[2] // 2
        held = cache[part.slots, : part.length].transpose(1, 2)
        asked = queries[part.first : part.last].view(rows, tokens // rows, heads, self._groups, size)
        asked = asked.permute(0, 2, 3, 1, 4).reshape(rows, heads, -1, size)
        found = scaled_dot_product_attention(
            asked, held[:, :heads], held[:, heads:], attn_mask=part.mask, scale=scaling
        )
        found = found.view(rows, heads, self._groups, tokens // rows, size).permute(0, 3, 1, 2, 4)
        return found.reshape(tokens, -1)

    def _batch(self, rows: Sequence[Row]) -> _Part:
        lengths = [row.start + 1 for row in rows]
        length = max(lengths)
        mask = None
        if min(lengths) < length:
            seen = torch.arange(length, device=self._device) < torch.tensor(lengths, device=self._device)[:, None]
            mask = self._scores(seen).view(len(rows), 1, 1, length).expand(-1, -1, self._groups, -1)
        slots = slice(rows[0].slot, rows[0].slot + len(rows))
        return _Part(0, len(rows), slots, length, mask)

    def _singles(self, rows: Sequence[Row]) -> list[_Part]:
        parts: list[_Part] = []
        first = 0
        for row in rows:
            count = len(row.ids)
            length = row.start + count
            mask = None
            if count > 1:
                at = torch.arange(row.start, length, device=self._device)
                seen = torch.arange(length, device=self._device) <= at[:, None]
                mask = self._scores(seen).repeat(self._groups, 1).view(1, 1, -1, length)
            parts.append(_Part(first, first + count, slice(row.slot, row.slot + 1), length, mask))
            first += count
        return parts

    def _scores(self, seen: torch.Tensor) -> torch.Tensor:
        return torch.zeros(seen.shape, dtype=self._kind, device=self._device).masked_fill_(~seen, float("-inf"))


def _together(rows: Sequence[Row]) -> bool:
    if len(rows) < 2 or any(len(row.ids) != 1 for row in rows):
        return False
    if any(row.slot != rows[0].slot + number for number, row in enumerate(rows)):
        return False
    lengths = [row.start + 1 for row in rows]
    return max(lengths) * len(rows) <= _MOST_PADDING * sum(lengths)


__all__ = ["Attention"]
