"""Look for damage in a ledger: ``commitgate ledger verify``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from commitgate.cli.boundary import errors_told
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.ledger.page import clipped, write_lines
from commitgate.cli.ledger.place import LedgerOption, Place, looked_at, opened
from commitgate.cli.ledger.row import json_line
from commitgate.cli.ledger.soundness import faults_of
from commitgate.cli.report import result_written
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger.base import SCANNED_AT_ONCE, Ledger
from commitgate.ledger.record import Scanned

EPILOG = """
\b
Examples:
  commitgate ledger verify
  commitgate ledger verify --json | jq -r 'select(.fault) | [.key, .fault] | @tsv'
"""

_MOST_TOLD = 200
_MOST_FILE_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """Name one place where something is wrong.

    Attributes:
        key: bytes of the row's key; None for the file itself.
        name: short and stable.
        message: a sentence without payload.
    """

    key: bytes | None
    name: str
    message: str


class _Teller:
    """Write faults as they are found, and count them; text is bounded, JSON lines are all written."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json
        self.faults = 0
        self.rows = 0

    def tell(self, fault: Fault) -> None:
        """Write one fault."""
        self.faults += 1
        key = None if fault.key is None else fault.key.decode(errors="backslashreplace")
        if self._is_json:
            self._write({"key": key, "fault": fault.name, "message": fault.message})
        elif self.faults <= _MOST_TOLD:
            place = "the file" if key is None else clipped(key)
            write_lines([f"{place}: {clipped(fault.message)} ({fault.name})"])

    def conclude(self) -> None:
        """Write what it comes to."""
        if self._is_json:
            self._write({"rows": self.rows, "faults": self.faults, "ok": not self.faults})
            return
        if self.faults > _MOST_TOLD:
            write_lines([f"and {self.faults - _MOST_TOLD:,} more; --json gives all"])
        told = f"{self.faults:,} faults: restore these rows from a copy" if self.faults else "nothing is wrong"
        write_lines([f"{self.rows:,} rows: {told}"])

    @staticmethod
    def _write(report: dict[str, object]) -> None:
        sys.stdout.write(json_line(report) + "\n")


def verify(
    limit: Annotated[int | None, typer.Option(help="Most rows to look at; else all.", min=1, metavar="N")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line: each fault, then the sum.")] = False,
    ledger: LedgerOption = None,
) -> None:
    """Look at every row: is each value the one that its receipt vouches for, and does each row hold what it should?

    Values are compared with their digests; values, results and receipts are read; each row must hold what its state
    promises. A SQLite file is checked as a whole, too. No payload is shown and nothing is changed. The exit code is 9
    where anything is wrong.
    """
    with errors_told(is_json=json), opened(ledger) as place:
        teller = _Teller(is_json=json)
        with result_written("verified"):
            for fault in _file_faults(place):
                teller.tell(fault)
            try:
                place.run(lambda found: _look(found, limit, teller))
            except LedgerUnavailableError as error:
                if not teller.faults:
                    raise
                teller.tell(Fault(None, "unreadable", str(error)))
            teller.conclude()
        raise typer.Exit(ExitCode.STORED_VALUE if teller.faults else ExitCode.COMMITTED)


async def _look(ledger: Ledger, limit: int | None, teller: _Teller) -> None:
    after = b""
    while limit is None or teller.rows < limit:
        wanted = SCANNED_AT_ONCE if limit is None else min(SCANNED_AT_ONCE, limit - teller.rows)
        page = await ledger.scan(after=after, limit=wanted)
        for row in page:
            teller.rows += 1
            for fault in _row_faults(row):
                teller.tell(fault)
        if len(page) < wanted:
            return
        after = page[-1].key


def _row_faults(row: Scanned) -> Iterator[Fault]:
    if row.record is None:
        yield Fault(row.key, "damaged", "the row cannot be read, or is of a state that this release does not know")
        return
    for name, message in faults_of(row.record):
        yield Fault(row.key, name, message)


def _file_faults(place: Place) -> Iterator[Fault]:
    if place.file is None:
        return
    import sqlite3

    with looked_at(place.file) as connection:
        try:
            for (told,) in connection.execute(f"PRAGMA integrity_check({_MOST_FILE_FAULTS})"):
                if told != "ok":
                    yield Fault(None, "integrity", f"SQLite reports: {told}")
            # A file of the first version has the table under another name until it is opened.
            is_there = connection.execute(_IS_THERE).fetchone()[0]
            hidden = connection.execute(_HIDDEN).fetchone()[0] if is_there else 0
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            yield Fault(None, "integrity", "SQLite cannot read the file to its end")
            return
    if hidden:
        yield Fault(None, "hidden_rows", f"{hidden:,} rows have a key that is no bytes: no call finds them")


_IS_THERE = "SELECT count(*) FROM sqlite_master WHERE name = 'commitgate_operation'"
_HIDDEN = "SELECT count(*) FROM commitgate_operation WHERE typeof(key) <> 'blob'"

__all__ = ["EPILOG", "Fault", "verify"]
