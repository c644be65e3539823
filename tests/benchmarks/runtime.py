"""Measure the model runtime: the bundled model through transformers, and through the own runtime in each precision.

Run: ``python tests/benchmarks/runtime.py``. No part of the test suite: times vary with the machine, ratios should not
much. All are taken in turn in one process, and the least time of each counts, since others may use the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from commitgate.errors import MisuseError
from commitgate_local.models import load
from commitgate_local.runtime import Row, Runtime, make_runtime
from commitgate_local.transformers_runtime import CausalModel, run_arguments

PROMPT_TOKENS = 64
ROWS = (1, 4, 8)
PRECISIONS = ("float32", "bfloat16", "int8")


def module_step(model: CausalModel) -> Callable[[], object]:
    """Return one step of one conversation as transformers makes it."""
    arguments = run_arguments(model)
    with torch.inference_mode():
        model(torch.arange(10, 10 + PROMPT_TOKENS)[None], **arguments)

    def step() -> object:
        with torch.inference_mode():
            return model(torch.tensor([[5]]), **arguments)

    return step


def runtime_step(runtime: Runtime, rows: int) -> Callable[[], object]:
    """Return one step of some conversations; it is always the same place that is written."""
    for slot in range(rows):
        runtime.step([Row(slot, 0, range(10, 10 + PROMPT_TOKENS))])
    return lambda: runtime.step([Row(slot, PROMPT_TOKENS, [5]) for slot in range(rows)])


def least_times(steps: dict[tuple[str, int], Callable[[], object]], rounds: int) -> dict[tuple[str, int], float]:
    """Return the least seconds of each step, all taken in turn."""
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            # Three in a row, so that the weights of the others are out of the caches.
            for _ in range(3):
                begun = time.perf_counter()
                step()
                least[name] = min(least[name], time.perf_counter() - begun)
    return least


def made(model: CausalModel, precision: str, remembered: Path | None) -> Runtime:
    """Return a runtime, and print how long it took to make."""
    begun = time.perf_counter()
    runtime = make_runtime(model, precision=precision, remembered=remembered)
    print(f"{precision}: {runtime.name}, made in {time.perf_counter() - begun:.1f} s")
    return runtime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    model = load().model
    steps: dict[tuple[str, int], Callable[[], object]] = {("transformers", 1): module_step(model)}
    names: list[str] = []
    for precision in PRECISIONS:
        try:
            runtime = made(model, precision, None)
        except MisuseError as error:
            print(f"{precision}: {error}")
            continue
        names.append(precision)
        steps |= {(precision, rows): runtime_step(runtime, rows) for rows in ROWS}
    with TemporaryDirectory() as folder:
        made(model, "auto", Path(folder))
        made(model, "auto", Path(folder))
    least = least_times(steps, arguments.rounds)
    base = least["transformers", 1]
    print(f"\ntransformers, float32, one row: {base * 1e3:.1f} ms a token; {torch.get_num_threads()} threads\n")
    print("| precision | rows | ms a step | one token, transformers = 1 | throughput, one row = 1 |")
    print("|---|---|---|---|---|")
    for name in names:
        for rows in ROWS:
            taken = least[name, rows]
            print(
                f"| {name} | {rows} | {taken * 1e3:.1f} | {base * rows / taken:.1f}x faster "
                f"| {rows * least[name, 1] / taken:.1f} |"
            )


if __name__ == "__main__":
    main()
