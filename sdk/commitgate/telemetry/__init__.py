"""Watch calls: who is told what, and when, and what OpenTelemetry and Prometheus make of it.

Importing this package is cheap: what counts and what makes spans is loaded when a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from commitgate.errors import MissingExtraError
from commitgate.telemetry.observer import (
    NOTHING_MORE,
    CallBegan,
    CallEnded,
    CallKind,
    CallObserver,
    Observer,
    RequestBegan,
    Wants,
)

if TYPE_CHECKING:
    from commitgate.telemetry.metric import METRICS, Metric
    from commitgate.telemetry.opentelemetry import OpenTelemetryObserver
    from commitgate.telemetry.prometheus import PrometheusObserver
    from commitgate.telemetry.text_format import METRICS_TYPE
    from commitgate.telemetry.waiting_rows import LedgerStanding, Waiting, ledger_standing, watch_ledger

_HOMES = {
    "METRICS": "metric",
    "METRICS_TYPE": "text_format",
    "LedgerStanding": "waiting_rows",
    "Metric": "metric",
    "OpenTelemetryObserver": "opentelemetry",
    "PrometheusObserver": "prometheus",
    "Waiting": "waiting_rows",
    "ledger_standing": "waiting_rows",
    "watch_ledger": "waiting_rows",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "opentelemetry":
            raise
        raise MissingExtraError("otel", f"commitgate.telemetry.{name}") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


__all__ = [
    "METRICS",
    "METRICS_TYPE",
    "NOTHING_MORE",
    "CallBegan",
    "CallEnded",
    "CallKind",
    "CallObserver",
    "LedgerStanding",
    "Metric",
    "Observer",
    "OpenTelemetryObserver",
    "PrometheusObserver",
    "RequestBegan",
    "Waiting",
    "Wants",
    "ledger_standing",
    "watch_ledger",
]
