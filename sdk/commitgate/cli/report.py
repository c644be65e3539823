"""Write what a command found as one JSON object: the face for programs, on a pipe or with ``--json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode, of_outcome
from commitgate.harmless import harmless
from commitgate.outcome import Ending, Outcome
from commitgate.plain_data import plain


def outcome_report(outcome: Outcome[object, object]) -> dict[str, object]:
    """Return an ending as plain data: its name, exit code and value first, then all it carries, the receipt last."""
    report: dict[str, object] = {"outcome": outcome.name, "exit_code": int(of_outcome(outcome)), "value": None}
    carried = {entry.name: plain(getattr(outcome, entry.name)) for entry in fields(outcome)}
    if isinstance(outcome, Ending):
        # The whole sentence, also where an ending has a part of it under that name.
        report["message"] = outcome.summary()
        carried.pop("message", None)
    receipt = carried.pop("receipt")
    return report | carried | {"receipt": receipt}


def error_report(code: ExitCode, message: str) -> dict[str, object]:
    """Return an error that came before any ending as plain data."""
    return {"error": {"code": code.label, "exit_code": int(code), "message": message}}


def write_json(report: Mapping[str, object]) -> None:
    """Write one JSON object and a line end to stdout.

    A terminal, or a stream that is not UTF-8, gets ASCII alone, and no reader gets a character that is not meant to be
    seen but as an escape: the text may be a model's.
    """
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    is_ascii = sys.stdout.isatty() or encoding != "utf8"
    text = json.dumps(report, ensure_ascii=is_ascii, allow_nan=False, indent=2)
    # All of these stand within strings, as JSON's own signs and the line feeds between them are seen.
    escapes = {ord(sign): _escape(sign) for sign in set(text) if sign != "\n" and harmless(sign) != sign}
    sys.stdout.write(text.translate(escapes) + "\n")
    sys.stdout.flush()


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else json.dumps(character)[1:-1]


@contextmanager
def result_written(ending: str) -> Generator[None]:
    """Turn a result that stdout does not take into an error that says what the command had come to.

    Args:
        ending: what the command came to, in a word or two.

    Raises:
        CommandError: the result could not be written, or not whole.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        reason = error.strerror or "stdout failed"
        raise CommandError(
            f"the result could not be written ({reason}); the command ended as: {ending}", ExitCode.UNWRITTEN
        ) from error


def complain(message: str) -> None:
    """Write one sentence to stderr; where that cannot be written to, the exit code alone tells."""
    with suppress(OSError):
        sys.stderr.write(f"commitgate: {harmless(message)}\n")
        sys.stderr.flush()


__all__ = ["complain", "error_report", "outcome_report", "plain", "result_written", "write_json"]
