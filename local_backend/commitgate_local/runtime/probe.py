"""Compare the own runtime's logits with those of the model's module, on a short made-up text."""

from __future__ import annotations

from typing import Final

import torch

from commitgate.errors import ModelRunError
from commitgate_local.runtime.base import Row, Runtime
from commitgate_local.runtime.lengths import euclidean
from commitgate_local.runtime.llama import LlamaRuntime
from commitgate_local.runtime.llama_weights import decoder
from commitgate_local.runtime.precision import Precision
from commitgate_local.transformers_runtime import CausalModel

_TOKENS: Final = 24
_PIECE: Final = 17

# Most of the logits' spread that a precision may lose, on average over the probe. Measured on SmolLM2-135M, which is
# hard to round: float32 1e-6, bfloat16 0.03, int8 0.13.
_TOLERANCES: Final[dict[Precision, float]] = {"float32": 1e-3, "bfloat16": 0.1, "float16": 0.05, "int8": 0.25}

_WORDS: Final[dict[torch.dtype, Precision]] = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


class Probe:
    """Hold a text and what the module makes of it.

    Args:
        model: a model of a known kind.
        context_tokens: most tokens that it may be run with.

    Raises:
        ModelRunError: it has no output layer.
    """

    def __init__(self, model: CausalModel, context_tokens: int) -> None:
        head = model.get_output_embeddings()
        if head is None:
            raise ModelRunError("the model has no output layer; it is not a language model")
        count = min(_TOKENS, context_tokens)
        token_ids = decoder(model).embed_tokens.weight.shape[0]
        self._model, self._kind = model, head.weight.dtype
        self._ids = [(7919 * number + 11) % token_ids for number in range(count)]
        with torch.inference_mode():
            found = model(torch.tensor([self._ids], device=head.weight.device), use_cache=False).logits
        self._wanted = found[0].float().cpu()

    def is_same_computation(self) -> bool:
        """Return whether the own runtime computes what the module does, up to rounding.

        No packed weights outlive a layer's turn: the check needs the room of one layer.
        """
        last = len(self._ids)
        first = min(_PIECE, last - 1)
        own = LlamaRuntime(self._model, precision="float32", slots=2, context_tokens=last, keeps_layers=False)
        rows = [Row(0, 0, self._ids), Row(1, 0, self._ids[:first])] if first else [Row(0, 0, self._ids)]
        wanted = self._wanted[[last - 1, first - 1]] if first else self._wanted[-1:]
        # The module's own numbers may be rounded, where it lies on a CUDA device.
        return _loss(own.step(rows), wanted) <= _TOLERANCES[_WORDS.get(self._kind, "float32")]

    def is_near(self, runtime: Runtime, precision: Precision) -> bool:
        """Return whether a runtime's logits are as near as its precision allows, after a piece and each token behind.

        Args:
            runtime: what is tried; its last slot is written.
            precision: of its weights.
        """
        slot = runtime.slots - 1
        first = min(_PIECE, len(self._ids))
        found = [runtime.step([Row(slot, 0, self._ids[:first])])]
        for place in range(first, len(self._ids)):
            found.append(runtime.step([Row(slot, place, self._ids[place : place + 1])]))
        return _loss(torch.cat(found), self._wanted[first - 1 :]) <= _TOLERANCES[precision]


def _loss(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return how far logits are from those wanted, as a part of their spread, on average over the rows."""
    if not bool(torch.isfinite(wanted).all()):
        # A broken model is run as it is: its logits are no numbers, and the loop says so.
        return 0.0 if torch.equal(torch.isfinite(found), torch.isfinite(wanted)) else float("inf")
    spread = euclidean(wanted - wanted.mean(-1, keepdim=True)).clamp_min(1e-12)
    loss = float((euclidean(found - wanted) / spread).mean())
    return loss if loss == loss else float("inf")


__all__ = ["Probe"]
