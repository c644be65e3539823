"""Find the ledger that a caller means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from commitgate.argument import wrong_kind
from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger.base import Ledger
from commitgate.ledger.sqlite import SqliteLedger

LEDGER_VARIABLE = "COMMITGATE_LEDGER"
"""Environment variable that names the default ledger's file."""


def ledger_at(place: Ledger | str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Ledger:
    """Return the ledger at ``place``. Opens no file; makes the folder of the default one.

    Args:
        place: a ledger, returned as it is; the path of a SQLite file; None for the default, which is the file that
            ``COMMITGATE_LEDGER`` names, or else ``ledger.sqlite`` in the user's data folder.
        environ: the environment, usually ``os.environ``.

    Raises:
        LedgerUnavailableError: the user's data folder cannot be made.
        MisuseError: it is neither, or the path cannot be a file's name.
    """
    if place == ":memory:":
        raise MisuseError(
            "ledger must be a Ledger or the path of a file; for one in memory: "
            "from commitgate.ledger import MemoryLedger, then ledger=MemoryLedger()"
        )
    if isinstance(place, str | os.PathLike):
        return SqliteLedger(place)
    if place is not None:
        return checked_ledger(place)
    named = environ.get(LEDGER_VARIABLE)
    return SqliteLedger(named) if named else SqliteLedger(_default_path())


def checked_ledger(ledger: Ledger) -> Ledger:
    """Return ``ledger`` where it has the methods of one.

    Raises:
        MisuseError: it has not.
    """
    if not all(callable(getattr(ledger, name, None)) for name in ("claim", "commit", "release", "aclose")):
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
