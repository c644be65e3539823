"""Run a suite: its trials side by side within bounds, each kept as it ends, until all are done or the run must stop."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

import anyio
import anyio.to_thread

from commitgate.backends.base import Backend
from commitgate.backends.registry import BackendRegistry
from commitgate.evaluation.case import Suite
from commitgate.evaluation.header import header_of
from commitgate.evaluation.progress import Told
from commitgate.evaluation.record import EvaluationRun, Variant
from commitgate.evaluation.settings import DEFAULT_CHECK_S, DEFAULT_CONCURRENCY, DEFAULT_DEAD_AFTER, RunSettings
from commitgate.evaluation.store import RunStore
from commitgate.evaluation.suite_check import check_suite
from commitgate.evaluation.text_file import TextFile
from commitgate.evaluation.trials import Trials
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.run.watch import checked_observers
from commitgate.telemetry.observer import Observer
from commitgate.timeouts import Timeouts

T = TypeVar("T")


async def evaluate(
    suite: Suite[T],
    model: str,
    *,
    backends: Mapping[str, Backend] | None = None,
    observers: Sequence[Observer] = (),
    variants: Sequence[Variant] = ("constrained",),
    repetitions: int = 1,
    concurrency: int = DEFAULT_CONCURRENCY,
    store: str | os.PathLike[str] | None = None,
    told: Told | None = None,
    stop: anyio.Event | None = None,
    timeouts: Timeouts | None = None,
    retry: Retry | None = None,
    reasoning: Reasoning | None = None,
    most_reasks: int = 0,
    dead_after: int | None = DEFAULT_DEAD_AFTER,
    most_failures: int | None = None,
    check_timeout_s: float = DEFAULT_CHECK_S,
    warm_up: bool = False,
    keep_text: str | os.PathLike[str] | None = None,
) -> EvaluationRun:
    """Ask a model every case of a suite, judge each answer layer by layer, and return what became of each.

    A run that is cut short returns what it has, and ``problems`` says why: a backend that is dead, ``stop``, a store
    that cannot be written. Where it is cancelled from outside, what is done is stored and the cancellation goes on. A
    scorer, authority or check that raises is noted in its record, and the run goes on.

    Effects and tools of the suite are really run, and each act is made a second time under the same key, which must do
    nothing. A ledger of the run's own, deleted at its end, is what remembers them.

    Args:
        suite: what is asked.
        model: ``backend/name``, as of a call.
        backends: backends by name; they stay the caller's to close.
        observers: who else is told of the calls.
        variants: how each case is asked; with ``prompt_only`` also by the prompt alone, for comparing.
        repetitions: how often each case is asked; each time with the next seed where there is one.
        concurrency: most trials at once.
        store: keeps records as they are made, so that the same run goes on where it stopped; None keeps nothing.
        told: is told how far it has come.
        stop: ends the run early once it is set, with what it has.
        timeouts: limits on the waits of each call.
        retry: what each call may ask again; of answers by the prompt alone the first one is judged.
        reasoning: how a thinking model may think.
        most_reasks: how often an answer by the prompt alone that has not the right form is asked for again, with what
            was wrong, to see how many requests it takes.
        dead_after: trials in a row that the backend does not serve, after which it counts as dead and the run stops;
            they are asked again when the run is gone on with. None never stops for that.
        most_failures: trials that did not come through, after which the run stops; None for no limit.
        check_timeout_s: seconds for each function of the suite; one that takes longer has raised ``TimeoutError``.
        warm_up: sends one request of one token for each variant first, whose answer is thrown away, so that loading a
            model counts for no answer's time.
        keep_text: a file to which the answers are written, as JSON lines; None keeps no answer anywhere.

    Raises:
        SuiteError: something in the suite is wrong; nothing was asked.
        RunStoreError: ``store`` is another run's, in use, damaged or cannot be written; it is unchanged.
        MisuseError: another argument is of the wrong kind, or there is no such backend.
    """
    settings = RunSettings(
        variants=tuple(variants),
        repetitions=repetitions,
        concurrency=concurrency,
        most_reasks=most_reasks,
        dead_after=dead_after,
        most_failures=most_failures,
        check_timeout_s=check_timeout_s,
        warm_up=warm_up,
        timeouts=timeouts or Timeouts(),
        retry=retry or Retry(),
        reasoning=reasoning,
    )
    given = cast("Suite[object]", suite)
    await anyio.to_thread.run_sync(check_suite, given)
    watching = checked_observers(observers)
    registry = BackendRegistry({} if backends is None else backends)
    try:
        backend, name = registry.find(model)
        header = await anyio.to_thread.run_sync(header_of, given, model, settings)
        kept, texts = await anyio.to_thread.run_sync(_opened, header, store, keep_text)
        trials = Trials(
            suite=given,
            header=header,
            settings=settings,
            backend=backend,
            model=name,
            observers=watching,
            store=kept,
            texts=texts,
            told=told,
            stop=stop,
        )
        return await trials.run()
    finally:
        with anyio.CancelScope(shield=True):
            await registry.aclose()


def _opened(
    header: JsonObject, store: str | os.PathLike[str] | None, keep_text: str | os.PathLike[str] | None
) -> tuple[RunStore | None, TextFile | None]:
    kept = None if store is None else RunStore.open(store, header)
    try:
        return kept, None if keep_text is None else TextFile(keep_text)
    except BaseException:
        if kept is not None:
            kept.close()
        raise


__all__ = ["evaluate"]
