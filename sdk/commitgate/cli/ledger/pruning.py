"""Delete old rows of a ledger: ``commitgate ledger prune``."""

from __future__ import annotations

from typing import Annotated

import typer

from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import of_error
from commitgate.cli.ledger.asking import can_ask, must_agree
from commitgate.cli.ledger.duration import read_duration
from commitgate.cli.ledger.page import write_lines
from commitgate.cli.ledger.place import LedgerOption, opened
from commitgate.cli.report import result_written
from commitgate.errors import LedgerError
from commitgate.harmless import harmless
from commitgate.ledger.base import MOST_PRUNED, SCANNED_AT_ONCE, Ledger
from commitgate.ledger.states import is_prunable

EPILOG = """
\b
Examples:
  commitgate ledger prune --older-than 30d --dry-run
  commitgate ledger prune --older-than 30d --yes
"""

_KEPT = "What is in progress, in doubt or waits for a person is kept, however old."


def prune(
    older_than: Annotated[
        str, typer.Option(help="Age since the last change: 45m, 12h, 30d, 2w; longer than any retry.", metavar="AGE")
    ],
    limit: Annotated[int | None, typer.Option(help="Most rows to delete; else all.", min=1, metavar="N")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count them, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    ledger: LedgerOption = None,
) -> None:
    """Delete rows on which nothing can hang any more, in many short transactions.

    A key whose row is deleted is new again: a call with it asks the model and runs the effect anew. So give an age
    beyond that of every retry, and well beyond approval_expires_s: a run of tools that waits for a person or is in
    doubt refuses to go on once rows of its turns are gone. What is in progress, in doubt or waits for a person is never
    deleted.
    """
    with errors_told(is_json=False):
        older_than_s = read_duration(older_than, "--older-than")
        if not (dry_run or yes or can_ask()):
            raise CommandError("there is no terminal to ask on: give --yes to delete, or --dry-run to count")
        with opened(ledger) as place:
            if dry_run:
                count = place.run(lambda found: _count(found, older_than_s, limit))
                with result_written("counted"):
                    write_lines([f"{count:,} rows would be deleted. {_KEPT}"])
                return
            if not yes:
                must_agree(
                    f"Delete the rows of {harmless(place.name)} that have not changed for {older_than}? Calls with "
                    "their keys would be new."
                )
            count = place.run(lambda found: _delete(found, older_than_s, limit))
            with result_written(f"{count} rows deleted"):
                write_lines([f"{count:,} rows were deleted. {_KEPT}"])


async def _delete(ledger: Ledger, older_than_s: float, limit: int | None) -> int:
    deleted = 0
    while limit is None or deleted < limit:
        wanted = MOST_PRUNED if limit is None else min(MOST_PRUNED, limit - deleted)
        try:
            found = await ledger.prune(older_than_s=older_than_s, limit=wanted)
        except LedgerError as error:
            raise CommandError(f"{error}; before that, {deleted:,} rows were deleted", of_error(error)) from error
        deleted += found
        if found < wanted:
            break
    return deleted


async def _count(ledger: Ledger, older_than_s: float, limit: int | None) -> int:
    before, counted, after = await ledger.now() - older_than_s, 0, b""
    while page := await ledger.scan(after=after, limit=SCANNED_AT_ONCE):
        counted += sum(row.record is not None and is_prunable(row.record, before=before) for row in page)
        if limit is not None and counted >= limit:
            return limit
        after = page[-1].key
    return counted


__all__ = ["EPILOG", "prune"]
