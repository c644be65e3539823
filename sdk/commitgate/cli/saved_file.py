"""Write a file that somebody asked for, so that what goes wrong is one sentence."""

from __future__ import annotations

from pathlib import Path

from commitgate.cli.command_error import CommandError
from commitgate.harmless import harmless


def save_text(file: str, text: str, what: str) -> None:
    """Write a text.

    Args:
        file: where.
        text: what to write, as UTF-8.
        what: what it is, for the message.

    Raises:
        CommandError: it cannot be written.
    """
    try:
        Path(file).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise CommandError(f"cannot write the {what} {harmless(file)}: {reason}") from error


__all__ = ["save_text"]
