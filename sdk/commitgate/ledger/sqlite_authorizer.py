"""Say which statements a transactional effect may run.

SQLite calls an authorizer for every action of a statement while it is compiled, those of triggers, views and virtual
tables included. So nothing here reads SQL, and what is not known is refused.

Source: https://www.sqlite.org/c3ref/set_authorizer.html, https://www.sqlite.org/c3ref/c_alter_table.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from commitgate.ledger.transaction import LEDGER_TABLE_PREFIX

Refusal: TypeAlias = "Callable[[str | None, str | None], str | None]"

READABLE_PRAGMAS = frozenset(
    (
        "application_id",
        "compile_options",
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


def authorizer() -> Callable[[int, str | None, str | None], str | None]:
    """Return what tells, of an action and the two names that SQLite gives with it, why it is refused; None if not."""
    refusals = _refusals()

    def refused_for(action: int, first: str | None, second: str | None) -> str | None:
        return refusals.get(action, _refuse_unknown)(first, second)

    return refused_for


def _refusals() -> dict[int, Refusal]:
    import sqlite3

    ends = _always("a transactional effect runs inside the ledger's transaction, and cannot begin or end one")
    leaves = _always("a transactional effect stays in the ledger's own database: everything is kept, or nothing")
    stays = _always("what is temporary outlives the effect in the ledger's connection; make an ordinary one")
    refusals: dict[int, Refusal] = dict.fromkeys(
        (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE), _allow
    )
    for name in ("INSERT", "DELETE", "CREATE_TABLE", "DROP_TABLE", "CREATE_INDEX", "DROP_INDEX", "CREATE_TRIGGER"):
        refusals[getattr(sqlite3, f"SQLITE_{name}")] = _refuse_own_tables
    for name in ("DROP_TRIGGER", "CREATE_VIEW", "DROP_VIEW", "CREATE_VTABLE", "DROP_VTABLE", "ALTER_TABLE"):
        refusals[getattr(sqlite3, f"SQLITE_{name}")] = _refuse_own_tables
    for kind in ("TABLE", "INDEX", "TRIGGER", "VIEW"):
        refusals[getattr(sqlite3, f"SQLITE_CREATE_TEMP_{kind}")] = stays
        refusals[getattr(sqlite3, f"SQLITE_DROP_TEMP_{kind}")] = stays
    return refusals | {
        sqlite3.SQLITE_UPDATE: _refuse_own_columns,
        sqlite3.SQLITE_FUNCTION: _refuse_function,
        sqlite3.SQLITE_PRAGMA: _refuse_pragma,
        sqlite3.SQLITE_TRANSACTION: ends,
        sqlite3.SQLITE_SAVEPOINT: ends,
        sqlite3.SQLITE_ATTACH: leaves,
        sqlite3.SQLITE_DETACH: leaves,
    }


def _always(why: str) -> Refusal:
    return lambda first, second: why


def _allow(first: str | None, second: str | None) -> str | None:
    del first, second
    return None


def _refuse_unknown(first: str | None, second: str | None) -> str | None:
    del first, second
    return "a transactional effect reads and writes rows and changes tables of its own; this statement does more"


def _refuse_own_tables(first: str | None, second: str | None) -> str | None:
    for name in (first or "", second or ""):
        if name.lower().startswith((LEDGER_TABLE_PREFIX, "sqlite_dbpage")):
            return (
                f"what begins with {LEDGER_TABLE_PREFIX} is the ledger's own: a transactional effect may only read it"
            )
    return None


def _refuse_own_columns(table: str | None, column: str | None) -> str | None:
    del column
    return _refuse_own_tables(table, None)


def _refuse_function(first: str | None, name: str | None) -> str | None:
    del first
    return "a transactional effect loads no extension" if (name or "").lower() == "load_extension" else None


def _refuse_pragma(name: str | None, value: str | None) -> str | None:
    wanted = (name or "").lower()
    if wanted in READABLE_PRAGMAS and (value is None or wanted in _NAMING_PRAGMAS):
        return None
    return f"a transactional effect changes no setting; it may read {', '.join(sorted(READABLE_PRAGMAS))}"


__all__ = ["READABLE_PRAGMAS", "authorizer"]
