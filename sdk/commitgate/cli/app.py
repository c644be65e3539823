"""Put the commands together into one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from errno import EBADF, EIO, ENOSPC, EPIPE
from typing import Annotated

import typer

from commitgate.backends.base import Backend
from commitgate.cli.boundary import Surroundings
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.report import complain

_STREAM_FAULTS = frozenset({EBADF, EIO, ENOSPC, EPIPE})


def run(arguments: Sequence[str], *, backends: Mapping[str, Backend] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: the words after the program's name.
        backends: backends by name beside the built-in one.
    """
    try:
        _application()(args=list(arguments), prog_name="commitgate", obj=Surroundings(backends or {}))
    except SystemExit as stop:
        if isinstance(stop.__context__, OSError):
            return _unwritten(stop.__context__)
        return stop.code if isinstance(stop.code, int) else ExitCode.UNEXPECTED if stop.code else ExitCode.COMMITTED
    except OSError as error:
        # Any other, as one of a file, is a fault of the program.
        if error.errno not in _STREAM_FAULTS or error.filename is not None:
            raise
        return _unwritten(error)
    return ExitCode.COMMITTED


def _unwritten(error: OSError) -> int:
    """Return the exit code where a stream did not take what typer itself writes.

    On stdout that is help or the version, on stderr what is wrong with the words of the command.
    """
    wrong_words = getattr(error.__context__, "exit_code", None)
    if isinstance(wrong_words, int):
        return wrong_words
    complain(f"the result could not be written ({error.strerror or 'stdout failed'})")
    return ExitCode.UNWRITTEN


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"commitgate {version('commitgate')}")
        raise typer.Exit


def _application() -> typer.Typer:
    from commitgate.cli.check import check
    from commitgate.cli.eval import eval_command
    from commitgate.cli.generate import generate
    from commitgate.cli.inspect import inspect_command
    from commitgate.cli.ledger import ledger
    from commitgate.cli.lint import lint_command
    from commitgate.cli.models import models
    from commitgate.cli.preflight import preflight_command
    from commitgate.cli.probe import probe_command
    from commitgate.cli.serve import serve

    application = typer.Typer(
        name="commitgate",
        help="Let a model fill a schema, and hand the object over only when it is whole, valid and allowed.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    application.callback()(_options)
    application.command()(generate)
    application.command()(check)
    application.command("lint")(lint_command)
    application.command("probe")(probe_command)
    application.command("eval")(eval_command)
    application.command("inspect")(inspect_command)
    application.command("preflight")(preflight_command)
    application.command()(serve)
    application.add_typer(models, name="models")
    application.add_typer(ledger, name="ledger")
    return application


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and leave.", is_eager=True, callback=_tell_version)
    ] = False,
) -> None:
    del version


__all__ = ["run"]
