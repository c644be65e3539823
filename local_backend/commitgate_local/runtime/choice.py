"""Choose what runs a model: the own forward pass where it computes the same, else transformers; and a precision.

Both are decided by trying. An own runtime must give the module's logits on a short probe; ``auto`` takes the fastest
precision, timed on layers of the model itself, whose logits stay near those of float32.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, cast

import torch

from commitgate.argument import check_int
from commitgate.errors import MisuseError, ModelRunError
from commitgate_local.model_errors import model_breaks
from commitgate_local.runtime.base import Runtime
from commitgate_local.runtime.llama import LlamaRuntime
from commitgate_local.runtime.llama_weights import decoder, known_context, why_unknown
from commitgate_local.runtime.precision import Precision, check_precision, check_runs
from commitgate_local.runtime.probe import Probe
from commitgate_local.runtime.remembered import RememberedPrecision
from commitgate_local.runtime.speed import by_preference, runnable
from commitgate_local.runtime.transformers_batch import TransformersRuntime
from commitgate_local.transformers_runtime import CausalModel

SLOTS: Final = 8
CACHE_BYTES: Final = 2 * 1024**3
"""Most bytes of keys and values where a quarter of the memory is less, or cannot be known."""

# A model that does not say how much it can hold.
_UNKNOWN_CONTEXT: Final = 2048


def make_runtime(
    model: CausalModel,
    *,
    precision: str = "auto",
    slots: int = SLOTS,
    context_tokens: int | None = None,
    cache_bytes: int | None = None,
    remembered: Path | None = None,
) -> Runtime:
    """Make what runs a model. Takes up to a few seconds for a model of some hundred megabytes.

    Args:
        model: the model, in evaluation mode, float32 on the CPU or of any type on a CUDA device.
        precision: ``float32``, ``bfloat16``, ``int8`` (CPU), ``float16`` (CUDA); ``auto`` measures.
        slots: conversations at once, at least 1.
        context_tokens: most tokens of one conversation; None for as many as the model and the cache's bound allow.
        cache_bytes: most bytes of keys and values. Each slot has an equal share, so none can take another's. None takes
            a quarter of the machine's memory, or of what is free on the CUDA device, and at least 2 GiB; on a CPU it is
            taken as texts grow.
        remembered: folder in which the precision that ``auto`` found is kept, by model and machine, so that the next
            call takes the same and measures nothing; None measures each time. It need not be there, or be writable.

    Raises:
        MisuseError: there is no such precision, or it cannot run here or for this model.
        ModelRunError: the model cannot be run.
    """
    check_precision(precision)
    _check_count("slots", slots)
    if cache_bytes is None:
        cache_bytes = _quarter_of_memory(model)
    _check_count("cache_bytes", cache_bytes)
    most = _most_tokens(model, slots=slots, cache_bytes=cache_bytes, wanted=context_tokens)
    reason = why_unknown(model)
    if reason is None:
        device = decoder(model).embed_tokens.weight.device
        if precision != "auto":
            check_runs(cast("Precision", precision), device)
        with _breaks():
            found = _own(model, precision, slots, min(most, known_context(model)), remembered)
        if found is not None:
            return found
        reason = "its logits differ from those of transformers"
    if precision not in ("auto", "float32"):
        raise MisuseError(f"the precision {precision!r} needs the own runtime, which this model cannot use: {reason}")
    return TransformersRuntime(model, slots=slots, context_tokens=most)


@contextmanager
def _breaks() -> Generator[None]:
    """Map what the model raises, but not what we say to the caller."""
    refused: MisuseError | None = None
    with model_breaks():
        try:
            yield
        except MisuseError as error:
            refused = error
    if refused is not None:
        raise refused


def _check_count(name: str, value: object) -> None:
    check_int(name, value)
    if cast("int", value) < 1:
        raise MisuseError(f"{name} must be at least 1, found {value}")


def _most_tokens(model: CausalModel, *, slots: int, cache_bytes: int, wanted: int | None) -> int:
    most = getattr(model.config, "max_position_embeddings", None) or _UNKNOWN_CONTEXT
    if wanted is not None:
        _check_count("context_tokens", wanted)
        most = min(most, wanted)
    most = min(most, cache_bytes // (slots * _token_bytes(model)))
    if most < 1:
        raise MisuseError(f"cache_bytes is too small: {slots} slots of one token need {slots * _token_bytes(model)}")
    return most


def _quarter_of_memory(model: CausalModel) -> int:
    head = model.get_output_embeddings()
    if head is not None and head.weight.device.type == "cuda":
        return max(CACHE_BYTES, torch.cuda.mem_get_info(head.weight.device)[0] // 4)
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        # Not every system says.
        return CACHE_BYTES
    return max(CACHE_BYTES, memory // 4)


def _token_bytes(model: CausalModel) -> int:
    """Return the bytes of one token's keys and values, in float32."""
    config = model.config
    layers = cast("int", getattr(config, "num_hidden_layers", 1))
    heads = cast("int", getattr(config, "num_attention_heads", 1))
    kv_heads = cast("int | None", getattr(config, "num_key_value_heads", None)) or heads
    size = cast("int | None", getattr(config, "head_dim", None)) or getattr(config, "hidden_size", 1) // heads
    return max(1, 4 * 2 * layers * kv_heads * size)


def _own(model: CausalModel, precision: str, slots: int, context_tokens: int, folder: Path | None) -> Runtime | None:
    """Return the own runtime, in the wanted or the best precision; None where it computes something else."""
    probe = Probe(model, context_tokens)
    if not probe.is_same_computation():
        # Not rounding, but another computation.
        return None
    if precision == "auto":
        return _best(model, probe, slots, context_tokens, folder)
    wanted = cast("Precision", precision)
    found = LlamaRuntime(model, precision=wanted, slots=slots, context_tokens=context_tokens)
    if not probe.is_near(found, wanted):
        raise MisuseError(f"the precision {wanted!r} changes this model's logits too much; take 'float32' or 'auto'")
    return found


def _best(model: CausalModel, probe: Probe, slots: int, context_tokens: int, folder: Path | None) -> Runtime:
    """Return the runtime in the remembered precision, else in the best that was measured; it is remembered then."""
    device = decoder(model).embed_tokens.weight.device
    memory = RememberedPrecision(folder, model)
    remembered = memory.get(runnable(device))
    first: list[Precision] = [] if remembered is None else [remembered]
    for candidate in chain(first, by_preference(model, device)):
        found = LlamaRuntime(model, precision=candidate, slots=slots, context_tokens=context_tokens)
        if probe.is_near(found, candidate):
            if candidate != remembered:
                memory.put(candidate)
            return found
        # Its weights are let go before others are packed.
        del found
    raise ModelRunError("the own runtime's logits change from one pass to the next")


__all__ = ["CACHE_BYTES", "SLOTS", "make_runtime"]
