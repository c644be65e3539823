"""Keep masks where the scores live, and lay them over the scores of a batch in one operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from commitgate_local.bounded import BoundedCache

if TYPE_CHECKING:
    from commitgate_local.walk import Mask

# Some 650 masks of a vocabulary of 49,152 tokens.
_LIMIT_BYTES: Final = 64 * 1024 * 1024


class DeviceMasks:
    """Lay masks over scores, and remember on the device what was made of each mask.

    Args:
        limit_bytes: most memory for what is remembered, masks and what was made of them together.
    """

    def __init__(self, limit_bytes: int = _LIMIT_BYTES) -> None:
        self._kept: BoundedCache[tuple[int, int, torch.device], tuple[Mask, torch.Tensor]] = BoundedCache(limit_bytes)

    @property
    def size_bytes(self) -> int:
        """Return the memory of what is remembered."""
        return self._kept.size_bytes

    def apply(self, scores: torch.Tensor, masks: Sequence[Mask]) -> torch.Tensor:
        """Return the scores with minus infinity in every column that is not legal.

        Args:
            scores: [rows, columns] of any floating type and device; not changed.
            masks: one a row. Columns beyond a mask's end are padding, never legal. [width] bool each
        """
        illegal = [self._illegal(mask, scores.shape[1], scores.device) for mask in masks]
        return scores.masked_fill(torch.stack(illegal), -math.inf)

    def _illegal(self, mask: Mask, columns: int, device: torch.device) -> torch.Tensor:
        # A mask is one object as long as it is remembered, and an entry keeps it alive: its identity stays its own.
        key = (id(mask), columns, device)
        found = self._kept.get(key)
        if found is None:
            illegal = np.ones(columns, np.bool_)
            width = min(columns, len(mask))
            np.logical_not(mask[:width], out=illegal[:width])
            found = (mask, torch.as_tensor(illegal, device=device))
            self._kept.put(key, found, columns + mask.nbytes)
        return found[1]


__all__ = ["DeviceMasks"]
