"""Keep the records of a run in a file, line by line, so that a run that was cut short goes on where it stopped.

The first line is a header that names the run: suite, contracts, model, settings and version by their digests. Each
further line is one record, what answered, or how long a part of the run took. A line counts once its line feed is
there; one without, as a process leaves it that is killed while it writes, is taken off and its record made anew.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import cast

from commitgate.errors import RunStoreError
from commitgate.evaluation.record import CaseRecord
from commitgate.evaluation.record_json import loads, record_from_json, record_to_json
from commitgate.evaluation.run_lock import lock_file
from commitgate.evaluation.suite_check import shown
from commitgate.json_value import JsonObject, JsonValue

HEADER_FIELD = "commitgate_evaluation"
"""The field by which the file is known; its value is the version of its form."""

MAX_STORE_BYTES = 536_870_912
"""Largest file of records; all of it is read at once."""

NAMING_FIELDS = ("suite_digest", "contracts", "model", "settings", "package_version")
"""What of a header must be the same for a run to be gone on with."""

_VERSION = 1
_MAGIC = f'{{"{HEADER_FIELD}":'.encode()


@dataclass(slots=True, kw_only=True)
class Kept:
    """Hold what a file of records had.

    Attributes:
        header: its first line.
        records: the records, in the order in which they were made.
        answered_by: what answered, in the order in which it was first seen.
        wall_s: seconds that the parts of the run took.
        was_torn: its last line was cut and is taken off.
    """

    header: JsonObject
    records: list[CaseRecord] = field(default_factory=list[CaseRecord])
    answered_by: list[JsonObject] = field(default_factory=list[JsonObject])
    wall_s: float = 0.0
    was_torn: bool = False
    size_bytes: int = 0


class RunStore:
    """Append to one file. Every method is blocking work for a worker thread. Make it with ``RunStore.open``.

    Attributes:
        kept: what was in it when it was opened.
    """

    def __init__(self, descriptor: int, name: str, kept: Kept) -> None:
        self._descriptor = descriptor
        self._name = name
        self._lock = Lock()
        self._is_closed = False
        self.kept = kept

    @staticmethod
    def open(path: str | os.PathLike[str], header: JsonObject) -> RunStore:
        """Open a file for one run alone, and make it where there is none.

        Args:
            path: where.
            header: what names the run; its other members are kept as the file has them.

        Raises:
            RunStoreError: it cannot be opened or written, another process is at it, it is of another run, or it is
                damaged or no such file. It is unchanged.
        """
        name = shown(os.fspath(path))
        try:
            # Made for its user alone: names of cases may tell something, too.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except (OSError, ValueError) as error:
            raise RunStoreError(f"the records {name} cannot be opened: {_reason(error)}") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RunStoreError(f"{name} is no plain file, in which alone records can be kept")
            if not lock_file(descriptor):
                raise RunStoreError(f"the records {name} are in use: another run writes them")
            kept = _begun(descriptor, name, header)
        except BaseException:
            os.close(descriptor)
            raise
        return RunStore(descriptor, name, kept)

    def append(self, line: Mapping[str, JsonValue]) -> None:
        """Write a line, and return once it is on the disk.

        Raises:
            RunStoreError: it cannot be written, or the file was closed.
        """
        with self._lock:
            if self._is_closed:
                raise RunStoreError(f"the records {self._name} are closed")
            try:
                _write(self._descriptor, _line(line))
            except OSError as error:
                # Half a line may stand at the end: nothing may be written behind it.
                self._is_closed = True
                os.close(self._descriptor)
                raise RunStoreError(f"the records {self._name} cannot be written: {_reason(error)}") from error

    def close(self) -> None:
        """Close the file, which unlocks it."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self._descriptor)


def read_store(path: str | os.PathLike[str]) -> Kept:
    """Return what a file of records has, without changing it. Blocking work for a worker thread.

    Raises:
        RunStoreError: it cannot be read, or is damaged or no such file.
    """
    name = shown(os.fspath(path))
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_STORE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise RunStoreError(f"the records {name} cannot be read: {_reason(error)}") from error
    kept = parse_store(data, name)
    if kept is None:
        raise RunStoreError(f"the records {name} are empty")
    return kept


def record_line(record: CaseRecord) -> JsonObject:
    """Return the line of a record."""
    return {"record": record_to_json(record)}


def answered_line(facts: JsonObject) -> JsonObject:
    """Return the line that says what answers from here on."""
    return {"answered_by": facts}


def part_line(wall_s: float) -> JsonObject:
    """Return the line that says how long a part of the run took."""
    return {"part_s": wall_s}


def parse_store(data: bytes, name: str) -> Kept | None:
    """Return what the bytes of a file say; None where not even the header is whole.

    Raises:
        RunStoreError: they are no such file's, or damaged before their last line.
    """
    if len(data) > MAX_STORE_BYTES:
        raise RunStoreError(f"the records {name} are larger than {MAX_STORE_BYTES} bytes")
    head, feed, rest = data.partition(b"\n")
    is_ours = head.startswith(_MAGIC) or (not feed and _MAGIC.startswith(head))
    if not is_ours:
        raise RunStoreError(f"{name} is no file of records; give another path, since this one is not touched")
    header = _parsed(head)
    if header is None:
        if feed:
            raise RunStoreError(f"the records {name} are damaged in line 1")
        return None
    if header.get(HEADER_FIELD) != _VERSION:
        raise RunStoreError(f"the records {name} are of another release: their form is another one")
    kept = Kept(header=header, size_bytes=len(head) + len(feed))
    _read_lines(kept, rest, name)
    return kept


def _read_lines(kept: Kept, rest: bytes, name: str) -> None:
    lines = rest.split(b"\n")
    for number, line in enumerate(lines, 2):
        is_last = number == len(lines) + 1
        if is_last and not line:
            return
        value = _parsed(line)
        is_read = value is not None and _read_line(kept, value)
        if is_read:
            kept.size_bytes += len(line) + (not is_last)
        elif is_last:
            kept.was_torn = True
        else:
            raise RunStoreError(f"the records {name} are damaged in line {number}; take that line out, or begin anew")


def _read_line(kept: Kept, value: JsonObject) -> bool:
    match value:
        case {"record": record}:
            try:
                kept.records.append(record_from_json(record))
            except ValueError:
                return False
        case {"answered_by": dict(facts)}:
            kept.answered_by.append(facts)
        case {"part_s": int(seconds) | float(seconds)} if not isinstance(seconds, bool):
            kept.wall_s += seconds
        case _:
            return False
    return True


def _parsed(line: bytes) -> JsonObject | None:
    try:
        value = loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(JsonObject, value) if isinstance(value, dict) else None


def _begun(descriptor: int, name: str, header: JsonObject) -> Kept:
    try:
        data = _read(descriptor)
        kept = parse_store(data, name)
        if kept is None:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            whole: JsonObject = {HEADER_FIELD: _VERSION, **header}
            _write(descriptor, _line(whole))
            return Kept(header=whole, was_torn=bool(data))
        check_same(kept.header, header, name)
        os.ftruncate(descriptor, kept.size_bytes)
        os.lseek(descriptor, 0, os.SEEK_END)
        if not data[: kept.size_bytes].endswith(b"\n"):
            _write(descriptor, b"\n")
    except OSError as error:
        raise RunStoreError(f"the records {name} cannot be read or written: {_reason(error)}") from error
    return kept


def check_same(found: JsonObject, wanted: JsonObject, name: str) -> None:
    """Check that a file of records is that of a run.

    Args:
        found: the file's header.
        wanted: the run's.
        name: the file's, for the message.

    Raises:
        RunStoreError: it is another run's.
    """
    # As both are after they were written: a tuple has become a list.
    written = cast(JsonObject, json.loads(_line(wanted)))
    differs = tuple(each for each in NAMING_FIELDS if found.get(each) != written.get(each))
    if differs:
        raise RunStoreError(
            f"the records {name} are those of another run: {', '.join(differs)} differ; give another path, or take "
            "what the run was begun with",
            differs=differs,
        )


def _read(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    pieces: list[bytes] = []
    size = 0
    while size <= MAX_STORE_BYTES and (piece := os.read(descriptor, 1 << 20)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)


def _line(value: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else "no path of a file"


__all__ = [
    "HEADER_FIELD",
    "MAX_STORE_BYTES",
    "NAMING_FIELDS",
    "Kept",
    "RunStore",
    "answered_line",
    "check_same",
    "parse_store",
    "part_line",
    "read_store",
    "record_line",
]
