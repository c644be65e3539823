"""Make what the pages of a server show out of what it recorded."""

from __future__ import annotations

import json
from typing import Final

from commitgate.json_value import JsonObject
from commitgate.page import Asset, page_policy, standalone_page
from commitgate.trace import LivePage, Recording, Trace, TraceRecorder, live_trace_page, trace_data

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
    return next((each for each in recorder.recordings if each.head.call_id == name), None)


def list_page(recorder: TraceRecorder) -> LivePage:
    """Return the page that lists the answers."""
    data = recent(recorder) | {"source": RECENT_PATH, "answers_path": ANSWERS_PATH, "logout": LOGOUT_PATH}
    return _page("Recent answers", "list", data)


def login_page(*, takes_token: bool) -> LivePage:
    """Return the page that trades a code for a session; everyone may see it."""
    return _page("Log in to look at answers", "login", {"home": INSPECT_PATH, "takes_token": takes_token})


def answer_page(trace: Trace) -> LivePage:
    """Return the page of one answer. It holds the prompt and the answer, and takes time for its length."""
    source = f"{ANSWERS_PATH}/{trace.call_id}/trace"
    return live_trace_page(trace, source=source, home=INSPECT_PATH)


def added(trace: Trace, *, request: int, piece: int) -> bytes:
    """Return as JSON what was recorded beyond so many requests, and so many pieces of the last of these."""
    data = trace_data(trace, from_request=request, from_piece=piece)
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


def _line(recording: Recording) -> JsonObject:
    head = recording.head
    return {
        "id": head.call_id,
        "model": head.model,
        "contract": head.contract_name,
        "started_at": head.started_at,
        "outcome": head.outcome,
        "total_s": head.total_s if head.is_over else None,
        "steps": recording.steps,
        "wishes": recording.wishes,
        "least_mass": recording.least_mass,
    }


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
