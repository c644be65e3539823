"""Say what the formats of JSON Schema mean, as languages of texts."""

from __future__ import annotations

from commitgate.automaton.formats.registry import (
    FORMATS,
    format_is_exact,
    format_language,
    format_matches,
    format_sublanguage,
)

__all__ = ["FORMATS", "format_is_exact", "format_language", "format_matches", "format_sublanguage"]
