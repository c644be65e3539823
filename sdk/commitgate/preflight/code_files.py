"""Read the caller's code: files, and folders with all files of Python in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from commitgate.errors import MisuseError
from commitgate.harmless import harmless
from commitgate.preflight.code_scan import CodeScan, scan

MAX_CODE_FILES = 2_000
"""Most files of code that are read; more are told as not read."""

MAX_CODE_BYTES = 1_048_576
"""Largest file of code that is read."""

_NOT_ENTERED = frozenset({"__pycache__", "node_modules", "site-packages", "dist", "build"})


def scan_code(places: Sequence[Path], *, acting_names: frozenset[str] = frozenset()) -> CodeScan:
    """Return what is found in files and folders. Blocks.

    Args:
        places: files of Python, or folders of which every one is read; hidden folders and installed packages are not.
        acting_names: as of ``scan``.

    Raises:
        MisuseError: a place does not exist.
    """
    texts: list[tuple[str, str]] = []
    unread: list[str] = []
    files = list(dict.fromkeys(file for place in places for file in _files(place)))
    for file in files[:MAX_CODE_FILES]:
        name = harmless(str(file))
        try:
            data = file.read_bytes()
            if len(data) > MAX_CODE_BYTES:
                unread.append(f"{name}: larger than {MAX_CODE_BYTES:,} bytes")
            else:
                texts.append((name, data.decode()))
        except (OSError, UnicodeDecodeError) as error:
            unread.append(f"{name}: {type(error).__name__}")
    if len(files) > MAX_CODE_FILES:
        unread.append(f"{len(files) - MAX_CODE_FILES} more files: no more than {MAX_CODE_FILES:,} are read")
    found = scan(texts, acting_names=acting_names)
    return CodeScan(
        files=found.files,
        unread=(*unread, *found.unread),
        calls=found.calls,
        makings=found.makings,
        values=found.values,
    )


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    if not place.is_dir():
        raise MisuseError(f"there is no code at {harmless(str(place))}: neither a file nor a folder")
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_ENTERED)
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(".py"))


__all__ = ["MAX_CODE_BYTES", "MAX_CODE_FILES", "scan_code"]
