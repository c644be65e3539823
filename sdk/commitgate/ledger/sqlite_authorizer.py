"""Say which statements a transactional effect may run.

SQLite calls an authorizer for every action of a statement while it is compiled, those of triggers, views and virtual
tables included. So nothing here reads SQL, and what is not known is refused.

Source: https://www.sqlite.org/c3ref/set_authorizer.html, https://www.sqlite.org/c3ref/c_alter_table.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from commitgate.ledger.transaction import LEDGER_TABLE_PREFIX

Refusal: TypeAlias = "Callable[[str, str | None, str], str | None]"

READABLE_PRAGMAS = frozenset(
    (
        "application_id",
        "compile_options",
        "data_version",
        "encoding",
        "foreign_key_check",
        "foreign_key_list",
        "foreign_keys",
        "index_info",
        "index_list",
        "index_xinfo",
        "table_info",
        "table_list",
        "table_xinfo",
        "user_version",
    )
)
"""PRAGMAs that tell something and change nothing, as long as no value is given that they could take."""

_NAMING_PRAGMAS = frozenset(
    (
        "foreign_key_check",
        "foreign_key_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "table_info",
        "table_list",
        "table_xinfo",
    )
)
"""Those whose argument is a name and no value."""


def authorizer() -> Callable[[int, str | None, str | None, str | None], str | None]:
    """Return what tells why an action is refused, None where it is not.

    It takes the action and the first three names that SQLite gives with it; the third is a database.
    """
    refusals = _refusals()

    def refused_for(action: int, first: str | None, second: str | None, database: str | None) -> str | None:
        return refusals.get(action, _refuse_unknown)(first or "", second, database or "")

    return refused_for


def _refusals() -> dict[int, Refusal]:
    import sqlite3

    refusals: dict[int, Refusal] = dict.fromkeys(
        (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE), _allow
    )
    for kind in ("TABLE", "INDEX", "TRIGGER", "VIEW", "VTABLE"):
        refusals[getattr(sqlite3, f"SQLITE_CREATE_{kind}")] = _refuse_definition
        refusals[getattr(sqlite3, f"SQLITE_DROP_{kind}")] = _refuse_definition
    for kind in ("TABLE", "INDEX", "TRIGGER", "VIEW"):
        refusals[getattr(sqlite3, f"SQLITE_CREATE_TEMP_{kind}")] = _refuse_temporary
        refusals[getattr(sqlite3, f"SQLITE_DROP_TEMP_{kind}")] = _refuse_temporary
    return refusals | {
        sqlite3.SQLITE_INSERT: _refuse_write,
        sqlite3.SQLITE_UPDATE: _refuse_write,
        sqlite3.SQLITE_DELETE: _refuse_write,
        sqlite3.SQLITE_ALTER_TABLE: _refuse_alteration,
        # A new index asks for this too.
        sqlite3.SQLITE_REINDEX: _refuse_definition,
        sqlite3.SQLITE_FUNCTION: _refuse_function,
        sqlite3.SQLITE_PRAGMA: _refuse_pragma,
        sqlite3.SQLITE_TRANSACTION: _refuse_ending,
        sqlite3.SQLITE_SAVEPOINT: _refuse_ending,
        sqlite3.SQLITE_ATTACH: _refuse_leaving,
        sqlite3.SQLITE_DETACH: _refuse_leaving,
    }


def _allow(first: str, second: str | None, database: str) -> None:
    del first, second, database


def _refuse_write(table: str, column: str | None, database: str) -> str | None:
    del column, database
    # sqlite_dbpage gives the pages of the file as rows, where SQLite was built with it.
    if table.lower().startswith((LEDGER_TABLE_PREFIX, "sqlite_dbpage")):
        return f"what begins with {LEDGER_TABLE_PREFIX} is the ledger's own: a transactional effect may only read it"
    return None


def _refuse_definition(name: str, table: str | None, database: str) -> str | None:
    if database.lower() == "temp":
        return _refuse_temporary(name, table, database)
    return _refuse_write(name, None, database) or _refuse_write(table or "", None, database)


def _refuse_alteration(database: str, table: str | None, column: str) -> str | None:
    del column
    return _refuse_definition(table or "", None, database)


def _refuse_temporary(first: str, second: str | None, database: str) -> str:
    del first, second, database
    return "what is temporary outlives the effect in the ledger's connection; make an ordinary one"


def _refuse_ending(first: str, second: str | None, database: str) -> str:
    del first, second, database
    return "a transactional effect runs inside the ledger's transaction, and cannot begin or end one"


def _refuse_leaving(first: str, second: str | None, database: str) -> str:
    del first, second, database
    return "a transactional effect stays in the ledger's own database: everything is kept, or nothing"


def _refuse_unknown(first: str, second: str | None, database: str) -> str:
    del first, second, database
    return "a transactional effect reads and writes rows and changes tables of its own; this statement does more"


def _refuse_function(first: str, name: str | None, database: str) -> str | None:
    del first, database
    return "a transactional effect loads no extension" if (name or "").lower() == "load_extension" else None


def _refuse_pragma(name: str, value: str | None, database: str) -> str | None:
    del database
    wanted = name.lower()
    if wanted in READABLE_PRAGMAS and (value is None or wanted in _NAMING_PRAGMAS):
        return None
    return f"a transactional effect changes no setting; it may read {', '.join(sorted(READABLE_PRAGMAS))}"


__all__ = ["READABLE_PRAGMAS", "authorizer"]
