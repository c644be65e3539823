"""Hold dialects and backends to the laws that this project's own ones keep."""

from commitgate.testing.conformance.backend_check import check_backend
from commitgate.testing.conformance.dialect_check import check_dialect
from commitgate.testing.conformance.law import ConformanceError, Law, laws
from commitgate.testing.conformance.recorded_answer import RecordedAnswer

__all__ = ["ConformanceError", "Law", "RecordedAnswer", "check_backend", "check_dialect", "laws"]
