"""Make the runs that a command orders: costs first, then a bar, and Ctrl-C ends a run with what it has."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

import anyio
from anyio.abc import TaskStatus

from commitgate.backends.base import Backend
from commitgate.backends.local import LocalBackend
from commitgate.backends.registry import LOCAL, BackendRegistry
from commitgate.cli.boundary import Surroundings
from commitgate.cli.command_error import CommandError
from commitgate.cli.eval_order import EvaluationOrder
from commitgate.cli.eval_progress import EvaluationProgress
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.local_models import load_local_model
from commitgate.cli.process import ignore_signals
from commitgate.cli.report import complain
from commitgate.evaluation import Estimate, EvaluationRun, Suite, estimate, evaluate
from commitgate.evaluation.progress import Told
from commitgate.evaluation.settings import RunSettings
from commitgate.harmless import harmless

T = TypeVar("T")


def run_order(order: EvaluationOrder, surroundings: Surroundings) -> tuple[tuple[EvaluationRun, ...], bool]:
    """Make the runs, and return those that were begun, and whether Ctrl-C ended one.

    Raises:
        CommandError: the person at the terminal does not want the costs.
        EvaluationError: the suite or the store is wrong.
        BackendError: there is no such backend.
        MisuseError: a backend cannot be made of what the environment says.
    """
    anyio.run(_find, order.models, surroundings)
    for model in order.models:
        costs = estimate(order.suite, model, settings=order.settings, store=order.output.store, prices=order.prices)
        _tell_costs(model, costs)
    is_free = all(model.partition("/")[0] == LOCAL for model in order.models)
    if not order.is_agreed and not is_free:
        _must_agree()
    runs: list[EvaluationRun] = []
    for model in order.models:
        with EvaluationProgress(harmless(model)) as progress:
            run, was_stopped = anyio.run(_run, order, model, surroundings, progress)
        runs.append(run)
        if was_stopped:
            return tuple(runs), True
    return tuple(runs), False


async def _find(models: tuple[str, ...], surroundings: Surroundings) -> None:
    """See whether there is a backend for each model, before the first one is asked for an hour."""
    registry = BackendRegistry({LOCAL: LocalBackend(), **surroundings.backends})
    try:
        for model in models:
            registry.find(model)
    finally:
        await registry.aclose()


def _must_agree() -> None:
    """Ask on stderr, since stdout may be a file."""
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("not confirmed; nothing was asked", ExitCode.CANCELLED)


def _tell_costs(model: str, costs: Estimate) -> None:
    kept = f", {costs.kept:,} there already" if costs.kept else ""
    again = f" (at most {costs.most_requests:,})" if costs.most_requests > costs.requests else ""
    money = ""
    if costs.cost is not None and costs.most_cost is not None:
        most = f", at most {costs.most_cost:,.2f} where all is asked again" if costs.most_cost > costs.cost else ""
        money = f"; up to {costs.cost:,.2f} {harmless(costs.currency or '')}{most}"
    complain(
        f"{harmless(model)}: {costs.trials:,} answers{kept}, {costs.requests:,} requests{again}, about "
        f"{costs.prompt_tokens:,} tokens of prompts, up to {costs.most_output_tokens:,} written{money}"
    )


async def _run(
    order: EvaluationOrder, model: str, surroundings: Surroundings, progress: EvaluationProgress
) -> tuple[EvaluationRun, bool]:
    local = LocalBackend(load=lambda name: load_local_model(name, progress.load))
    backends: dict[str, Backend] = {LOCAL: local, **surroundings.backends}
    async with aclosing(local):
        return await stoppable(
            lambda stop: _evaluated(order.suite, model, order.settings, backends, progress.tell, stop, order)
        )


async def _evaluated(
    suite: Suite[object],
    model: str,
    settings: RunSettings,
    backends: dict[str, Backend],
    told: Told,
    stop: anyio.Event,
    order: EvaluationOrder,
) -> EvaluationRun:
    return await evaluate(
        suite,
        model,
        backends=backends,
        variants=settings.variants,
        repetitions=settings.repetitions,
        concurrency=settings.concurrency,
        store=order.output.store,
        told=told,
        stop=stop,
        timeouts=settings.timeouts,
        most_reasks=settings.most_reasks,
        most_failures=settings.most_failures,
        warm_up=settings.warm_up,
        keep_text=order.output.keep_text,
    )


async def stoppable(work: Callable[[anyio.Event], Awaitable[T]]) -> tuple[T, bool]:
    """Do work that an interrupt, or a termination, asks to end early, and say whether it was asked.

    Args:
        work: takes the event that is set then, and returns what it has.

    Raises:
        Exception: what ``work`` raised, by itself and not in a group.
    """
    stop = anyio.Event()
    found: list[T] = []
    faults: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        await tasks.start(_stop_on_signal, stop)
        try:
            found.append(await work(stop))
        except Exception as error:  # noqa: BLE001 - raised again outside of the group
            faults.append(error)
        tasks.cancel_scope.cancel()
    for fault in faults:
        raise fault
    return found[0], stop.is_set()


async def _stop_on_signal(stop: anyio.Event, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    """Set ``stop`` at the first interrupt or termination; a second one ends the program at once."""
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for _ in signals:
                if stop.is_set():
                    os._exit(ExitCode.CANCELLED)
                stop.set()
                complain("stopping; what is done is kept (once more ends at once)")
    finally:
        ignore_signals()


__all__ = ["run_order", "stoppable"]
