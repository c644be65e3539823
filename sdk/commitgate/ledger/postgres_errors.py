"""Map everything that psycopg raises to one typed error that says what to do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from commitgate.errors import LedgerUnavailableError

# Source: https://www.postgresql.org/docs/current/errcodes-appendix.html. A code of five characters comes before its
# class, which is its first two.
_ADVICE = {
    "01": "the server warns of something",
    "02": "the server gave no rows where some were due",
    "03": "a statement was not finished",
    "08": "the connection was lost; a lost answer does not say that nothing was written, so read the key back",
    "09": "a trigger on the ledger's tables failed; remove it",
    "0A": "the server lacks a feature; use PostgreSQL 14 or later",
    "0B": "the transaction could not be started",
    "0F": "the server refuses a locator",
    "0L": "the server refuses a grantor",
    "0P": "the role does not exist; check the user in the connection string",
    "0Z": "the server's diagnostics failed",
    "10": "the server refuses a query of XML",
    "20": "a case was not found",
    "21": "a statement gave more rows than are due; let commitgate alone change its tables",
    "22": "the server refuses a value",
    "23": "a constraint on the ledger's tables was violated; let commitgate alone change them",
    "24": "a cursor is in the wrong state",
    "25": "the transaction is in a state in which nothing can be written",
    "25006": "the server is read-only; connect to the primary (target_session_attrs=read-write)",
    "25P03": "the program was halted in the middle of a transaction, which the server ended; call again",
    "26": "a prepared statement is gone; look for a pooler that hands one session to several clients",
    "27": "a trigger on the ledger's tables changed the row that is being written; remove it",
    "28": "the server refuses the user; check the user and the password, and the server's pg_hba.conf",
    "2B": "a privilege is still in use",
    "2D": "the transaction cannot be ended here",
    "2F": "a routine of SQL failed",
    "34": "a cursor is unknown",
    "38": "a routine outside of the server failed",
    "39": "a routine outside of the server failed",
    "3B": "a savepoint is unknown",
    "3D": "the database does not exist; create it, or name another one",
    "3F": "no schema of search_path exists; create one, or name another",
    "40": "the server ended the transaction in favour of another; call again",
    "42": "the ledger's tables are not as commitgate made them; let it alone change them",
    "42501": "the role may not do this; grant it the ledger's tables, and for the first use CREATE on the schema",
    "42P07": "a table of the ledger's name exists already, and another program made it; name another schema",
    "44": "a view on the ledger's tables refuses the row",
    "53": "the server has run out of something; look at its log",
    "53100": "the server's disk is full; free space and call again",
    "53300": "the server has no connection left; raise its max_connections, or open fewer",
    "54": "a payload is larger than PostgreSQL can store",
    "55": "something that is needed is in use or not ready",
    "55P03": "another transaction has held the row for long; call again, and look for what keeps it",
    "57": "the server's operator intervened, or it is starting or stopping; call again",
    "57014": "a statement took too long and was ended; call again, and look at what the server is doing",
    "58": "the server's system failed; look at its log",
    "72": "the server no longer has the snapshot; call again",
    "F0": "the server's configuration is at fault",
    "HV": "a foreign data wrapper failed; the ledger's tables must be local",
    "P0": "a routine or trigger of the server failed; remove it from the ledger's tables",
    "XX": "the server found a fault of its own; look at its log, and restore damaged data from a copy",
}
"""Advice by SQLSTATE, or by its class."""

_ADVICE_BY_NAME = {
    "CancellationTimeout": "the server did not answer a request to cancel in time; call again",
    "ConnectionTimeout": "the server did not answer in time; check its address, and that it runs",
    "DataError": "the driver cannot send or read a value",
    "DatabaseError": "the server or the driver refused",
    "Error": "the driver refused",
    "IntegrityError": _ADVICE["23"],
    "InterfaceError": "the driver was misused, or the connection was closed meanwhile; call again",
    "InternalError": _ADVICE["XX"],
    "NotSupportedError": "the server or libpq lacks a feature; use PostgreSQL 14 or later",
    "OperationalError": (
        "it cannot be reached, or the connection was lost; check that the server runs, and its address, database, user "
        "and password. A lost answer does not say that nothing was written, so read the key back"
    ),
    "OutOfOrderTransactionNesting": "transactions of one connection were ended in the wrong order; call again",
    "PipelineAborted": "an earlier statement failed; call again",
    "ProgrammingError": "the driver refuses a statement",
    "Warning": "the driver warns of something",
    "_WaitTimeout": "the server did not answer in time; call again",
}
"""Advice for the classes that carry no SQLSTATE."""


@contextmanager
def mapped(place: str) -> Generator[None]:
    """Raise ``LedgerUnavailableError`` for whatever the block's use of psycopg raises.

    Args:
        place: the ledger, for the message; without a password.

    Raises:
        LedgerUnavailableError: from the lower error, which stays on ``__cause__``.
    """
    import psycopg

    try:
        yield
    except (psycopg.Error, psycopg.Warning, OSError) as error:
        raise LedgerUnavailableError(f"the ledger {place} cannot be used: {advice(error)}") from error


def advice(error: BaseException) -> str:
    """Return what to do about an error of psycopg's; it shows nothing of the error's own words."""
    code = getattr(error, "sqlstate", None)
    if isinstance(code, str):
        found = _ADVICE.get(code) or _ADVICE.get(code[:2])
        return found or f"the server reports the code {code[:5]}"
    for kind in type(error).__mro__:
        if kind.__name__ in _ADVICE_BY_NAME:
            return _ADVICE_BY_NAME[kind.__name__]
    return f"{type(error).__name__} inside the driver's own interface"


__all__ = ["advice", "mapped"]
