"""Read a file of the cache folder, whoever put there what: never one without end, never one that must be waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MOST_KEPT_BYTES: Final = 1 << 30
"""Size of the largest file that is read; those of a vocabulary of 262,145 tokens have some tens of MiB."""


def read_kept(path: Path) -> bytes | None:
    """Return what is in a file; None where there is none, it cannot be read, is too large or is no ordinary file."""
    try:
        # A pipe would be waited for, and a device read without end, also where a link leads there.
        if not path.is_file() or path.stat().st_size > MOST_KEPT_BYTES:
            return None
        return path.read_bytes()
    except (OSError, ValueError):
        return None


__all__ = ["MOST_KEPT_BYTES", "read_kept"]
