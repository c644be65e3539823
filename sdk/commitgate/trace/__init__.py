"""Record what one generation did, step by step, and show it as a page."""

from commitgate.trace.growth import grown, replayed
from commitgate.trace.page import LivePage, live_trace_page, trace_page
from commitgate.trace.recorder import TraceRecorder
from commitgate.trace.recording import Recording
from commitgate.trace.trace import (
    Change,
    Trace,
    TraceFailure,
    TraceLayer,
    TracePiece,
    TraceReceipt,
    TraceRequest,
)
from commitgate.trace.trace_json import dump_trace, trace_data
from commitgate.trace.trace_reading import load_trace
from commitgate.trace.wishes import illegal_wishes, is_illegal_wish

__all__ = [
    "Change",
    "LivePage",
    "Recording",
    "Trace",
    "TraceFailure",
    "TraceLayer",
    "TracePiece",
    "TraceReceipt",
    "TraceRecorder",
    "TraceRequest",
    "dump_trace",
    "grown",
    "illegal_wishes",
    "is_illegal_wish",
    "live_trace_page",
    "load_trace",
    "replayed",
    "trace_data",
    "trace_page",
]
