"""Watch calls: who is told what, and when."""

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

__all__ = [
    "NOTHING_MORE",
    "CallBegan",
    "CallEnded",
    "CallKind",
    "CallObserver",
    "Observer",
    "RequestBegan",
    "Wants",
]
