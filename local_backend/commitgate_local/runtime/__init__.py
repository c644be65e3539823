"""Run models for several conversations at once: one pass over rows of tokens, each with its own slot of the cache."""

from commitgate_local.runtime.base import Row, Runtime
from commitgate_local.runtime.choice import CACHE_BYTES, SLOTS, make_runtime
from commitgate_local.runtime.precision import PRECISIONS

__all__ = ["CACHE_BYTES", "PRECISIONS", "SLOTS", "Row", "Runtime", "make_runtime"]
