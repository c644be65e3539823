"""Ask the person at the terminal before something is done that cannot be taken back."""

from __future__ import annotations

import sys

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode


def can_ask() -> bool:
    """Say whether a person sees what is written and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def must_agree(question: str) -> None:
    """Ask a question; only ``y`` or ``yes`` goes on.

    Args:
        question: harmless text, without a mark at its end.

    Raises:
        CommandError: the answer was another one, or none.
    """
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("not confirmed; nothing was changed", ExitCode.CANCELLED)


__all__ = ["can_ask", "must_agree"]
