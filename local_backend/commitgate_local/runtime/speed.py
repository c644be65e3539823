"""Find out which precision runs a model fastest here, by timing some of its own layers, and order them by preference.

A less exact precision is preferred only where it is faster by a named factor, so that noise does not decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import torch

from commitgate.errors import MisuseError
from commitgate_local.runtime.llama_weights import Layer, decoder, pack_layer
from commitgate_local.runtime.precision import Precision, check_runs
from commitgate_local.transformers_runtime import CausalModel

EXACTEST_FIRST: Final[tuple[Precision, ...]] = ("float32", "bfloat16", "int8")

# How many times as fast a less exact precision must be to be taken.
WORTH: Final = 1.25

# Conversations in a pass: alone, and together as a server has them.
_TIMED_ROWS: Final = (1, 8)

# Enough weights not to stay in a processor's near cache, few enough to be packed in a moment.
_TIMED_LAYERS: Final = 4
_TIMED_WEIGHTS: Final = 64_000_000

# All precisions in turn, and the least time of each: whatever else runs makes times longer, never shorter.
_LEAST_ROUNDS: Final = 5
_MOST_ROUNDS: Final = 40
_TIMED_S: Final = 0.6


def runnable(device: torch.device) -> list[Precision]:
    """Return the precisions that run on a device, the preferred first where nothing is measured."""
    if device.type != "cpu":
        return ["bfloat16", "float16", "float32"] if torch.cuda.is_bf16_supported() else ["float16", "float32"]
    return [word for word in EXACTEST_FIRST if _runs(word, device)]


def by_preference(model: CausalModel, device: torch.device) -> Iterator[Precision]:
    """Yield the precisions that run here, the preferred first; float32 is always among them.

    Args:
        model: a model of a known kind.
        device: where it is. On a CPU the precisions are timed; a CUDA device has the same order always.
    """
    words = runnable(device)
    if device.type != "cpu":
        yield from words
        return
    times = measured(model, words)
    while times:
        word = preferred(times)
        yield word
        del times[word]


def preferred(times: Mapping[Precision, float]) -> Precision:
    """Return the most exact precision that no less exact one beats by ``WORTH``.

    Args:
        times: seconds of the same work, at least one.
    """
    found: Precision | None = None
    for word in EXACTEST_FIRST:
        if word in times and (found is None or times[word] * WORTH <= times[found]):
            found = word
    assert found is not None, "there is a time of at least one precision"
    return found


def measured(model: CausalModel, words: list[Precision]) -> dict[Precision, float]:
    """Return the seconds of some layers' linear parts in each precision, for one row and for some rows together."""
    runs = {word: _timed_layers(model, word) for word in words}
    least = {(word, rows): float("inf") for word in words for rows in _TIMED_ROWS}
    begun = time.perf_counter()
    with torch.inference_mode():
        for number in range(_MOST_ROUNDS):
            if number >= _LEAST_ROUNDS and time.perf_counter() - begun > _TIMED_S:
                break
            for word, rows in least:
                started = time.perf_counter()
                runs[word](rows)
                least[word, rows] = min(least[word, rows], time.perf_counter() - started)
    return {word: sum(least[word, rows] for rows in _TIMED_ROWS) for word in words}


def _timed_layers(model: CausalModel, precision: Precision) -> Callable[[int], None]:
    layers = list(decoder(model).layers)
    attention, mlp = layers[0].self_attn, layers[0].mlp
    weights = 4 * attention.q_proj.weight.numel() + 3 * mlp.up_proj.weight.numel()
    count = max(1, min(_TIMED_LAYERS, _TIMED_WEIGHTS // weights))
    chosen = [pack_layer(layer, precision) for layer in layers[:count]]
    # Random numbers of a generator of our own: the caller's draws stay what they would have been.
    draw = torch.Generator().manual_seed(0)
    inputs = {
        rows: [
            torch.randn(rows, part.weight.shape[1], generator=draw)
            for part in (attention.q_proj, attention.o_proj, mlp.down_proj)
        ]
        for rows in _TIMED_ROWS
    }
    return lambda rows: _run(chosen, inputs[rows])


def _run(layers: list[Layer], given: list[torch.Tensor]) -> None:
    hidden, mixed, inner = given
    for layer in layers:
        layer.qkv(hidden)
        layer.out(mixed)
        layer.gate_up(hidden)
        layer.down(inner)


def _runs(word: Precision, device: torch.device) -> bool:
    try:
        check_runs(word, device)
    except MisuseError:
        return False
    return True


__all__ = ["EXACTEST_FIRST", "WORTH", "by_preference", "measured", "preferred", "runnable"]
