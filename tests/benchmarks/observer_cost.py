"""Measure what observers cost a call and a token: the same scripted answers with and without, in turn.

Nothing is waited for in these calls but the library itself, so the ratios are the largest there can be: a model that
takes 30 ms for a token makes them vanish. Run it on a machine that does nothing else:

    .venv/bin/python tests/benchmarks/observer_cost.py
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from commitgate.client import Client
from commitgate.telemetry import Observer, OpenTelemetryObserver, PrometheusObserver
from commitgate.testing import ScriptedBackend

PIECES = 1_000
"""Pieces of text of a long answer: as many as it has tokens."""

ROUNDS = 15
CALLS = 20

SCHEMA = {"type": "array", "items": {"type": "integer"}}


class Dropped(SpanExporter):
    """Take spans as an exporter does, and drop them."""

    def export(self, spans: Sequence[Any]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def opentelemetry(**options: Any) -> Observer:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(Dropped()))
    meter_provider = MeterProvider([InMemoryMetricReader()])
    return OpenTelemetryObserver(tracer_provider=tracer_provider, meter_provider=meter_provider, **options)


WAYS: dict[str, Callable[[], list[Observer]]] = {
    "no observer": list,
    "PrometheusObserver": lambda: [PrometheusObserver()],
    "OpenTelemetryObserver": lambda: [opentelemetry()],
    "OpenTelemetryObserver(chunk_times=True)": lambda: [opentelemetry(chunk_times=True)],
}


def script(pieces: int) -> list[Any]:
    texts = ["[1", *([",1"] * (pieces - 2)), "]"]
    return [*({"text": text, "tokens": 1, "legal_mass": 0.9} for text in texts), {"finish": "stop"}]


async def seconds_of(observers: list[Observer], pieces: int, calls: int) -> float:
    """Return processor seconds of one call."""
    backend = ScriptedBackend(script(pieces), then=[script(pieces)] * (calls - 1))
    async with Client(backends={"scripted": backend}, observers=observers) as client:
        began = time.process_time()
        for _ in range(calls):
            outcome = await client.generate_structured("scripted", SCHEMA, prompt="x")
            assert outcome.name == "committed", outcome
        return (time.process_time() - began) / calls


async def main() -> None:
    short: dict[str, list[float]] = {name: [] for name in WAYS}
    long: dict[str, list[float]] = {name: [] for name in WAYS}
    observers = {name: make() for name, make in WAYS.items()}
    for _ in range(ROUNDS + 1):  # the first round warms up
        for name in WAYS:
            short[name].append(await seconds_of(observers[name], 3, CALLS))
            long[name].append(await seconds_of(observers[name], PIECES, 2))
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {ROUNDS} rounds")
    print(f"{'':40} {'a call':>10} {'ratio':>6} {'a token':>10} {'ratio':>6}")
    calls = {name: statistics.median(values[1:]) for name, values in short.items()}
    tokens = {name: (statistics.median(long[name][1:]) - calls[name]) / (PIECES - 3) for name in WAYS}
    for name in WAYS:
        ratios = calls[name] / calls["no observer"], tokens[name] / tokens["no observer"]
        times = f"{calls[name] * 1e3:8.2f} ms {ratios[0]:6.2f} {tokens[name] * 1e6:7.1f} µs {ratios[1]:6.2f}"
        print(f"{name:40} {times}")


if __name__ == "__main__":
    anyio.run(main)
