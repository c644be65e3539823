"""Serve one page, to this machine alone, that fills in a booking form from an e-mail while the model writes.

Usage: python examples/form_web/web.py [PORT]
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import uvicorn
from booking import Booking, ask
from events import RunResponse
from page import HEADERS, PAGE
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from web_options import asked_port

from commitgate import Client, StructuredRun
from commitgate.backends.base import Backend

MOST_BYTES = 16_384
MOST_RUNS = 4


class Question(BaseModel):
    """Hold what the page sends."""

    mail: str = Field(min_length=1, max_length=2000)


def create_app(backends: Mapping[str, Backend] | None = None) -> Starlette:
    """Return the application, with backends of a test in place of the bundled model."""
    client = Client(backends=backends)
    runs: dict[str, StructuredRun[Booking]] = {}

    async def fill(request: Request) -> Response:
        if request.headers.get("content-type") != "application/json":
            return PlainTextResponse("Send JSON: a page of another site cannot, unless it is allowed to.", 415)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return PlainTextResponse("This is too long.", 413)
        try:
            mail = Question.model_validate_json(bytes(body)).mail
        except ValidationError:
            return PlainTextResponse("Send an e-mail of 1 to 2000 characters.", 422)
        if len(runs) >= MOST_RUNS:
            return PlainTextResponse("The model is busy. Try again soon.", 429)
        return RunResponse(ask(client, mail), runs)

    async def cancel(request: Request) -> Response:
        run = runs.get(request.path_params["key"])
        if run is not None:
            run.cancel()
        return Response(status_code=404 if run is None else 204)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with client:
            yield

    routes = [
        Route("/", HTMLResponse(PAGE, headers=HEADERS), methods=["GET"]),
        Route("/runs", fill, methods=["POST"]),
        Route("/runs/{key}", cancel, methods=["DELETE"]),
    ]
    # A name that another site points at this machine is refused.
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=routes, middleware=[guard], lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(create_app(), host="127.0.0.1", port=asked_port(__doc__))
