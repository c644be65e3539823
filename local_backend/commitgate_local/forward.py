"""Run a model over tokens, one conversation at a time, with its key-value cache.

``Forward`` is the seam behind which the model lives: the decode loop needs nothing else of it, so tests can put
anything there that gives logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from commitgate_local.model_errors import model_breaks
from commitgate_local.transformers_runtime import CausalModel, run_arguments


class Forward(Protocol):
    """Give logits for a growing run of tokens. It keeps what it was given; each call appends."""

    def prefill(self, ids: Sequence[int]) -> None:
        """Append tokens whose logits nobody asks for."""
        ...

    def forward(self, ids: Sequence[int]) -> torch.Tensor:
        """Append at least one token, and return the logits of what comes next. [vocab] float32"""
        ...


class ModelForward:
    """Run a transformers model.

    Args:
        model: the model; used by one conversation at a time.

    Raises:
        ModelRunError: it has a configuration that cannot be run.
    """

    def __init__(self, model: CausalModel) -> None:
        self._model = model
        with model_breaks():
            self._arguments = run_arguments(model)

    def prefill(self, ids: Sequence[int]) -> None:
        """Append tokens whose logits nobody asks for."""
        self.forward(ids)

    def forward(self, ids: Sequence[int]) -> torch.Tensor:
        """Append at least one token, and return the logits of what comes next. [vocab] float32

        Raises:
            ModelRunError: the model broke; it must not be used further for this conversation.
        """
        with model_breaks(), torch.inference_mode():
            output = self._model(torch.tensor([list(ids)], dtype=torch.long), **self._arguments)
            return output.logits[0, -1].float()


__all__ = ["Forward", "ModelForward"]
