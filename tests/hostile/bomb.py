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


@dataclass(kw_only=True)
class Report:
    """Say what a bomb did.

    Attributes:
        name: the bomb's.
        ends: as in ``Bomb.ends``; ``died`` where the process did not end by itself.
        note: the error's message, or how the process ended.
        ready_s: from the description to the end of compiling, or of refusing: seconds of processor time.
        ready_bytes: peak of memory until then, over what was held before.
        walk_byte_s: dearest byte of the bomb's texts, seconds.
        walk_bytes: how much of its texts was read until the time for all of them was over.
        walk_s: all of its texts, the schema's verdict on them with it.
        mask_s: dearest mask of a random walk with the token taken by it, seconds.
        most_bytes: peak of memory at the very end.
        stopped: limits that were hit while texts were read or written.
    """

    name: str
    ends: str = "compiles"
    note: str = ""
    ready_s: float = 0.0
    ready_bytes: int = 0
    walk_byte_s: float = 0.0
    walk_bytes: int = 0
    walk_s: float = 0.0
    mask_s: float = 0.0
    most_bytes: int = 0
    stopped: list[str] = field(default_factory=list[str])


def too_large(limit_name: str) -> str:
    """Return how a bomb ends that exceeds a limit."""
    return f"LimitExceededError {limit_name}"


__all__ = ["COMPILES", "Bomb", "Report", "too_large"]
