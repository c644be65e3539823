"""Choose what runs a model: the own forward pass where it computes the same, else transformers; and a precision.

Both are decided by trying. An own runtime must give the module's logits on a short probe; ``auto`` takes the fastest
precision, timed on layers of the model itself, whose logits stay near those of float32.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, cast

import torch

from commitgate.argument import check_int
from commitgate.errors import MisuseError, ModelRunError
from commitgate_local.model_errors import model_breaks
from commitgate_local.runtime.base import Row, Runtime
from commitgate_local.runtime.lengths import euclidean
from commitgate_local.runtime.llama import LlamaRuntime
from commitgate_local.runtime.llama_weights import decoder, known_context, pack_layer, why_unknown
from commitgate_local.runtime.precision import Precision, check_precision, check_runs
from commitgate_local.runtime.transformers_batch import TransformersRuntime
from commitgate_local.transformers_runtime import CausalModel

SLOTS: Final = 8
CACHE_BYTES: Final = 2 * 1024**3

# A model that does not say how much it can hold.
_UNKNOWN_CONTEXT: Final = 2048

_PROBE_TOKENS: Final = 24
_PROBE_PIECE: Final = 17

# Most of the logits' spread that a precision may lose, on average over the probe. Measured on SmolLM2-135M, which is
# hard to round: float32 1e-6, bfloat16 0.03, int8 0.13.
_TOLERANCES: Final[dict[Precision, float]] = {"float32": 1e-3, "bfloat16": 0.1, "float16": 0.05, "int8": 0.25}

# Layers timed and rounds: enough weights not to stay in a processor's near cache.
_TIMED_LAYERS: Final = 4
_TIMED_ROUNDS: Final = 5
_TIMED_S: Final = 0.1


def make_runtime(
    model: CausalModel,
    *,
    precision: str = "auto",
    slots: int = SLOTS,
    context_tokens: int | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> Runtime:
    """Make what runs a model. Takes up to a few seconds for a model of some hundred megabytes.

    Args:
        model: the model, in evaluation mode, float32 on the CPU or of any type on a CUDA device.
        precision: ``float32``, ``bfloat16``, ``int8`` (CPU), ``float16`` (CUDA); ``auto`` measures.
        slots: conversations at once, at least 1.
        context_tokens: most tokens of one conversation; None for as many as the model and the cache's bound allow.
        cache_bytes: most bytes of keys and values. Each slot has an equal share, so none can take another's.

    Raises:
        MisuseError: there is no such precision, or it cannot run here or for this model.
        ModelRunError: the model cannot be run.
    """
    check_precision(precision)
    _check_count("slots", slots)
    _check_count("cache_bytes", cache_bytes)
    most = _most_tokens(model, slots=slots, cache_bytes=cache_bytes, wanted=context_tokens)
    reason = why_unknown(model)
    if reason is None:
        device = decoder(model).embed_tokens.weight.device
        if precision != "auto":
            check_runs(cast("Precision", precision), device)
        with _breaks():
            found = _own(model, precision, device, slots, min(most, known_context(model)))
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


def _token_bytes(model: CausalModel) -> int:
    """Return the bytes of one token's keys and values, in float32."""
    config = model.config
    layers = cast("int", getattr(config, "num_hidden_layers", 1))
    heads = cast("int", getattr(config, "num_attention_heads", 1))
    kv_heads = cast("int | None", getattr(config, "num_key_value_heads", None)) or heads
    size = cast("int | None", getattr(config, "head_dim", None)) or getattr(config, "hidden_size", 1) // heads
    return max(1, 4 * 2 * layers * kv_heads * size)


def _own(model: CausalModel, precision: str, device: torch.device, slots: int, context_tokens: int) -> Runtime | None:
    """Return the own runtime, in the wanted or the best precision; None where it computes something else."""
    probe = _probe(model, context_tokens)
    wanted = _module_logits(model, probe)
    exact = LlamaRuntime(model, precision="float32", slots=slots, context_tokens=context_tokens)
    if _loss(_own_logits(exact, probe), wanted) > _TOLERANCES["float32"]:
        # Not rounding, but another computation.
        return None
    order: list[Precision] = [cast("Precision", precision)] if precision != "auto" else _by_speed(model, device)
    for candidate in order:
        if candidate == "float32":
            return exact
        found = LlamaRuntime(model, precision=candidate, slots=slots, context_tokens=context_tokens)
        if _loss(_own_logits(found, probe), wanted) <= _TOLERANCES[candidate]:
            return found
    if precision == "auto":
        return exact
    raise MisuseError(f"the precision {precision!r} changes this model's logits too much; take 'float32' or 'auto'")


def _by_speed(model: CausalModel, device: torch.device) -> list[Precision]:
    """Return the precisions that run here, the fastest first; float32 is always among them."""
    if device.type != "cpu":
        return ["bfloat16", "float16", "float32"] if torch.cuda.is_bf16_supported() else ["float16", "float32"]
    times: dict[Precision, float] = {}
    for candidate in ("float32", "bfloat16", "int8"):
        try:
            check_runs(candidate, device)
        except MisuseError:
            continue
        times[candidate] = _time(model, candidate)
    return sorted(times, key=lambda word: times[word])


def _time(model: CausalModel, precision: Precision) -> float:
    """Return the seconds of the linear layers of some layers, for one row and for some rows together."""
    chosen = [pack_layer(layer, precision) for layer in list(decoder(model).layers)[:_TIMED_LAYERS]]
    attention = decoder(model).layers[0].self_attn
    hidden = attention.q_proj.weight.shape[1]
    inputs = [(1, torch.rand(1, hidden)), (SLOTS, torch.rand(SLOTS, hidden))]
    best = dict.fromkeys((rows for rows, _ in inputs), float("inf"))
    until = time.perf_counter() + _TIMED_S
    with torch.inference_mode():
        for _ in range(_TIMED_ROUNDS):
            for rows, given in inputs:
                begun = time.perf_counter()
                for layer in chosen:
                    mixed = layer.qkv(given)
                    layer.out(mixed[:, : attention.o_proj.weight.shape[1]].contiguous())
                    layer.down(layer.gate_up(given).chunk(2, -1)[0].contiguous())
                best[rows] = min(best[rows], time.perf_counter() - begun)
            if time.perf_counter() > until:
                break
    return sum(best.values())


def _probe(model: CausalModel, context_tokens: int) -> list[int]:
    count = min(_PROBE_TOKENS, context_tokens)
    ids = decoder(model).embed_tokens.weight.shape[0]
    return [(7919 * number + 11) % ids for number in range(count)]


def _module_logits(model: CausalModel, probe: Sequence[int]) -> torch.Tensor:
    head = model.get_output_embeddings()
    if head is None:
        raise ModelRunError("the model has no output layer; it is not a language model")
    with torch.inference_mode():
        logits = model(torch.tensor([list(probe)], device=head.weight.device), use_cache=False).logits
    return logits[0].float().cpu()


def _own_logits(runtime: LlamaRuntime, probe: Sequence[int]) -> torch.Tensor:
    """Return the logits after a first piece and after each token behind it, run in the last slot."""
    slot = runtime.slots - 1
    found = [runtime.step([Row(slot, 0, probe[:_PROBE_PIECE])])]
    for place in range(_PROBE_PIECE, len(probe)):
        found.append(runtime.step([Row(slot, place, probe[place : place + 1])]))
    return torch.cat(found)


def _loss(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return how far logits are from those wanted, as a part of their spread, on average over the rows."""
    wanted = wanted[-found.shape[0] :]
    if not bool(torch.isfinite(wanted).all()):
        # A broken model is run as it is: its logits are no numbers, and the loop says so.
        return 0.0 if torch.equal(torch.isfinite(found), torch.isfinite(wanted)) else float("inf")
    spread = euclidean(wanted - wanted.mean(-1, keepdim=True)).clamp_min(1e-12)
    loss = float((euclidean(found - wanted) / spread).mean())
    return loss if loss == loss else float("inf")


__all__ = ["CACHE_BYTES", "SLOTS", "make_runtime"]
