"""Put the server's parts together into one ASGI application."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from commitgate.argument import check_kind
from commitgate.backends.base import Backend
from commitgate.errors import MisuseError
from commitgate.reasoning import Reasoning
from commitgate.run.conversation import PromptSchema
from commitgate_local.server.admission import Admission
from commitgate_local.server.authorization import BearerToken
from commitgate_local.server.chat_call import ChatCall
from commitgate_local.server.doorway import Doorway
from commitgate_local.server.idempotency import IdempotencyStore
from commitgate_local.server.inspection.endpoints import PATHS as INSPECT_PATHS
from commitgate_local.server.inspection.endpoints import POLLED, Inspection, inspect_routes
from commitgate_local.server.metrics import METRICS_TYPE, Gauges
from commitgate_local.server.model_list import ServedModel, model_list
from commitgate_local.server.prepared_chats import PreparedChats
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.reply_sender import JSON_TYPE
from commitgate_local.server.server_limits import ServerLimits
from commitgate_local.server.serving import Serving

CHAT_PATH: Final = "/v1/chat/completions"
MODELS_PATH: Final = "/v1/models"
HEALTH_PATH: Final = "/health"
METRICS_PATH: Final = "/metrics"

_PATHS: Final = (CHAT_PATH, MODELS_PATH, HEALTH_PATH, METRICS_PATH)
_NO_NAMES: Final[Mapping[str, str]] = {}


def create_app(
    backend: Backend,
    *,
    models: Sequence[ServedModel],
    limits: ServerLimits | None = None,
    token: str | None = None,
    backend_names: Mapping[str, str] = _NO_NAMES,
    prompt_schema: PromptSchema = "none",
    reasoning: Reasoning | None = None,
    gauges: Gauges | None = None,
    hosts: Collection[str] | None = None,
    inspection: Inspection | None = None,
    clock: Callable[[], float] = time.monotonic,
    wall_clock: Callable[[], float] = time.time,
) -> Starlette:
    """Return the application. It works under asyncio and trio, and leaves the backend to whoever made it.

    Args:
        backend: answers the requests.
        models: the models that are served, at least one.
        limits: bounds of the server; None takes the defaults.
        token: the bearer token that a client must bring; None where everyone may ask.
        backend_names: what the backend calls models that it knows by another name.
        prompt_schema: ``append`` shows models their schema.
        reasoning: how models may think before they answer; None lets them answer at once.
        gauges: tells numbers of the masks, for ``/metrics``.
        hosts: names of this server that a request may carry; None where any.
        inspection: lets people with a browser look at recent prompts and answers below ``/inspect``; None keeps none.
        clock: seconds that never go back.
        wall_clock: seconds since 1970.

    Raises:
        MisuseError: there is no model, two have one name, or an argument is of another kind.
    """
    limits = ServerLimits() if limits is None else limits
    check_kind("limits", limits, ServerLimits, "a ServerLimits")
    if reasoning is not None:
        check_kind("reasoning", reasoning, Reasoning, "a Reasoning")
    names = {each.name: backend_names.get(each.name, each.name) for each in models}
    if not names or len(names) != len(models):
        raise MisuseError("models must have at least one entry, each with a name of its own")
    serving = Serving(
        backend=backend,
        models=tuple(models),
        backend_names=names,
        limits=limits,
        token=None if token is None else BearerToken(token),
        chats=PreparedChats(limits, prompt_schema, reasoning),
        gauges=gauges,
        clock=clock,
        wall_clock=wall_clock,
        admission=Admission(limits),
        store=IdempotencyStore(limits),
        recorder=None if inspection is None else inspection.recorder,
    )
    paths = _PATHS if inspection is None else (*_PATHS, *INSPECT_PATHS)
    app = Starlette(
        routes=[*_routes(serving), *([] if inspection is None else inspect_routes(inspection, limits))],
        middleware=[Middleware(Doorway, paths=paths, hosts=hosts, write_s=limits.write_s, polled=POLLED)],
        exception_handlers={HTTPException: _http_error, RequestRefused: _refused},
    )
    # A path that is not there is not there, with a slash behind it too.
    app.router.redirect_slashes = False
    app.state.serving = serving
    return app


def admission_of(app: Starlette) -> Admission:
    """Return what lets requests in, for a shutdown."""
    serving: object = app.state.serving
    assert isinstance(serving, Serving), "create_app made it"
    return serving.admission


class ChatEndpoint:
    """Answer ``POST /v1/chat/completions``, over bare ASGI: what is sent, and when, is decided there."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await ChatCall(self._serving, Headers(scope=scope), receive, send).respond()


def _routes(serving: Serving) -> list[Route]:
    async def models(request: Request) -> Response:
        serving.check_authorization(request.headers)
        return Response(model_list(serving.models), media_type=JSON_TYPE)

    async def health(request: Request) -> Response:
        del request
        is_draining = serving.admission.is_draining
        body = json.dumps({"status": "draining" if is_draining else "ok"})
        return Response(body, status_code=503 if is_draining else 200, media_type=JSON_TYPE)

    async def metrics(request: Request) -> Response:
        serving.check_authorization(request.headers)
        return Response(serving.metrics.text(serving.numbers_of_now()), headers={"Content-Type": METRICS_TYPE})

    answers: tuple[tuple[str, Callable[[Request], Awaitable[Response]]], ...] = (
        (MODELS_PATH, models),
        (HEALTH_PATH, health),
        (METRICS_PATH, metrics),
    )
    return [
        Route(CHAT_PATH, ChatEndpoint(serving), methods=["POST"]),
        *(Route(path, answer, methods=["GET"]) for path, answer in answers),
    ]


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, RequestRefused), "it is registered for these"
    return Response(error.body(), status_code=error.status, headers=error.headers, media_type=JSON_TYPE)


def _method_of(path: str) -> str:
    return "POST" if path == CHAT_PATH else "GET"


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "it is registered for these"
    codes = {
        404: ("not_found", f"there is nothing at this path; there are {', '.join(_PATHS)}"),
        405: ("method_not_allowed", f"use {_method_of(request.url.path)} at this path"),
    }
    code, message = codes.get(error.status_code, ("invalid_request", "the request cannot be served"))
    refused = RequestRefused(error.status_code, code, message, headers=dict(error.headers or {}))
    return await _refused(request, refused)


__all__ = ["CHAT_PATH", "HEALTH_PATH", "METRICS_PATH", "MODELS_PATH", "ChatEndpoint", "admission_of", "create_app"]
