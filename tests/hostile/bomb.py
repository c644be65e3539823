"""Describe one bomb: a description that is small to write and meant to be dear to read, and how it has to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

COMPILES = "compiles"
NO_TEXT: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bomb:
    """Say how a bomb is made and how it ends.

    Attributes:
        name: what it is called in tests and in the docs.
        make: makes what a contract is made of; called in the child process, outside of the measurement.
        ends: ``compiles``, or the name of the error, behind it the limit of a ``LimitExceededError``.
        texts: what is walked, and judged by the schema where it is JSON, once it compiled.
    """

    name: str
    make: Callable[[], object] = field(repr=False)
    ends: str = COMPILES
    texts: tuple[bytes, ...] = field(default=NO_TEXT, repr=False)


def too_large(limit_name: str) -> str:
    """Return how a bomb ends that exceeds a limit."""
    return f"LimitExceededError {limit_name}"


__all__ = ["COMPILES", "Bomb", "too_large"]
