"""Show all of one row of a ledger: ``commitgate ledger show``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from commitgate.cli.boundary import errors_told
from commitgate.cli.ledger.duration import shown_duration
from commitgate.cli.ledger.page import clipped, payload_lines, write_lines
from commitgate.cli.ledger.place import KeyArgument, LedgerOption, opened
from commitgate.cli.ledger.row import (
    Need,
    is_held,
    is_in_doubt,
    json_line,
    may_show_reason,
    need_of,
    next_steps,
    whole_report,
)
from commitgate.cli.report import result_written
from commitgate.ledger.record import Record
from commitgate.ledger.states import is_expired
from commitgate.retry.keys import operation_key

EPILOG = """
\b
Examples:
  commitgate ledger show case-4711
  commitgate ledger show case-4711 --payloads
  commitgate ledger show --json -- -a-key-with-a-dash
"""

_WIDTH = 18
_IDENTITIES = (
    "effect_key", "owner", "language_digest", "input_fingerprint", "value_digest", "result_digest", "receipt_digest"
)  # fmt: skip


def show(
    key: KeyArgument,
    ledger: LedgerOption = None,
    payloads: Annotated[bool, typer.Option("--payloads", help="Show value, result, receipt and reason too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
) -> None:
    """Show what one operation key stands for, and what may be done about it.

    Payloads are hidden unless they are asked for; their digests and sizes are shown. The exit code is 25 where the
    ledger has no row of this key.
    """
    with errors_told(is_json=json), opened(ledger) as place:
        row = place.row(operation_key(key))
        now = place.now()
        with result_written(row.state.value):
            if json:
                sys.stdout.write(json_line(whole_report(row, now, has_payloads=payloads)) + "\n")
            else:
                write_lines(_lines(row, now, has_payloads=payloads))


def _lines(row: Record, now: float, *, has_payloads: bool) -> Iterator[Text]:
    report = whole_report(row, now, has_payloads=False)
    for name, told in _facts(row, now):
        yield _fact(name, told)
    for name in _IDENTITIES:
        if report[name] is not None:
            yield _fact(name.replace("_", " "), clipped(str(report[name]), 200))
    for name, payload in (("value", row.value), ("result", row.result), ("receipt", row.receipt)):
        if payload is not None:
            yield from _payload(name, payload, has_payloads=has_payloads)
    yield from _reason(row, has_payloads=has_payloads)
    yield _fact("next", next_steps(row, now), "bold")


def _fact(name: str, told: str, style: str = "") -> Text:
    return Text.assemble((f"{name:<{_WIDTH}}", "dim"), (told, style))


def _facts(row: Record, now: float) -> Iterator[tuple[str, str]]:
    fingerprint = row.fingerprint
    yield "key", clipped(row.key)
    yield "state", f"{row.state.value}{_told(row, now)}"
    yield "changed", f"{shown_duration(now - row.updated_at)} ago"
    yield "first claimed", f"{shown_duration(now - row.created_at)} ago"
    if fingerprint.effect_name is not None:
        version = clipped(fingerprint.effect_version or "-", 100)
        yield "effect", f"{clipped(fingerprint.effect_name, 200)}, version {version}, {row.effect_kind or 'of no kind'}"
    yield "claims", f"{row.attempt:,} (fence {row.fence:,})"
    if row.lease_expires_at is not None:
        left = f"ends in {shown_duration(row.lease_expires_at - now)} unless it is renewed"
        yield "lease", left if is_held(row, now) else "over"
    if row.expires_at is not None:
        yield "expires", "over" if is_expired(row, now) else f"in {shown_duration(row.expires_at - now)}"
    if row.decided_by is not None:
        yield "decided by", clipped(row.decided_by, 300)


def _told(row: Record, now: float) -> str:
    if is_in_doubt(row, now):
        return " (in doubt)"
    return " (waits for a person)" if need_of(row, now) is Need.APPROVAL else ""


def _payload(name: str, payload: bytes, *, has_payloads: bool) -> Iterator[Text]:
    hidden = "" if has_payloads else " (hidden: --payloads shows it)"
    yield _fact(name, f"{len(payload):,} bytes{hidden}")
    if not has_payloads:
        return
    lines, is_whole = payload_lines(payload)
    for line in lines:
        yield Text("  ").append_text(line)
    if not is_whole:
        yield Text("  … cut here; --json --payloads gives the whole", style="dim")


def _reason(row: Record, *, has_payloads: bool) -> Iterator[Text]:
    if row.reason is not None:
        is_told = has_payloads or may_show_reason(row)
        told = clipped(row.reason) if is_told else "(hidden: --payloads shows it)"
        yield _fact("reason", told)


__all__ = ["EPILOG", "show"]
