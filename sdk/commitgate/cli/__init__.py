"""Run commitgate from a shell; the parts it needs beside the core come with the extra ``cli``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

# Everything else is imported by ``main``: Ctrl-C while modules are read is answered there.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commitgate.backends.base import Backend

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, backends: Mapping[str, Backend] | None = None) -> NoReturn:
    """Run the command line and end the process with a code of ``ExitCode``.

    Args:
        arguments: the words after the program's name; those of this process if None.
        backends: backends by name beside the built-in one.
    """
    try:
        from commitgate.cli.process import leave, prepare_streams

        prepare_streams()
        leave(_run(sys.argv[1:] if arguments is None else arguments, backends))
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)


def _run(arguments: Sequence[str], backends: Mapping[str, Backend] | None) -> int:
    # Read when torch is loaded. Its threads wait by spinning otherwise, and starve each other on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from commitgate.cli.exit_codes import ExitCode

    try:
        import rich
        import typer
    except ModuleNotFoundError as error:
        print(f"commitgate: the command line needs {error.name}: pip install 'commitgate[cli]'", file=sys.stderr)
        return ExitCode.MISSING_EXTRA
    del rich, typer
    from commitgate.cli.app import run

    return run(arguments, backends=backends)


__all__ = ["main"]
