"""Record what one generation did, step by step, and show it as a page."""

from commitgate.trace.trace import Trace, TracePiece, TraceRequest

__all__ = ["Trace", "TracePiece", "TraceRequest"]
