"""Run commitgate from a shell; the parts it needs beside the core come with the extra ``cli``."""

import os
import sys

from commitgate.cli.exit_codes import ExitCode


def main() -> None:
    """Run the command line and exit with a code of ``ExitCode``."""
    # Read when torch is loaded. Its threads wait by spinning otherwise, and starve each other on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import rich
        import typer
    except ModuleNotFoundError as error:
        print(f"commitgate: the command line needs {error.name}: pip install 'commitgate[cli]'", file=sys.stderr)
        sys.exit(ExitCode.MISSING_EXTRA)
    del rich, typer
    from commitgate.cli.app import run

    sys.exit(run(sys.argv[1:]))


__all__ = ["ExitCode", "main"]
