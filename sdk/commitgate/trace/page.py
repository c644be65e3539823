"""Show one generation as one page in one file."""

from __future__ import annotations

from commitgate.json_value import JsonObject
from commitgate.page import Asset, standalone_page
from commitgate.trace.trace import Trace
from commitgate.trace.trace_json import trace_data

_PACKAGE = "commitgate.trace"


def trace_page(trace: Trace | JsonObject) -> str:
    """Return a whole HTML document that needs nothing else. It holds the prompt and the answer.

    Args:
        trace: a trace, or the JSON of a kept one.
    """
    data = trace_data(trace) if isinstance(trace, Trace) else trace
    return standalone_page(
        "One generation, step by step",
        body=Asset(_PACKAGE, "page.html").read(),
        data=data,
        scripts=tuple(Asset(_PACKAGE, name).read() for name in ("reading.js", "showing.js", "moving.js")),
        styles=(Asset(_PACKAGE, "page.css").read(),),
    )


__all__ = ["trace_page"]
