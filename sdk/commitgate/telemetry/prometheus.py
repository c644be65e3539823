"""Count calls in this process, and write the counts in Prometheus' text format: no library and no collector needed.

The names are those that OpenTelemetry's metrics have in Prometheus, so one dashboard shows both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from commitgate.telemetry import metric, own_names
from commitgate.telemetry.bounded_names import BoundedNames
from commitgate.telemetry.call_meter import CallMeter
from commitgate.telemetry.metric import METRICS, Labels, Measurement, Metric, MetricKind, label_name
from commitgate.telemetry.observer import NOTHING_MORE, CallBegan, CallEnded, CallObserver, RequestBegan, Wants
from commitgate.telemetry.text_format import Histogram, head, sample

if TYPE_CHECKING:
    from commitgate.backends.base import SentEvent
    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.preview import Preview, Reset
    from commitgate.telemetry.waiting_rows import LedgerStanding

_Key: TypeAlias = tuple[tuple[str, str], ...]

_TYPES: Final = {MetricKind.UP_DOWN: "gauge"}


class PrometheusObserver:
    """Count calls; ``text`` gives the counts for a scrape. May be shared by clients, in several threads too.

    Args:
        chunk_times: measure the time between the pieces of each answer.
    """

    def __init__(self, *, chunk_times: bool = False) -> None:
        self._wants = Wants(events=True) if chunk_times else NOTHING_MORE
        self._names = BoundedNames()
        self._lock = Lock()
        self._sums: dict[str, dict[_Key, float]] = {}
        self._histograms: dict[str, dict[_Key, Histogram]] = {}

    def call_began(self, call: CallBegan) -> CallObserver:
        """Return who counts this call."""
        return _CountedCall(self, CallMeter(call, self._names), self._wants)

    def ledger_seen(self, standing: LedgerStanding) -> None:
        """Take what waits in the ledger, as ``watch_ledger`` finds it."""
        self.count(ledger_measurements(standing))

    def count(self, measurements: Iterable[Measurement]) -> None:
        """Take values."""
        with self._lock:
            for each in measurements:
                self._take(each)

    def text(self) -> str:
        """Return all counts; ``METRICS_TYPE`` is the content type."""
        with self._lock:
            return "".join(f"{line}\n" for each in METRICS for line in self._lines(each))

    def _take(self, each: Measurement) -> None:
        key = _key(each.metric, each.labels)
        if each.metric.kind is MetricKind.HISTOGRAM:
            histograms = self._histograms.setdefault(each.metric.name, {})
            histograms.setdefault(key, Histogram(each.metric.bounds)).add(each.value)
            return
        sums = self._sums.setdefault(each.metric.name, {})
        sums[key] = each.value if each.metric.kind is MetricKind.GAUGE else sums.get(key, 0.0) + each.value

    def _lines(self, which: Metric) -> Iterator[str]:
        sums, histograms = self._sums.get(which.name, {}), self._histograms.get(which.name, {})
        if not sums and not histograms:
            return
        name = which.prometheus_name
        yield from head(name, _TYPES.get(which.kind, str(which.kind)), which.description)
        for key, value in sums.items():
            yield sample(name, value, dict(key))
        for key, histogram in histograms.items():
            yield from histogram.lines(name, dict(key))


class _CountedCall:
    """Count one call."""

    def __init__(self, observer: PrometheusObserver, meter: CallMeter, wants: Wants) -> None:
        self._observer = observer
        self._meter = meter
        self._wants = wants
        observer.count(meter.began())

    def contract_built(self, contract: Contract[object]) -> Wants:
        self._meter.contract_built(contract)
        return self._wants

    def request_began(self, request: RequestBegan) -> None:
        del request
        self._meter.request_began()

    def event(self, event: SentEvent, at_s: float) -> None:
        self._observer.count(self._meter.event(event, at_s))

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Take nothing of what is shown."""

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        self._observer.count(self._meter.request_ended(record, receipt))

    def ended(self, end: CallEnded) -> None:
        self._observer.count(self._meter.ended(end))


def ledger_measurements(standing: LedgerStanding) -> Iterator[Measurement]:
    """Yield what waits in a ledger as values; of one that cannot be read only that."""
    yield Measurement(metric.LEDGER_READABLE, int(standing.is_readable), {})
    for name, waiting in standing.waiting.items():
        labels = {own_names.LEDGER_STATE: name}
        yield Measurement(metric.LEDGER_ROWS, waiting.rows, labels)
        yield Measurement(metric.LEDGER_OLDEST, waiting.oldest_s, labels)


def _key(which: Metric, labels: Labels) -> _Key:
    return tuple((label_name(each), labels[each]) for each in which.attributes if each in labels)


__all__ = ["PrometheusObserver", "ledger_measurements"]
