"""Record what one generation did, step by step, and show it as a page."""

from commitgate.trace.page import trace_page
from commitgate.trace.recorder import TraceRecorder
from commitgate.trace.trace import Trace, TracePiece, TraceRequest
from commitgate.trace.trace_json import dump_trace, load_trace_data, trace_data
from commitgate.trace.wishes import illegal_wishes, is_illegal_wish

__all__ = [
    "Trace",
    "TracePiece",
    "TraceRecorder",
    "TraceRequest",
    "dump_trace",
    "illegal_wishes",
    "is_illegal_wish",
    "load_trace_data",
    "trace_data",
    "trace_page",
]
