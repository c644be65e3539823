"""Begin and end the process that runs the command line: its streams, its signals, its exit."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from typing import Literal, NoReturn, TextIO


def prepare_streams() -> None:
    """Make the standard streams fit to be used: none is missing, and no character is one that cannot be written.

    A stream that the shell has closed reads as empty, and writing to it fails as an ``OSError``. A character that the
    encoding of stdout or stderr lacks is written as an escape.
    """
    if sys.stdin is None:
        sys.stdin = _stand_in("r")
    if sys.stdout is None:
        sys.stdout = _stand_in("w")
    if sys.stderr is None:
        sys.stderr = _stand_in("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stand_in(mode: Literal["r", "w"]) -> TextIO:
    # Opened for reading in either mode, so that what is written is refused and not lost without a word.
    return open(os.open(os.devnull, os.O_RDONLY), mode, encoding="utf-8")


def ignore_signals() -> None:
    """Let Ctrl-C and a termination pass from here on: what the call came to is settled and only has to be told."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def leave(code: int) -> NoReturn:
    """End the process at once with an exit code; what can still be written is.

    The interpreter's own end takes up to seconds once torch is loaded, a signal in that time would change the exit
    code, and it would wait for a thread that is loading a model, which nothing can stop.
    """
    ignore_signals()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


__all__ = ["ignore_signals", "leave", "prepare_streams"]
