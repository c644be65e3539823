"""Keep the texts of answers, for a caller who asked for it. Nothing else of an evaluation holds any."""

from __future__ import annotations

import json
import os
from threading import Lock

from commitgate.errors import RunStoreError
from commitgate.evaluation.record import CaseRecord
from commitgate.evaluation.suite_check import shown


class TextFile:
    """Append answers to a file of JSON lines that its user alone may read. Blocking work for a worker thread.

    Args:
        path: where; made where there is none.

    Raises:
        RunStoreError: it cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = shown(os.fspath(path))
        self._lock = Lock()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            # Without a buffer, so that closing has nothing left to write and nothing to fail in.
            self._file = os.fdopen(os.open(path, flags, 0o600), "ab", buffering=0)
        except (OSError, ValueError) as error:
            raise RunStoreError(f"the file for answers {self._name} cannot be opened") from error

    def append(self, record: CaseRecord, text: str) -> None:
        """Write one answer.

        Raises:
            RunStoreError: it cannot be written.
        """
        case_id, variant, repetition = record.key
        line = {
            "case_id": case_id,
            "variant": variant,
            "repetition": repetition,
            "outcome": record.outcome,
            "text": text,
        }
        try:
            with self._lock:
                left = json.dumps(line).encode() + b"\n"
                while left:
                    left = left[self._file.write(left) :]
        except (OSError, ValueError) as error:
            raise RunStoreError(f"the file for answers {self._name} cannot be written") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


__all__ = ["TextFile"]
