"""Write a file that somebody asked for, so that what goes wrong is one sentence."""

from __future__ import annotations

import os
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


def check_place(file: str) -> None:
    """See whether a file can be written, as far as that shows without writing.

    Args:
        file: where.

    Raises:
        CommandError: it cannot.
    """
    if "\0" in file:
        raise CommandError(f"cannot write {harmless(file)}: not a path")
    try:
        path = Path(file)
        folder = path.parent
        wrong = "it is a folder" if path.is_dir() else None if folder.is_dir() else "its folder does not exist"
        if wrong is None and not os.access(path if path.exists() else folder, os.W_OK):
            wrong = "it may not be written"
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot write {harmless(file)}: not a path") from error
    if wrong is not None:
        raise CommandError(f"cannot write {harmless(file)}: {wrong}")


__all__ = ["check_place", "save_text"]
