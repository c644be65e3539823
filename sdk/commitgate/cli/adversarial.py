"""Try the adversarial set from a shell: ``commitgate eval --suite adversarial``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

import anyio

from commitgate.backends.base import Backend
from commitgate.backends.local import LocalBackend
from commitgate.backends.registry import LOCAL
from commitgate.cli.boundary import Surroundings
from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.eval_progress import EvaluationProgress
from commitgate.cli.eval_running import stop_on_signal
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.local_models import load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import result_written, write_json
from commitgate.evaluation.adversarial import AdversarialReport, Held, hold, report_lines, run_adversarial
from commitgate.evaluation.progress import Told


def try_adversarial(
    model: str,
    surroundings: Surroundings,
    *,
    only: Sequence[str] | None,
    ratchet: str | None,
    update: bool,
    html: str | None,
    is_json: bool,
) -> ExitCode:
    """Try the set, tell what came of it, and return the exit code.

    Args:
        model: ``backend/name``.
        surroundings: of the command.
        only: groups and checks that are wanted; None for all.
        ratchet: file of what passed before; None takes the release's own.
        update: write what passed into it.
        html: asked for, and not to be had here.
        is_json: one JSON object on stdout.

    Raises:
        CommandError: the words contradict each other.
        MisuseError: there is no such check, or the ratchet is none.
    """
    if html is not None:
        raise CommandError("--html is for files of cases; --json tells all of the adversarial set")
    with EvaluationProgress("adversarial set") as progress, ModelProgress() as loading:
        report, was_stopped = anyio.run(_run, model, surroundings, only, progress.tell, loading)
    held = hold(report, ratchet, update=update)
    code = _code(report, held, was_stopped=was_stopped)
    with result_written(code.label):
        if is_json:
            lost = [each.id for each in held.lost]
            ratchet_told = {"is_known": held.is_known, "lost": lost, "gained": list(held.gained)}
            write_json({"exit_code": int(code), "ratchet": ratchet_told, **report.to_json()})
        else:
            console = ResultConsole()
            for line in report_lines(report, held):
                console.print(line)
    return code


async def _run(
    model: str, surroundings: Surroundings, only: Sequence[str] | None, told: Told, loading: ModelProgress
) -> tuple[AdversarialReport, bool]:
    local = LocalBackend(load=lambda name: load_local_model(name, loading.report))
    backends: dict[str, Backend] = {LOCAL: local, **surroundings.backends}
    stop = anyio.Event()
    async with aclosing(local), anyio.create_task_group() as tasks:
        await tasks.start(stop_on_signal, stop)
        report = await run_adversarial(model, backends=backends, told=told, only=only, stop=stop)
        tasks.cancel_scope.cancel()
        return report, stop.is_set()
    raise AssertionError("a task group that is left has returned")


def _code(report: AdversarialReport, held: Held, *, was_stopped: bool) -> ExitCode:
    if was_stopped:
        return ExitCode.CANCELLED
    if report.problems:
        return ExitCode.RUN_UNFINISHED
    return ExitCode.BELOW_RATE if report.of("failed") or not held.is_kept else ExitCode.COMMITTED


__all__ = ["try_adversarial"]
