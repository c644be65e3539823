"""List the rows of a ledger: ``commitgate ledger list``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.text import Text

from commitgate.cli.boundary import errors_told
from commitgate.cli.ledger.duration import shown_duration
from commitgate.cli.ledger.page import clipped, write_lines
from commitgate.cli.ledger.place import LedgerOption, opened
from commitgate.cli.ledger.row import Need, is_held, is_in_doubt, json_line, may_show_reason, need_of, row_report
from commitgate.cli.report import result_written
from commitgate.ledger.record import Record, State

EPILOG = """
\b
Examples:
  commitgate ledger list
  commitgate ledger list --state awaiting_approval --state in_doubt
  commitgate ledger list --json --limit 1000 | jq -r 'select(.needs) | .key'
"""

_MOST_ROWS = 1_000
_MOST_WORDS = 200
_WIDTHS = (20, 6, 28, 13, 3, 10)
_HEADINGS = ("STATE", "AGE", "EFFECT", "KIND", "TRY", "TIME LEFT", "KEY")


def list_rows(
    ledger: LedgerOption = None,
    state: Annotated[list[State] | None, typer.Option(help="Only rows in this state; may be given again.")] = None,
    limit: Annotated[int, typer.Option(help="Most rows.", min=1, max=_MOST_ROWS, metavar="N")] = 50,
    payloads: Annotated[bool, typer.Option("--payloads", help="Show reasons too; with --json all payloads.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")] = False,
) -> None:
    """List what operation keys stand for, latest change first.

    A mark of ! says that it is in doubt whether the effect happened, one of ? that a person must decide. Values,
    results, receipts and the reasons that effects, checks and persons gave are hidden unless they are asked for.
    """
    with errors_told(is_json=json), opened(ledger) as place:
        states = None if state is None else tuple(dict.fromkeys(state))
        rows = place.run(lambda found: found.list(states=states, limit=limit))
        now = place.now()
        with result_written(f"{len(rows)} rows"):
            if json:
                for row in rows:
                    sys.stdout.write(json_line(row_report(row, now, has_payloads=payloads)) + "\n")
            else:
                write_lines(_lines(rows, now, limit=limit, has_payloads=payloads))


def _lines(rows: Sequence[Record], now: float, *, limit: int, has_payloads: bool) -> Iterator[Text]:
    if rows:
        yield Text("  " + _cells(_HEADINGS), style="dim")
    for row in rows:
        yield Text.assemble(_mark(row, now), " ", _cells((*_columns(row, now), clipped(row.key))))
        reason = _reason(row, has_payloads=has_payloads)
        if reason:
            yield Text(f"    {reason}", style="dim")
    yield from _summary(rows, now, limit=limit)


def _mark(row: Record, now: float) -> tuple[str, str]:
    if is_in_doubt(row, now):
        return "!", "bold red"
    return ("?", "bold yellow") if need_of(row, now) is Need.APPROVAL else (" ", "")


def _columns(row: Record, now: float) -> tuple[str, ...]:
    return (
        row.state.value,
        shown_duration(now - row.updated_at),
        clipped(row.fingerprint.effect_name or "-", _WIDTHS[2] - 1),
        row.effect_kind or "-",
        str(row.attempt),
        _time_left(row, now),
    )


def _cells(cells: tuple[str, ...]) -> str:
    padded = [f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=False)]
    return "  ".join([*padded, *cells[len(_WIDTHS) :]])


def _time_left(row: Record, now: float) -> str:
    if row.lease_expires_at is not None:
        return f"{shown_duration(row.lease_expires_at - now)} held" if is_held(row, now) else "lease over"
    if row.expires_at is not None and row.state in (State.AWAITING_APPROVAL, State.APPROVED):
        return shown_duration(row.expires_at - now) if row.expires_at > now else "over"
    return "-"


def _reason(row: Record, *, has_payloads: bool) -> str:
    if row.reason is None:
        return ""
    is_told = has_payloads or may_show_reason(row)
    return clipped(row.reason, _MOST_WORDS) if is_told else "(a reason is hidden: --payloads shows it)"


def _summary(rows: Sequence[Record], now: float, *, limit: int) -> Iterator[Text]:
    waiting = [now - row.updated_at for row in rows if need_of(row, now) is Need.APPROVAL]
    in_doubt = sum(is_in_doubt(row, now) for row in rows)
    if in_doubt:
        yield Text(f"! in doubt: {in_doubt:,}; 'commitgate ledger show KEY' says what settles it", "bold red")
    if waiting:
        yield Text(f"? waits for a person: {len(waiting):,}, the longest for {shown_duration(max(waiting))}", "yellow")
    if len(rows) == limit:
        yield Text(f"{limit:,} rows, the latest; there may be more: --limit, --state", "dim")
    elif not rows:
        yield Text("no rows", "dim")


__all__ = ["EPILOG", "list_rows"]
