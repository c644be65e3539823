"""Define the one exception by which a command stops with a sentence instead of a traceback."""

from __future__ import annotations

from commitgate.cli.exit_codes import ExitCode
from commitgate.errors import CommitgateError


class CommandError(CommitgateError):
    """Raised when a command cannot do what it was asked, for a reason that the person at the shell can change.

    Attributes:
        exit_code: the code that the program ends with.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


__all__ = ["CommandError"]
