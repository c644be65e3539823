"""Stand between a command and the shell: what a command may use, and how its errors are told."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import typer

from commitgate.backends.base import Backend
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode, of_error
from commitgate.cli.report import complain, error_report, write_json
from commitgate.errors import CommitgateError, EvaluationError


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Hold what the commands use and a caller of ``run`` may give.

    Attributes:
        backends: backends by name beside the built-in one; for programs that bring their own, and for tests.
    """

    backends: Mapping[str, Backend] = field(default_factory=dict[str, Backend])


@contextmanager
def errors_told(*, is_json: bool) -> Generator[None]:
    """Turn errors that a person can act on into one sentence, or one JSON object, and the right exit code.

    Args:
        is_json: write an error object to stdout instead of a sentence to stderr, where stdout can be written to.
    """
    try:
        yield
    except CommitgateError as error:
        code = error.exit_code if isinstance(error, CommandError) else of_error(error)
        if not (is_json and code is not ExitCode.UNWRITTEN and _is_written(error_report(code, str(error)))):
            # What was wrong with a suite is told all at once, a line for each fault.
            for line in str(error).splitlines() if isinstance(error, EvaluationError) else (str(error),):
                complain(line)
        raise typer.Exit(code) from error


def _is_written(report: dict[str, object]) -> bool:
    try:
        write_json(report)
    except OSError:
        return False
    return True


__all__ = ["Surroundings", "errors_told"]
