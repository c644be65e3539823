"""Show one generation as one page in one file."""

from __future__ import annotations

from typing import Final

from commitgate.page import Asset, standalone_page
from commitgate.trace.trace import Trace
from commitgate.trace.trace_json import trace_data

_PACKAGE: Final = "commitgate.trace"
_SCRIPTS: Final = ("reading.js", "timeline.js", "step.js", "growing.js", "ending.js", "moving.js")


def trace_page(trace: Trace) -> str:
    """Return a whole HTML document that needs nothing else. It holds the prompt and the answer."""
    return standalone_page(
        "One generation, step by step",
        body=Asset(_PACKAGE, "page.html").read(),
        data=trace_data(trace),
        scripts=tuple(Asset(_PACKAGE, name).read() for name in _SCRIPTS),
        styles=(Asset(_PACKAGE, "page.css").read(),),
    )


__all__ = ["trace_page"]
