"""Find the ledger that a caller means."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from commitgate.argument import wrong_kind
from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger.base import Ledger
from commitgate.ledger.postgres import PostgresLedger
from commitgate.ledger.sqlite import SqliteLedger

LEDGER_VARIABLE = "COMMITGATE_LEDGER"
"""Environment variable that names the default ledger: a file, or a Postgres database by its URL."""

_POSTGRES_SCHEMES = ("postgresql", "postgres")
"""Schemes of the URLs that libpq knows."""

_URL = re.compile(r"\s*([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_KEYWORDS = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service)\s*=", re.IGNORECASE)


def ledger_at(place: Ledger | str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Ledger:
    """Return the ledger at ``place``. Opens nothing; makes the folder of the default one.

    Args:
        place: a ledger, returned as it is; the path of a SQLite file; the ``postgresql://`` URL of a database; None for
            the default, which is the path or URL that ``COMMITGATE_LEDGER`` holds, or else ``ledger.sqlite`` in the
            user's data folder.
        environ: the environment, usually ``os.environ``.

    Raises:
        LedgerUnavailableError: the user's data folder cannot be made.
        MisuseError: it is none of these, or the path cannot be a file's name.
        MissingExtraError: it is a URL, and the extra ``postgres`` is not installed.
    """
    if place == ":memory:":
        raise MisuseError(
            "ledger must be a Ledger, the path of a file or a postgresql:// URL; for one in memory: "
            "from commitgate.ledger import MemoryLedger, then ledger=MemoryLedger()"
        )
    if isinstance(place, str | os.PathLike):
        return _named(place)
    if place is not None:
        return checked_ledger(place)
    named = environ.get(LEDGER_VARIABLE)
    return _named(named) if named else SqliteLedger(_default_path())


def _named(place: str | os.PathLike[str]) -> Ledger:
    text = os.fsdecode(place)
    if text.startswith(tuple(f"{scheme}://" for scheme in _POSTGRES_SCHEMES)):
        return PostgresLedger(text)
    # Another spelling of an address would become the name of a file, and messages would show the password in it.
    if _URL.match(text) or _KEYWORDS.match(text):
        raise MisuseError(
            "ledger names neither a file nor a Postgres database: write postgresql://user:password@host/name, in lower "
            "case and with nothing before it; a file whose name looks like an address wants ./ before it"
        )
    return SqliteLedger(place)


def checked_ledger(ledger: Ledger) -> Ledger:
    """Return ``ledger`` where it has all that ``Ledger`` names.

    Raises:
        MisuseError: it has not.
    """
    if not all(hasattr(ledger, name) for name in vars(Ledger) if not name.startswith("_")):
        raise wrong_kind("ledger", "a path or a Ledger", ledger)
    return ledger


def _default_path() -> Path:
    from platformdirs import user_data_path

    folder = user_data_path("commitgate", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnavailableError(
            f"the folder {folder} for the default ledger cannot be made; name a ledger file in {LEDGER_VARIABLE}"
        ) from error
    return folder / "ledger.sqlite"


__all__ = ["LEDGER_VARIABLE", "checked_ledger", "ledger_at"]
