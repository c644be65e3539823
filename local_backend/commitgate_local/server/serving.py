"""Hold what all requests of one server share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from starlette.datastructures import Headers

from commitgate.backends.base import Backend
from commitgate.trace import TraceRecorder
from commitgate_local.server.admission import Admission
from commitgate_local.server.authorization import BearerToken
from commitgate_local.server.idempotency import IdempotencyStore
from commitgate_local.server.metrics import Gauges, ServerMetrics
from commitgate_local.server.model_list import ServedModel
from commitgate_local.server.prepared_chats import PreparedChats
from commitgate_local.server.refusal import wrong_key
from commitgate_local.server.server_limits import ServerLimits

LOGGER: Final = logging.getLogger("commitgate.server")
"""Where a server writes what happened: methods, known paths, statuses and times, and never a payload."""

PREPARING_THREADS: Final = 2
"""Most requests that are read and compiled at a time; more wait, and do not take the threads that others need."""


def _preparing() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(PREPARING_THREADS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Hold what all requests of one server share.

    Attributes:
        backend: answers.
        models: the models that are served.
        backend_names: the same by the name that clients use: what the backend calls them.
        limits: bounds of the server.
        token: what a client must bring; None where everyone may ask.
        chats: compiles what is asked for, or remembers it.
        gauges: tells numbers of the masks; None where there are none.
        clock: seconds that never go back.
        wall_clock: seconds since 1970.
        admission: lets requests in.
        store: remembers answers by idempotency key.
        recorder: records answers for those who look at them step by step; None where nobody does.
        metrics: counts.
        preparing: bounds the threads in which requests are read and compiled.
    """

    backend: Backend
    models: tuple[ServedModel, ...]
    backend_names: Mapping[str, str]
    limits: ServerLimits
    token: BearerToken | None
    chats: PreparedChats
    gauges: Gauges | None
    clock: Callable[[], float]
    wall_clock: Callable[[], float]
    admission: Admission
    store: IdempotencyStore
    recorder: TraceRecorder | None = None
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    preparing: anyio.CapacityLimiter = field(default_factory=_preparing)

    def check_authorization(self, headers: Headers) -> None:
        """Check that a request may be served.

        Raises:
            RequestRefused: its bearer token is missing or wrong.
        """
        if self.token is not None and not self.token.matches(headers.get("authorization")):
            raise wrong_key()

    def numbers_of_now(self) -> dict[str, float]:
        """Return the gauges of the server and of its masks."""
        numbers: dict[str, float] = {
            "requests_in_flight": self.admission.in_flight,
            "requests_queued": self.admission.queued,
            "draining": int(self.admission.is_draining),
            "idempotency_kept": self.store.kept,
            "idempotency_bytes": self.store.size_bytes,
            "idempotency_in_progress": self.store.in_progress,
        }
        return numbers | dict(self.gauges() if self.gauges is not None else {})


__all__ = ["LOGGER", "PREPARING_THREADS", "Serving"]
