"""Measure rows of numbers: torch's vector norm, with the types that its stubs lack."""

from __future__ import annotations

from typing import Final, Protocol, cast

import torch


class _VectorNorm(Protocol):
    # Positional, as the kernel's own parser takes them fastest.
    def vector_norm(self, rows: torch.Tensor, order: float, dim: int, keepdim: bool, /) -> torch.Tensor: ...


_LINALG: Final = cast("_VectorNorm", torch.linalg)


def euclidean(rows: torch.Tensor) -> torch.Tensor:
    """Return the length of each row. [..., numbers] -> [..., 1]"""
    return _LINALG.vector_norm(rows, 2.0, -1, True)


def largest(rows: torch.Tensor) -> torch.Tensor:
    """Return the largest amount in each row, not a number where one is none. [..., numbers] -> [..., 1]"""
    # Torch's norm of that order takes several times as long.
    return rows.abs().amax(-1, keepdim=True)


__all__ = ["euclidean", "largest"]
