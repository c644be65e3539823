"""Show one generation as one page in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from commitgate.json_value import JsonObject
from commitgate.page import Asset, page_policy, standalone_page
from commitgate.trace.trace import Trace
from commitgate.trace.trace_json import trace_data

_PACKAGE: Final = "commitgate.trace"
_SCRIPTS: Final = ("reading.js", "timeline.js", "step.js", "growing.js", "ending.js", "moving.js")
_LIVE_SCRIPT: Final = "live.js"
_TITLE: Final = "One generation, step by step"


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePage:
    """Hold a page that goes on asking its server what was added.

    Attributes:
        html: the whole document.
        policy: its content security policy, for a header.
    """

    html: str
    policy: str


def trace_page(trace: Trace) -> str:
    """Return a whole HTML document that needs nothing else. It holds the prompt and the answer."""
    return standalone_page(
        _TITLE, body=_asset("page.html"), data=trace_data(trace), scripts=_scripts(), styles=(_asset("page.css"),)
    )


def live_trace_page(trace: Trace, *, source: str, home: str) -> LivePage:
    """Return a page that shows further pieces as they are recorded.

    Args:
        trace: as far as it has come.
        source: path below which the same server tells what was added: it is asked with ``request`` and ``piece``, how
            many of both the page knows, and answers as ``trace_data`` does.
        home: path of the page that lists all traces.
    """
    scripts = (*_scripts(), _asset(_LIVE_SCRIPT))
    data: JsonObject = trace_data(trace) | {"source": source, "home": home}
    html = standalone_page(
        _TITLE, body=_asset("page.html"), data=data, scripts=scripts, styles=(_asset("page.css"),), connect="'self'"
    )
    return LivePage(html=html, policy=page_policy(scripts, connect="'self'"))


def _scripts() -> tuple[str, ...]:
    return tuple(_asset(name) for name in _SCRIPTS)


def _asset(name: str) -> str:
    return Asset(_PACKAGE, name).read()


__all__ = ["LivePage", "live_trace_page", "trace_page"]
