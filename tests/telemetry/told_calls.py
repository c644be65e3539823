"""Calls that end in every way there is, and an SDK of OpenTelemetry that keeps what it is told of them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from commitgate.client import Client
from commitgate.effect import EffectContext
from commitgate.errors import EffectRejected
from commitgate.ledger import Ledger, MemoryLedger
from commitgate.outcome import Outcome
from commitgate.retry import Retry
from commitgate.telemetry import Observer, OpenTelemetryObserver, PrometheusObserver
from commitgate.testing import ScriptedBackend, Step
from commitgate.timeouts import Timeouts

CANARY = "kanarienvogel"
"""Stands in everything that must not be told: prompts, keys, values, refusals, the words of servers and of effects."""

STOP: Step = {"finish": "stop"}
TEXT = '{"amount":100,"to":"' + CANARY + '"}'
GOOD: list[Step] = [{"text": '{"amount":100,', "legal_mass": 0.5, "tokens": 4}, {"text": TEXT[14:], "tokens": 6}]
GOOD = [*GOOD, {"usage": [11, 12, 2]}, STOP]


class Pay(BaseModel):
    amount: int
    to: str


class Telemetry:
    """Keep spans and metrics of one observer, beside one that counts for Prometheus."""

    def __init__(self, **options: Any) -> None:
        self.spans_kept = InMemorySpanExporter()
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.spans_kept))
        self.reader = InMemoryMetricReader()
        providers = {"tracer_provider": self.tracer_provider, "meter_provider": MeterProvider([self.reader])}
        self.observer = OpenTelemetryObserver(**providers, **options)
        self.prometheus = PrometheusObserver(chunk_times=options.get("chunk_times", False))
        self.tracer = self.tracer_provider.get_tracer("tests")

    @property
    def observers(self) -> Sequence[Observer]:
        return [self.observer, self.prometheus]

    @property
    def spans(self) -> list[ReadableSpan]:
        """Return the spans that have ended, in the order in which they ended."""
        return list(self.spans_kept.get_finished_spans())

    def named(self, beginning: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name.startswith(beginning)]

    @property
    def call(self) -> ReadableSpan:
        """Return the span of the only call."""
        (span,) = (span for span in self.spans if "commitgate.call.id" in (span.attributes or {}))
        return span

    def points(self, name: str) -> list[Any]:
        """Return the data points of a metric."""
        data = self.reader.get_metrics_data()
        found = [] if data is None else json.loads(data.to_json())["resource_metrics"]
        metrics = [each for resource in found for scope in resource["scope_metrics"] for each in scope["metrics"]]
        return [point for each in metrics if each["name"] == name for point in each["data"]["data_points"]]

    def sums(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """Return what a metric counts, by some of its labels."""
        found: dict[tuple[str, ...], float] = {}
        for point in self.points(name):
            key = tuple(point["attributes"].get(label, "") for label in labels)
            found[key] = found.get(key, 0) + point.get("value", point.get("count", 0))
        return found

    def everything(self) -> str:
        """Return all that was told, as text."""
        data = self.reader.get_metrics_data()
        metrics = "" if data is None else data.to_json()
        return "\n".join([*(span.to_json() for span in self.spans), metrics, self.prometheus.text()])


@dataclass(frozen=True)
class Ending:
    """Say how to bring a call to one ending.

    Attributes:
        outcome: its name.
        script: what the backend plays.
        options: arguments of the call.
        ledger_state: in which the call leaves the row of its key.
        is_error: the span says error.
        schema: what is asked for.
        cancels: the call is cancelled once the backend plays.
    """

    outcome: str
    script: Sequence[Step] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ledger_state: str = "released"
    is_error: bool = True
    schema: Any = Pay
    cancels: bool = False

    async def run(self, client: Client, **options: Any) -> Outcome[Any, Any]:
        asked = {
            "prompt": f"pay {CANARY}",
            "operation_key": f"key {CANARY}",
            "system": CANARY,
            "retry": Retry(attempts=1),
        }
        asked |= {**self.options, **options}
        async with client.stream_structured("scripted/model", self.schema, **asked) as run:
            if self.cancels:
                async for _ in run:
                    run.cancel()
            return await run.outcome()


async def pay(value: Pay, context: EffectContext) -> str:
    del context
    return f"paid {value.to}"


async def decline(value: Pay, context: EffectContext) -> str:
    del value, context
    raise EffectRejected(CANARY)


async def break_down(value: Pay, context: EffectContext) -> str:
    del value, context
    raise RuntimeError(CANARY)


def too_much(value: Pay) -> str | None:
    return f"{value.to} gets too much"


def ask_person(value: Pay, context: object) -> str:
    del context
    return f"look at {value.to}"


SPOILT: Step = {"http": {"status": 401, "body": json.dumps({"error": {"message": CANARY, "code": "bad_key"}})}}
ENDINGS = (
    Ending("committed", GOOD, {"effect": pay}, "committed", is_error=False),
    Ending("refused", [{"refusal": CANARY}, {"finish": "refusal"}], is_error=False),
    Ending("filtered", [{"text": TEXT[:14]}, {"finish": "SAFETY"}], is_error=False),
    Ending("truncated", [{"text": TEXT[:30]}, {"finish": "length"}]),
    Ending("cancelled", [{"text": TEXT[:30]}, {"wait": None}], is_error=False, cancels=True),
    Ending("timed_out", [{"connect": "black hole"}], {"timeouts": Timeouts(connect_s=0.001)}),
    Ending("disconnected", [{"text": TEXT[:30]}, {"close": "rst"}]),
    Ending("unsupported", [{"fault": "constraint", "message": "no"}]),
    Ending("compile_failed", GOOD, schema={"type": "object", "title": "Pay", "properties": {"a": {"type": 7}}}),
    Ending("dead_end", [{"text": TEXT[:14]}, {"dead_end": "tokenizer"}]),
    Ending("violated", [{"text": f'{{"amount":"{CANARY}"'}, STOP]),
    Ending("invalid", GOOD, {"rules": [too_much]}),
    Ending("needs_approval", GOOD, {"approve": ask_person}, "awaiting_approval", is_error=False),
    Ending("effect_failed", GOOD, {"effect": decline}, "failed_before_effect"),
    Ending("in_doubt", GOOD, {"effect": break_down}, "in_doubt"),
    Ending("unavailable", [SPOILT]),
)
BY_NAME = {each.outcome: each for each in ENDINGS}


def client_of(
    script: Sequence[Step], observers: Iterable[Observer], ledger: Ledger | None = None, *, then: Any = ()
) -> AbstractAsyncContextManager[Client]:
    backend = ScriptedBackend(list(script), then=list(then))
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger(), observers=observers)


async def told(ending: Ending, **options: Any) -> tuple[Telemetry, Outcome[Any, Any], MemoryLedger]:
    """Run one call to its ending under a fresh telemetry."""
    telemetry, ledger = Telemetry(**options), MemoryLedger()
    async with client_of(ending.script, telemetry.observers, ledger) as client:
        outcome = await ending.run(client)
    return telemetry, outcome, ledger


async def run_all(telemetry: Telemetry, do: Callable[[Ending, Client], Awaitable[object]] | None = None) -> None:
    """Run a call to each ending under one telemetry."""
    for each in ENDINGS:
        async with client_of(each.script, telemetry.observers) as client:
            await (each.run(client) if do is None else do(each, client))
