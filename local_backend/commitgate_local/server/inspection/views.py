"""Make what the pages of a server show out of what it recorded."""

from __future__ import annotations

from typing import Final

from commitgate.json_value import JsonObject, JsonValue
from commitgate.page import Asset, page_policy, standalone_page
from commitgate.trace import LivePage, Recording, TraceRecorder, is_illegal_wish, live_trace_page, trace_data

INSPECT_PATH: Final = "/inspect"
LOGIN_PATH: Final = "/inspect/login"
LOGOUT_PATH: Final = "/inspect/logout"
RECENT_PATH: Final = "/inspect/recent"
ANSWERS_PATH: Final = "/inspect/answers"

_PACKAGE: Final = "commitgate_local.server.inspection"


def recent(recorder: TraceRecorder) -> JsonObject:
    """Return one line for each answer, the newest first, without a word of prompt or answer."""
    return {"answers": [_line(each) for each in reversed(recorder.recordings)]}


def found(recorder: TraceRecorder, name: str) -> Recording | None:
    """Return who recorded an answer; None where it is not kept."""
    return next((each for each in recorder.recordings if each.call_id == name), None)


def list_page(recorder: TraceRecorder) -> LivePage:
    """Return the page that lists the answers."""
    data = recent(recorder) | {"source": RECENT_PATH, "answers_path": ANSWERS_PATH, "logout": LOGOUT_PATH}
    return _page("Recent answers", "list", data)


def login_page(*, takes_token: bool) -> LivePage:
    """Return the page that trades a code for a session; everyone may see it."""
    return _page("Log in to look at answers", "login", {"home": INSPECT_PATH, "takes_token": takes_token})


def answer_page(recording: Recording) -> LivePage:
    """Return the page of one answer. It holds the prompt and the answer."""
    source = f"{ANSWERS_PATH}/{recording.call_id}/trace"
    return live_trace_page(recording.trace, source=source, home=INSPECT_PATH)


def added(recording: Recording, *, request: int, piece: int) -> JsonObject:
    """Return what was recorded beyond so many requests, and so many pieces of the last of these."""
    return trace_data(recording.trace, from_request=request, from_piece=piece)


def _line(recording: Recording) -> JsonObject:
    trace = recording.trace
    pieces = [piece for request in trace.requests for piece in request.pieces]
    masses = [piece.legal_mass for piece in pieces if piece.legal_mass is not None]
    line: dict[str, JsonValue] = {
        "id": trace.call_id,
        "model": trace.model,
        "contract": trace.contract_name,
        "started_at": trace.started_at,
        "outcome": trace.outcome,
        "total_s": trace.total_s if trace.is_over else None,
        "steps": sum(piece.step is not None for piece in pieces),
        "wishes": sum(piece.step is not None and is_illegal_wish(piece.step) for piece in pieces),
        "least_mass": min(masses, default=None),
    }
    return line


def _page(title: str, name: str, data: JsonObject) -> LivePage:
    scripts = (Asset(_PACKAGE, f"{name}.js").read(),)
    html = standalone_page(
        title,
        body=Asset(_PACKAGE, f"{name}.html").read(),
        data=data,
        scripts=scripts,
        styles=(Asset(_PACKAGE, "pages.css").read(),),
        connect="'self'",
    )
    return LivePage(html=html, policy=page_policy(scripts, connect="'self'"))


__all__ = [
    "ANSWERS_PATH",
    "INSPECT_PATH",
    "LOGIN_PATH",
    "LOGOUT_PATH",
    "RECENT_PATH",
    "added",
    "answer_page",
    "found",
    "list_page",
    "login_page",
    "recent",
]
