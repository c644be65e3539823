"""Keep arrays in files that are used only where they are whole, unchanged and under their own name.

A file begins with the sha256 of its name and of all that follows: the length of a table of contents, the table (JSON:
each array's name, type and shape), and the arrays' bytes one after the other. The name says everything that the arrays
depend on, so that a file which was renamed, cut, changed or made by another version is as good as absent.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from commitgate_local.kept_file import read_kept

AnyArray: TypeAlias = "NDArray[np.bool_] | NDArray[np.uint8] | NDArray[np.int32] | NDArray[np.int64]"

_KINDS = ("|b1", "|u1", "<i4", "<i8")
_LENGTH_BYTES = 4


MOST_KEPT_FILES: Final = 512
"""Most files in a folder; past it the half that was not used for longest is deleted."""

ENGINE_VERSION = 1
"""Version of what the arrays of the engine mean; part of every name."""


class ArrayFolder:
    """Keep arrays by name in a folder that need not be there.

    Args:
        path: the folder; made when something is kept.

    Attributes:
        error: why the last array could not be kept; None where it could.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.error: str | None = None

    def get(self, *key: str) -> dict[str, AnyArray] | None:
        """Return what is kept under a key, read-only; None where there is nothing that can be used."""
        path = self._file(key)
        found = read_arrays(path)
        if found is not None:
            # What is used is young, and stays when room is made.
            with suppress(OSError):
                os.utime(path)
        return found

    def put(self, arrays: Mapping[str, AnyArray], *key: str) -> None:
        """Keep arrays under a key. A folder that cannot be written keeps none, and ``error`` says why."""
        try:
            write_arrays(self._file(key), arrays)
        except OSError as error:
            self.error = error.strerror or type(error).__name__
        except ValueError as error:
            # The path can be no file's name.
            self.error = str(error)
        else:
            self.error = None
            self._make_room()

    def _make_room(self) -> None:
        """Delete the older half of the files where there are too many: each new schema may leave one."""
        # Another process may do the same.
        with suppress(OSError):
            kept = [(path.stat().st_mtime_ns, path) for path in self._path.glob("*.arrays")]
            for _, path in sorted(kept)[: len(kept) // 2 if len(kept) > MOST_KEPT_FILES else 0]:
                path.unlink(missing_ok=True)

    def _file(self, key: tuple[str, ...]) -> Path:
        name = hashlib.sha256(json.dumps([ENGINE_VERSION, *key]).encode()).hexdigest()
        return self._path / f"{name}.arrays"


def read_arrays(path: Path) -> dict[str, AnyArray] | None:
    """Return the arrays of a file, read-only; None where there is none that can be used."""
    held = read_kept(path)
    if held is None:
        return None
    size = hashlib.sha256().digest_size
    if held[:size] != _digest(path.name, held[size:]):
        return None
    # What has the right digest was written by ``write_arrays``, so from here on everything is as it should be.
    start = size + _LENGTH_BYTES + int.from_bytes(held[size : size + _LENGTH_BYTES], "little")
    contents = cast("list[tuple[str, str, list[int]]]", json.loads(held[size + _LENGTH_BYTES : start]))
    found: dict[str, AnyArray] = {}
    for name, kind, shape in contents:
        count = int(np.prod(shape))
        found[name] = cast("AnyArray", np.frombuffer(held, kind, count, start).reshape(shape))
        start += found[name].nbytes
    return found


def write_arrays(path: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Write arrays into a file, whole or not at all.

    Raises:
        OSError: it cannot be written; what was there before is still there.
        ValueError: the path can be no file's name.
    """
    contents = [(name, array.dtype.str, list(array.shape)) for name, array in arrays.items()]
    table = json.dumps(contents).encode()
    parts = [len(table).to_bytes(_LENGTH_BYTES, "little"), table, *(array.tobytes() for array in arrays.values())]
    body = b"".join(parts)
    assert all(kind in _KINDS for _, kind, _ in contents), "arrays are little-endian numbers"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written beside and renamed, so that no other process ever sees half of it.
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:16]}", delete=False) as file:
        beside = Path(file.name)
        try:
            file.write(_digest(path.name, body) + body)
            file.close()
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(b"commitgate arrays 1 " + name.encode() + b"\0" + body).digest()


__all__ = ["ENGINE_VERSION", "MOST_KEPT_FILES", "AnyArray", "ArrayFolder", "read_arrays", "write_arrays"]
