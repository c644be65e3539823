"""Name what hangs on a value, from which follows how much may be risked to get one."""

from __future__ import annotations

from enum import StrEnum


class Risk(StrEnum):
    """Name what a value of a contract is for. The order of definition is that of rising risk."""

    DRAFT = "draft"
    """A person reads it before anything comes of it. It may be made without the constraint, where the caller allows."""
    RECORD = "record"
    """It is kept or handed on."""
    EFFECT = "effect"
    """Something is done because of it. It is never made without the constraint."""


__all__ = ["Risk"]
