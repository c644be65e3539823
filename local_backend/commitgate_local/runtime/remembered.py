"""Remember which precision was the fastest for a model on this machine, so that the next load measures nothing.

What is remembered is a hint about speed alone: a precision is used only after its logits were compared again. The name
under which it is kept says what the speed depends on, and the kept file is used only where it is whole and unchanged.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Collection
from pathlib import Path
from typing import Final, cast

import numpy as np
import torch

from commitgate_local.kept_arrays import ArrayFolder
from commitgate_local.runtime.llama_weights import decoder
from commitgate_local.runtime.precision import Precision
from commitgate_local.transformers_runtime import CausalModel

# Version of how speeds are measured and weighed.
_MEASURED_AS: Final = "2"

_PROCESSORS: Final = Path("/proc/cpuinfo")

# Numbers of each weight that tell one revision of a model from another.
_SAMPLED_NUMBERS: Final = 64


class RememberedPrecision:
    """Keep one word in a folder that need not be there, under the model's and the machine's name.

    Args:
        folder: the folder; None remembers nothing.
        model: a model of a known kind.
    """

    def __init__(self, folder: Path | None, model: CausalModel) -> None:
        self._folder = None if folder is None else ArrayFolder(folder)
        self._key = () if folder is None else ("precision", _MEASURED_AS, _model_name(model), _machine_name(model))

    def get(self, known: Collection[Precision]) -> Precision | None:
        """Return the remembered precision; None where there is none of the known ones, or its file is broken."""
        held = None if self._folder is None else self._folder.get(*self._key)
        if held is None or "word" not in held:
            return None
        word = held["word"].tobytes().decode(errors="replace")
        return cast("Precision", word) if word in known else None

    def put(self, precision: Precision) -> None:
        """Remember a precision. A folder that cannot be written remembers nothing, and that is no failure."""
        if self._folder is not None:
            self._folder.put({"word": np.frombuffer(precision.encode(), np.uint8)}, *self._key)


def _model_name(model: CausalModel) -> str:
    """Return a name of the model's shape and of some of its weights."""
    parts = decoder(model)
    name = hashlib.sha256(json.dumps([type(model).__name__, len(parts.layers)]).encode())
    for layer in parts.layers:
        attention, mlp = layer.self_attn, layer.mlp
        for linear in (attention.q_proj, attention.k_proj, attention.o_proj, mlp.gate_proj, mlp.down_proj):
            weight = linear.weight.detach()
            name.update(json.dumps(list(weight.shape)).encode())
            name.update(weight[-1, :_SAMPLED_NUMBERS].float().cpu().numpy().tobytes())
    return name.hexdigest()


def _machine_name(model: CausalModel) -> str:
    """Return what of the machine a speed depends on, and which of its devices the model is on."""
    return json.dumps(
        [
            decoder(model).embed_tokens.weight.device.type,
            platform.machine(),
            _processor(),
            torch.__version__,
            torch.backends.cpu.get_cpu_capability(),
            torch.get_num_threads(),
        ]
    )


def _processor() -> str:
    try:
        lines = _PROCESSORS.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    told = {line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "CPU part", "flags"))}
    return "; ".join(sorted(told)) or platform.processor()


__all__ = ["RememberedPrecision"]
