"""Write down what was found out about an effect that is in doubt: ``commitgate ledger reconcile``."""

from __future__ import annotations

from typing import Annotated

import typer

from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.ledger.page import clipped, write_lines
from commitgate.cli.ledger.place import ByOption, KeyArgument, LedgerOption, check_reason, opened
from commitgate.cli.report import result_written
from commitgate.cli.sources import STANDARD_INPUT, read_bytes
from commitgate.gate.strict_parse import PARSER_NESTING, Parsed, strict_parse
from commitgate.ledger.record import Record, State
from commitgate.ledger.steps import Finding
from commitgate.ledger.verdict import UNKNOWN_REASON
from commitgate.retry.keys import operation_key
from commitgate.run.approval import check_person
from commitgate.run.reconciling import NOT_APPLIED_REASON

EPILOG = """
\b
Examples:
  commitgate ledger reconcile case-4711 --by ann --applied --result '"refund 17"'
  commitgate ledger reconcile case-4711 --by ann --not-applied --fence 3 --reason "the bank has no such payment"
  commitgate ledger reconcile case-4711 --by ann --unknown --reason "asked the bank on Monday"
"""

_TOLD = {
    Finding.APPLIED: "It is committed: calls with this key replay it, with the result that was given.",
    Finding.NOT_APPLIED: "It is settled: nothing happened, and nothing will under this key; use another to try again.",
    Finding.UNKNOWN: "It is in doubt still, and nothing runs it again.",
}


def reconcile(
    key: KeyArgument,
    by: ByOption,
    applied: Annotated[bool, typer.Option("--applied", help="The effect happened.")] = False,
    not_applied: Annotated[
        bool,
        typer.Option(
            "--not-applied", help="It did not happen, and nothing of it is still on its way: no request in a queue."
        ),
    ] = False,
    unknown: Annotated[bool, typer.Option("--unknown", help="Nobody can say yet.")] = False,
    result: Annotated[
        str | None,
        typer.Option(help="With --applied: what the effect returned, as JSON; - for stdin. Else null.", metavar="JSON"),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the ledger.", metavar="TEXT")] = None,
    fence: Annotated[
        int | None,
        typer.Option(
            help="Settle the try with this fence alone, as show tells it: not one that came after you looked.",
            metavar="N",
        ),
    ] = None,
    ledger: LedgerOption = None,
) -> None:
    """Settle an effect that is in doubt by what was found out downstream. Nothing is run.

    Look before you say --not-applied: the effect must not have happened, and nothing of it may still be on its way,
    such as a request in a queue or a payment that waits. Whoever asks again under another key would else have it
    done twice. While the effect is still running this is refused with exit code 7.
    """
    with errors_told(is_json=False):
        check_person(by)
        check_reason(reason)
        finding = _finding(applied=applied, not_applied=not_applied, unknown=unknown)
        stored = _result(finding, result)
        operation = operation_key(key)
        with opened(ledger) as place:
            row = place.row(operation)
            _check_in_doubt(row)
            told, looked_at = reason or _reason(finding, row), row.fence if fence is None else fence
            place.run(
                lambda found: found.reconcile(operation, looked_at, by=by, finding=finding, result=stored, reason=told)
            )
            with result_written(finding.value):
                write_lines([f"Written down for {clipped(by, 300)}: {finding.value}.", _TOLD[finding]])


def _finding(*, applied: bool, not_applied: bool, unknown: bool) -> Finding:
    given = {Finding.APPLIED: applied, Finding.NOT_APPLIED: not_applied, Finding.UNKNOWN: unknown}
    found = [finding for finding, is_given in given.items() if is_given]
    if len(found) != 1:
        raise CommandError("give one of --applied, --not-applied and --unknown: what looking downstream found out")
    return found[0]


def _result(finding: Finding, given: str | None) -> bytes | None:
    if finding is not Finding.APPLIED:
        if given is not None:
            raise CommandError("--result is what an effect returned that happened; it goes with --applied alone")
        return None
    if given is None:
        return b"null"
    data = read_bytes(given, "result") if given == STANDARD_INPUT else given.encode("utf-8", "surrogateescape")
    parsed = strict_parse(data, nesting=PARSER_NESTING)
    if not isinstance(parsed, Parsed):
        raise CommandError(f"--result is not JSON: {parsed.message}; a text wants quotes of its own: '\"refund 17\"'")
    return data.strip()


def _check_in_doubt(row: Record) -> None:
    if row.state not in (State.IN_DOUBT, State.EFFECT_STARTED):
        raise CommandError(f"nothing is in doubt under this key: it is in state {row.state}", ExitCode.WRONG_STATE)


def _reason(finding: Finding, row: Record) -> str:
    return NOT_APPLIED_REASON if finding is Finding.NOT_APPLIED else row.reason or UNKNOWN_REASON


__all__ = ["EPILOG", "reconcile"]
