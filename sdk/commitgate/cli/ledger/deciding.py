"""Write down what a person decided about a stored value: ``commitgate ledger approve`` and ``reject``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.ledger.asking import can_ask, must_agree
from commitgate.cli.ledger.duration import shown_duration
from commitgate.cli.ledger.page import clipped, payload_lines, write_lines
from commitgate.cli.ledger.place import ByOption, KeyArgument, LedgerOption, check_reason, opened
from commitgate.cli.ledger.row import is_held, next_steps
from commitgate.cli.report import result_written
from commitgate.ledger.record import Record, State
from commitgate.retry.keys import operation_key
from commitgate.run.approval import check_person

APPROVE_EPILOG = """
\b
Examples:
  commitgate ledger approve case-4711 --by ann
  commitgate ledger approve case-4711 --by ann --value-digest 9f86d081...
"""
REJECT_EPILOG = """
\b
Examples:
  commitgate ledger reject case-4711 --by ann --reason "the customer was paid already"
"""

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def approve(
    key: KeyArgument,
    by: ByOption,
    value_digest: Annotated[
        str | None, typer.Option(help="Allow this value alone: its digest, as show tells it.", metavar="HEX")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Allow whichever value is stored, without a question.")] = False,
    ledger: LedgerOption = None,
) -> None:
    """Write down that a person allows a stored value. Nothing is run.

    The next call with the same key goes on with the value: it is judged and authorized again, and then its effect runs.
    On a terminal the value is shown and a question asked; what was shown is what is allowed. Without a terminal
    --value-digest or --yes is wanted.
    """
    with errors_told(is_json=False):
        check_person(by)
        operation, digest = operation_key(key), _digest(value_digest)
        is_asking = not (yes or digest)
        if is_asking and not can_ask():
            raise CommandError(
                "there is no terminal to ask on: give --value-digest HEX of the value that was looked at ('commitgate "
                "ledger show' tells it), or --yes to allow whichever is stored"
            )
        with opened(ledger) as place:
            before = place.row(operation)
            _check_waiting(before, place.now())
            if is_asking:
                _ask(before)
                digest = before.value_digest
            row = place.run(lambda found: found.approve(operation, by=by, value_digest=digest))
            if row.state is State.REJECTED:
                raise CommandError(
                    "it had expired, so it is rejected now; nothing has run. Use another key to ask again",
                    ExitCode.WRONG_STATE,
                )
            with result_written("approved"):
                write_lines(_approved(row, by, place.now()))


def reject(
    key: KeyArgument,
    by: ByOption,
    reason: Annotated[str, typer.Option(help="Why; kept in the ledger.", metavar="TEXT")] = "",
    ledger: LedgerOption = None,
) -> None:
    """Write down that a person forbids a stored value. Its effect never runs.

    Also a value that was approved can be rejected, as long as no call has made use of the approval.
    """
    with errors_told(is_json=False):
        check_person(by)
        check_reason(reason)
        operation = operation_key(key)
        with opened(ledger) as place:
            place.row(operation)
            row = place.run(lambda found: found.reject(operation, by=by, reason=reason))
            with result_written("rejected"):
                write_lines(_rejected(row, by, reason))


def _digest(given: str | None) -> str | None:
    if given is None:
        return None
    digest = given.strip().lower()
    if _DIGEST.fullmatch(digest) is None:
        raise CommandError("--value-digest wants 64 hexadecimal digits: the value's SHA-256, as show tells it")
    return digest


def _check_waiting(row: Record, now: float) -> None:
    if row.state not in (State.AWAITING_APPROVAL, State.APPROVED):
        raise CommandError(
            f"nothing under this key waits for a decision: it is in state {row.state}. Next: {next_steps(row, now)}",
            ExitCode.WRONG_STATE,
        )


def _ask(row: Record) -> None:
    lines, is_whole = payload_lines(row.value or b"")
    effect = row.fingerprint.effect_name
    write_lines(
        [
            Text.assemble(("key     ", "dim"), clipped(row.key)),
            Text.assemble(("effect  ", "dim"), "none" if effect is None else clipped(effect, 200)),
            Text.assemble(("reason  ", "dim"), clipped(row.reason or "-")),
            Text("value", style="dim"),
            *lines,
        ]
    )
    cut = "" if is_whole else "It is longer than what is shown here: 'show --json --payloads' gives the whole. "
    must_agree(f"{cut}Allow this value?")


def _approved(row: Record, by: str, now: float) -> Iterator[str]:
    if row.decided_by != by:
        yield f"It was approved already, by {clipped(row.decided_by or 'somebody', 300)}."
    else:
        yield f"Approved by {clipped(by, 300)}."
    if is_held(row, now):
        yield "A call is going on with it."
        return
    until = "" if row.expires_at is None else f", if it comes within {shown_duration(row.expires_at - now)}"
    yield f"Nothing has run yet: the next call with this key goes on with the value{until}."


def _rejected(row: Record, by: str, reason: str) -> Iterator[str]:
    if row.decided_by is None:
        yield "It had expired, and was rejected already."
    elif (row.decided_by, row.reason) != (by, reason):
        yield f"It was rejected already, by {clipped(row.decided_by, 300)}."
    else:
        yield f"Rejected by {clipped(by, 300)}."
    yield "Nothing has run, and no call with this key runs it. Use another key to ask again."


__all__ = ["APPROVE_EPILOG", "REJECT_EPILOG", "approve", "reject"]
