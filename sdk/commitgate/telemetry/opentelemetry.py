"""Tell OpenTelemetry of calls: one span a call with its requests as children, and metrics.

The span of a call is the current one in everything that the call does: spans of an HTTP client hang under the request,
those of checks and of the effect under the call. Its parent is the span that was current where the call was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias, cast

from opentelemetry import metrics, trace

from commitgate.argument import wrong_kind
from commitgate.telemetry.bounded_names import BoundedNames
from commitgate.telemetry.call_meter import CallMeter
from commitgate.telemetry.call_spans import CallSpans
from commitgate.telemetry.metric import METRICS, Measurement, Metric, MetricKind
from commitgate.telemetry.observer import CallBegan, CallEnded, CallObserver, RequestBegan, Wants
from commitgate.telemetry.prometheus import ledger_measurements

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider, UpDownCounter
    from opentelemetry.metrics import _Gauge as Gauge  # pyright: ignore[reportPrivateUsage] - it has no public name
    from opentelemetry.trace import TracerProvider

    from commitgate.backends.base import SentEvent
    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.preview import Preview, Reset
    from commitgate.telemetry.waiting_rows import LedgerStanding

_Instrument: TypeAlias = "Counter | UpDownCounter | Histogram | Gauge"

SCOPE = "commitgate"
"""Name of the instrumentation scope."""


class OpenTelemetryObserver:
    """Make spans and metrics of calls. May be shared by clients.

    No prompt, answer, value, key or server's word is in any of them, but for the contracts of ``content_of``.

    Args:
        tracer_provider: makes the spans; None takes the global one.
        meter_provider: makes the metrics; None takes the global one.
        content_of: names or digests (``Contract.full_digest``) of the contracts whose messages and answers go into
            their spans, each within ``MAX_CONTENT_CHARACTERS``. Give digests where others may name a contract: a raw
            schema is called by its title.
        chunk_times: measure the time between the pieces of each answer.

    Raises:
        MisuseError: ``content_of`` is no collection of texts.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        content_of: Iterable[str] = (),
        chunk_times: bool = False,
    ) -> None:
        self._content_of = _checked(content_of)
        self._chunk_times = chunk_times
        release = version("commitgate")
        self._tracer = trace.get_tracer(SCOPE, release, tracer_provider)
        meter = metrics.get_meter(SCOPE, release, meter_provider)
        self._instruments = {each.name: _instrument(meter, each) for each in METRICS}
        self._names = BoundedNames()

    def call_began(self, call: CallBegan) -> CallObserver:
        """Begin the call's span, make it the current one, and return who watches this call."""
        spans = CallSpans(self._tracer, call)
        return _TracedCall(self, spans, CallMeter(call, self._names))

    def ledger_seen(self, standing: LedgerStanding) -> None:
        """Take what waits in the ledger, as ``watch_ledger`` finds it."""
        self.record(ledger_measurements(standing))

    def record(self, measurements: Iterable[Measurement]) -> None:
        """Take values."""
        for each in measurements:
            _record(self._instruments[each.metric.name], each)

    def wants(self, contract: Contract[object]) -> Wants:
        """Say what is wanted of a call with this contract."""
        wants_content = not self._content_of.isdisjoint((contract.name, contract.full_digest))
        return Wants(content=wants_content, events=self._chunk_times)


class _TracedCall:
    """Watch one call."""

    def __init__(self, observer: OpenTelemetryObserver, spans: CallSpans, meter: CallMeter) -> None:
        self._observer = observer
        self._spans = spans
        self._meter = meter
        observer.record(meter.began())

    def contract_built(self, contract: Contract[object]) -> Wants:
        self._spans.contract_built(contract)
        self._meter.contract_built(contract)
        return self._observer.wants(contract)

    def request_began(self, request: RequestBegan) -> None:
        self._spans.request_began(request)
        self._meter.request_began()

    def event(self, event: SentEvent, at_s: float) -> None:
        self._observer.record(self._meter.event(event, at_s))

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Take nothing of what is shown."""

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        self._observer.record(self._meter.request_ended(record, receipt))
        self._spans.request_ended(record, receipt)

    def ended(self, end: CallEnded) -> None:
        # Before the span ends, so that exemplars lead to it.
        self._observer.record(self._meter.ended(end))
        self._spans.ended(end)


def _checked(content_of: Iterable[str]) -> frozenset[str]:
    wanted = "a collection of names or digests of contracts"
    if isinstance(content_of, str) or not isinstance(cast("object", content_of), Iterable):
        raise wrong_kind("content_of", wanted, content_of)
    found = frozenset(content_of)
    if not all(isinstance(each, str) for each in cast("Iterator[object]", iter(found))):
        raise wrong_kind("content_of", wanted, content_of)
    return found


def _instrument(meter: Meter, which: Metric) -> _Instrument:
    name, unit, description = which.name, which.unit, which.description
    match which.kind:
        case MetricKind.COUNTER:
            return meter.create_counter(name, unit, description)
        case MetricKind.UP_DOWN:
            return meter.create_up_down_counter(name, unit, description)
        case MetricKind.GAUGE:
            return meter.create_gauge(name, unit, description)
        case MetricKind.HISTOGRAM:
            bounds = list(which.bounds)
            return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=bounds)


def _record(instrument: _Instrument, each: Measurement) -> None:
    labels: Mapping[str, str] = each.labels
    match each.metric.kind:
        case MetricKind.COUNTER | MetricKind.UP_DOWN:
            cast("Counter", instrument).add(each.value, labels)
        case MetricKind.HISTOGRAM:
            cast("Histogram", instrument).record(each.value, labels)
        case MetricKind.GAUGE:
            cast("Gauge", instrument).set(each.value, labels)


__all__ = ["SCOPE", "OpenTelemetryObserver"]
