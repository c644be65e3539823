"""Make text that came from elsewhere safe to write to a terminal."""

from commitgate.harmless import harmless

__all__ = ["harmless"]
