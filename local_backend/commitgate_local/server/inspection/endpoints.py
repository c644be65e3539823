"""Answer what a browser asks below ``/inspect``: a page that lets in, a list of recent answers, each answer live."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from commitgate.trace import LivePage, Recording, TraceRecorder
from commitgate_local.server.authorization import BearerToken
from commitgate_local.server.inspection import views
from commitgate_local.server.inspection.access import COOKIE, MAX_LOGIN_BYTES, SESSION_S, InspectAccess
from commitgate_local.server.refusal import AUTHENTICATION, RequestRefused, bad_request
from commitgate_local.server.reply_sender import JSON_TYPE
from commitgate_local.server.request_body import ClientGone, read_body
from commitgate_local.server.server_limits import ServerLimits

_MOST_DIGITS: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Hold what looking at answers needs.

    Attributes:
        recorder: has the answers.
        access: knows who may look.
    """

    recorder: TraceRecorder
    access: InspectAccess


def begin_inspection(
    token: str | None, *, clock: Callable[[], float], tell: Callable[[str], None]
) -> tuple[Inspection, str]:
    """Return what looking at answers needs, and the path, with a code that works once, by which one logs in.

    Args:
        token: the server's bearer token; None where there is none.
        clock: seconds that never go back.
        tell: is told of a further such path each time that one was used.
    """

    def path(code: str) -> str:
        return f"{views.LOGIN_PATH}#{code}"

    bearer = None if token is None else BearerToken(token)
    access = InspectAccess(token=bearer, clock=clock, tell=lambda code: tell(path(code)))
    return Inspection(recorder=TraceRecorder(), access=access), path(access.new_code())


PATHS: Final = (views.INSPECT_PATH, views.LOGIN_PATH, views.LOGOUT_PATH, views.RECENT_PATH)
"""Paths without a name in them, which may stand in a log."""

POLLED: Final = f"{views.INSPECT_PATH}/"
"""What the paths begin with that open pages ask for again and again."""


def inspect_routes(inspection: Inspection, limits: ServerLimits) -> list[Route]:
    """Return the routes.

    Args:
        inspection: what looking at answers needs.
        limits: give the seconds in which a body must have come.
    """
    login_limits = replace(limits, body_bytes=MAX_LOGIN_BYTES)

    async def home(request: Request) -> Response:
        if not _allowed(inspection, request):
            return RedirectResponse(views.LOGIN_PATH, status_code=303)
        return _page(views.list_page(inspection.recorder))

    async def answer(request: Request) -> Response:
        if not _allowed(inspection, request):
            return RedirectResponse(views.LOGIN_PATH, status_code=303)
        # A trace does not change; a long one takes a while to be written, which no other answer should wait for.
        return _page(await run_sync(views.answer_page, _recording(inspection, request).trace))

    async def recent(request: Request) -> Response:
        _check(inspection, request)
        data = json.dumps(views.recent(inspection.recorder), separators=(",", ":"), allow_nan=False)
        return Response(data, media_type=JSON_TYPE)

    async def added(request: Request) -> Response:
        _check(inspection, request)
        trace = _recording(inspection, request).trace
        numbers = {name: _number(request, name) for name in ("request", "piece")}
        return Response(await run_sync(partial(views.added, trace, **numbers)), media_type=JSON_TYPE)

    async def login_page(request: Request) -> Response:
        del request
        return _page(views.login_page(takes_token=inspection.access.takes_token))

    async def log_in(request: Request) -> Response:
        _check_own_page(request.headers)
        try:
            body = await read_body(request.receive, request.headers, login_limits)
        except ClientGone:
            return Response(status_code=400)
        session = inspection.access.log_in(**_secrets(body))
        if session is None:
            raise _not_let_in("this link was used already, or is not of this start of the server")
        reply = Response(status_code=204)
        reply.set_cookie(
            COOKIE, session, max_age=int(SESSION_S), path=views.INSPECT_PATH, httponly=True, samesite="strict"
        )
        return reply

    async def log_out(request: Request) -> Response:
        _check_own_page(request.headers)
        inspection.access.log_out(request.cookies.get(COOKIE))
        reply = Response(status_code=204)
        reply.delete_cookie(COOKIE, path=views.INSPECT_PATH, httponly=True, samesite="strict")
        return reply

    answers: tuple[tuple[str, str, Callable[[Request], Awaitable[Response]]], ...] = (
        (views.INSPECT_PATH, "GET", home),
        (views.LOGIN_PATH, "GET", login_page),
        (views.LOGIN_PATH, "POST", log_in),
        (views.LOGOUT_PATH, "POST", log_out),
        (views.RECENT_PATH, "GET", recent),
        (f"{views.ANSWERS_PATH}/{{name}}", "GET", answer),
        (f"{views.ANSWERS_PATH}/{{name}}/trace", "GET", added),
    )
    return [Route(path, reply, methods=[method]) for path, method, reply in answers]


def _allowed(inspection: Inspection, request: Request) -> bool:
    return inspection.access.allows(request.cookies.get(COOKIE), request.headers.get("authorization"))


def _check(inspection: Inspection, request: Request) -> None:
    if not _allowed(inspection, request):
        raise _not_let_in("log in with the link that the server wrote when it was started")


def _not_let_in(message: str) -> RequestRefused:
    return RequestRefused(401, "login_required", message, type=AUTHENTICATION)


def _check_own_page(headers: Headers) -> None:
    """Check that a page of this server asks, and no other: browsers say so, and let no page say otherwise.

    Source: Fetch Metadata Request Headers, section 2.4; Fetch Standard, "Origin header".
    """
    site = headers.get("sec-fetch-site", "same-origin")
    origin = headers.get("origin")
    is_own = origin is None or origin.partition("://")[2].lower() == headers.get("host", "").lower()
    if site not in ("same-origin", "none") or not is_own:
        raise RequestRefused(403, "cross_origin", "only pages of this server may ask for this", type=AUTHENTICATION)


def _secrets(body: bytes) -> dict[str, str]:
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise bad_request("the body must be a JSON object with code or token")
    given = cast("dict[str, object]", found)
    return {name: value for name in ("code", "token") if isinstance(value := given.get(name), str)}


def _recording(inspection: Inspection, request: Request) -> Recording:
    recording = views.found(inspection.recorder, request.path_params["name"])
    if recording is None:
        raise RequestRefused(404, "not_found", "this answer is not kept, or no more: newer ones took its place")
    return recording


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        raise bad_request(f"{name} must be a whole number of at least 0", param=name)
    return int(text)


def _page(page: LivePage) -> Response:
    policy = f"{page.policy}; frame-ancestors 'none'"
    return Response(page.html, media_type="text/html", headers={"Content-Security-Policy": policy})


__all__ = ["PATHS", "POLLED", "Inspection", "begin_inspection", "inspect_routes"]
