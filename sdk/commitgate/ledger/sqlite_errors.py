"""Map everything that SQLite and the file system raise to one typed error that says what to do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from commitgate.errors import LedgerUnavailableError

# Source: https://www.sqlite.org/rescode.html; the low byte of an extended code is its primary code.
_ADVICE = {
    "SQLITE_BUSY": "another process holds it; call again, and look for a program that keeps it locked",
    "SQLITE_LOCKED": "another connection holds it; call again",
    "SQLITE_FULL": "the disk is full; free space and call again",
    "SQLITE_READONLY": "it cannot be written; check the permissions of the file and its folder",
    "SQLITE_PERM": "access is denied; check the permissions of the file and its folder",
    "SQLITE_AUTH": "access is denied; check the permissions of the file and its folder",
    "SQLITE_CANTOPEN": "it cannot be opened; check that its folder exists and may be written",
    "SQLITE_NOTADB": "the file is not a SQLite database; name another one",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a copy before calling again",
    "SQLITE_IOERR": "reading or writing it failed; check the disk",
    "SQLITE_TOOBIG": "a payload is larger than SQLite can store (1,000,000,000 bytes)",
    "SQLITE_SCHEMA": "its tables were changed; let commitgate alone change them",
}
_PRIMARY_CODE = 0xFF

# Faults of the disk, the file or another process, whichever statement meets them; LOCKED is not one, since a statement
# meets it on tables that its own connection is reading.
_FAULTS = ("SQLITE_BUSY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN")


@contextmanager
def mapped(path: str) -> Generator[None]:
    """Raise ``LedgerUnavailableError`` for whatever the block's use of SQLite and of the file raises.

    Args:
        path: the ledger's file, for the message.

    Raises:
        LedgerUnavailableError: from the lower error, which stays on ``__cause__``.
    """
    import sqlite3

    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise LedgerUnavailableError(f"the ledger {path} cannot be used: {_advice(error)}") from error
    except OSError as error:
        advice = f"{error.strerror or type(error).__name__}; check the path and its permissions"
        raise LedgerUnavailableError(f"the ledger {path} cannot be used: {advice}") from error


def is_busy(error: BaseException | None) -> bool:
    """Return whether an error of SQLite says that another connection was in the way."""
    return _primary_name(error) in ("SQLITE_BUSY", "SQLITE_LOCKED")


def is_fault(error: BaseException | None) -> bool:
    """Return whether an error of SQLite says that the database failed, and not that the statement was wrong."""
    return _primary_name(error) in _FAULTS


def _advice(error: BaseException) -> str:
    name = _primary_name(error)
    if name is None:
        return f"{type(error).__name__} inside SQLite's own interface"
    return _ADVICE.get(name, f"SQLite reports {name}")


def _primary_name(error: BaseException | None) -> str | None:
    """Return the name of the error's primary result code, None where it carries none."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return None
    for name in _ADVICE:
        if getattr(sqlite3, name) == code & _PRIMARY_CODE:
            return name
    return f"result code {code}"


__all__ = ["is_busy", "is_fault", "mapped"]
