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
from commitgate.cli.eval_running import stoppable
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.local_models import load_local_model
from commitgate.cli.report import complain, result_written, write_json
from commitgate.cli.saved_file import check_place
from commitgate.evaluation.adversarial import AdversarialReport, Held, hold, report_lines, run_adversarial
from commitgate.evaluation.adversarial.ratchet import Ratchet
from commitgate.evaluation.adversarial.running import DEFAULT_CALL_S


def try_adversarial(
    model: str,
    surroundings: Surroundings,
    *,
    only: Sequence[str] | None,
    ratchet: str | None,
    update: bool,
    call_s: float | None,
    is_json: bool,
) -> ExitCode:
    """Try the set, tell what came of it, and return the exit code.

    Args:
        model: ``backend/name``.
        surroundings: of the command.
        only: groups and checks that are wanted; None for all.
        ratchet: file of what passed before; None takes the release's own.
        update: write what passed into it.
        call_s: most seconds for one call; None takes the set's own.
        is_json: one JSON object on stdout.

    Raises:
        CommandError: the words contradict each other.
        MisuseError: there is no such check, or the ratchet is none.
    """
    if update and ratchet is None:
        raise CommandError("--update-ratchet needs a --ratchet")
    if ratchet is not None:
        if update:
            check_place(ratchet)
        # A file that is none is better told now than after an hour.
        Ratchet.read(ratchet, may_be_missing=update)
    with EvaluationProgress("adversarial set") as progress:
        report, was_stopped = anyio.run(_run, model, surroundings, only, call_s, progress)
    is_whole = not report.problems
    if update and not is_whole:
        complain("the ratchet is left as it is: the run was not whole")
    held = hold(report, ratchet, update=update and is_whole)
    code = _code(report, held, has_ratchet=ratchet is not None, was_stopped=was_stopped)
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
    model: str,
    surroundings: Surroundings,
    only: Sequence[str] | None,
    call_s: float | None,
    progress: EvaluationProgress,
) -> tuple[AdversarialReport, bool]:
    local = LocalBackend(load=lambda name: load_local_model(name, progress.load))
    backends: dict[str, Backend] = {LOCAL: local, **surroundings.backends}
    limit_s = DEFAULT_CALL_S if call_s is None else call_s
    async with aclosing(local):
        return await stoppable(
            lambda stop: run_adversarial(
                model, backends=backends, told=progress.tell, only=only, stop=stop, call_s=limit_s
            )
        )


def _code(report: AdversarialReport, held: Held, *, has_ratchet: bool, was_stopped: bool) -> ExitCode:
    """Return the code. Against a ratchet of somebody's own, what it knows to fail may go on failing."""
    if was_stopped:
        return ExitCode.CANCELLED
    if report.problems:
        return ExitCode.RUN_UNFINISHED
    is_good = held.is_kept if has_ratchet and held.is_known else report.has_passed and held.is_kept
    return ExitCode.COMMITTED if is_good else ExitCode.BELOW_RATE


__all__ = ["try_adversarial"]
