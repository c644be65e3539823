"""Run the trials of one run side by side, and keep each as it ends."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from commitgate.backends.base import Backend
from commitgate.errors import RunStoreError
from commitgate.evaluation.caller_code import CallerCode
from commitgate.evaluation.case import Suite
from commitgate.evaluation.progress import Progress, Told
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Variant
from commitgate.evaluation.settings import RunSettings
from commitgate.evaluation.setup import Planned, Setup
from commitgate.evaluation.store import RunStore, answered_line, part_line, record_line
from commitgate.evaluation.text_file import TextFile
from commitgate.evaluation.trial import Tried, try_case, warm_up
from commitgate.evaluation.watchdog import Watchdog, identity_of
from commitgate.json_value import JsonObject
from commitgate.ledger import SqliteLedger
from commitgate.telemetry.observer import Observer

CLOSING_S = 10.0
"""Most seconds for writing down how a run that is being cancelled ended."""


@dataclass(slots=True, kw_only=True)
class Trials:
    """Run a suite once.

    Args:
        suite: the suite.
        header: names the run.
        settings: how it is made.
        backend: who is asked.
        model: the model's name at it.
        observers: who else is told of the calls.
        store: keeps records; None keeps none. It is closed here.
        texts: keeps answers; None keeps none. It is closed here.
        told: is told how far the run has come.
        stop: ends the run once it is set.
    """

    suite: Suite[object]
    header: JsonObject
    settings: RunSettings
    backend: Backend
    model: str
    observers: Sequence[Observer]
    store: RunStore | None
    texts: TextFile | None
    told: Told | None
    stop: anyio.Event | None
    _plan: tuple[Planned, ...] = ()
    _records: dict[tuple[str, Variant, int], CaseRecord] = field(
        default_factory=dict[tuple[str, Variant, int], CaseRecord]
    )
    _stored: set[tuple[str, Variant, int]] = field(default_factory=set[tuple[str, Variant, int]])
    _problems: list[str] = field(default_factory=list[str])
    _watchdog: Watchdog = field(init=False)
    _progress: Progress = field(init=False)
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _began_at: float = 0.0
    _kept_s: float = 0.0
    _is_ended: bool = False

    async def run(self) -> EvaluationRun:
        """Run all that is left to run, and return all there is."""
        self._began_at = anyio.current_time()
        self._plan = self.settings.plan(self.suite)
        self._watchdog = Watchdog(dead_after=self.settings.dead_after, most_failures=self.settings.most_failures)
        ledger: SqliteLedger | None = None
        folder: str | None = None
        try:
            self._resume()
            if self.suite.effect is not None or self.suite.tools:
                folder = await anyio.to_thread.run_sync(tempfile.mkdtemp, None, "commitgate-evaluation-")
                ledger = SqliteLedger(Path(folder) / "ledger.sqlite3")
            await self._work(self._setup(ledger))
        finally:
            with anyio.move_on_after(CLOSING_S, shield=True):
                await self._close(ledger, folder)
        return self._made()

    def _resume(self) -> None:
        if self.store is not None:
            kept = self.store.kept
            planned = {each.key for each in self._plan}
            for record in kept.records:
                if record.key in planned:
                    self._records.setdefault(record.key, record)
            self._stored = set(self._records)
            for facts in kept.answered_by:
                self._watchdog.note_identity(facts)
            self._kept_s = kept.wall_s
            self.header = {**self.header, "started": kept.header.get("started", self.header["started"])}
            if kept.was_torn:
                self._problems.append("the last line of the kept records was cut off; its trial was made again")
        self._progress = Progress(self.told, planned=len(self._plan), kept=len(self._records), began_at=self._began_at)

    def _setup(self, ledger: SqliteLedger | None) -> Setup:
        settings = self.settings
        return Setup(
            suite=self.suite,
            backend=self.backend,
            model=self.model,
            ledger=ledger,
            run_id=secrets.token_hex(8),
            observers=self.observers,
            timeouts=settings.timeouts,
            retry=settings.retry,
            reasoning=settings.reasoning,
            most_reasks=settings.most_reasks,
            caller=CallerCode(limit_s=settings.check_timeout_s),
        )

    async def _work(self, setup: Setup) -> None:
        waiting = [each for each in self._plan if each.key not in self._records]
        self._progress.tell(len(self._records), anyio.current_time())
        with self._scope:
            if self.settings.warm_up and waiting:
                for variant in self.settings.variants:
                    await warm_up(setup, waiting, variant)
            async with anyio.create_task_group() as watching:
                if self.stop is not None:
                    watching.start_soon(self._watch, self.stop)
                async with anyio.create_task_group() as workers:
                    trials = iter(waiting)
                    for _ in range(min(self.settings.concurrency, len(waiting))):
                        workers.start_soon(self._try_all, setup, trials)
                watching.cancel_scope.cancel()

    async def _watch(self, stop: anyio.Event) -> None:
        await stop.wait()
        self._end("it was asked to stop")

    async def _try_all(self, setup: Setup, trials: Iterator[Planned]) -> None:
        for planned in trials:
            tried = await try_case(setup, planned)
            reason = None
            # What is done is kept, whatever is cancelled meanwhile.
            with anyio.CancelScope(shield=True):
                reason = await self._take(tried)
            if reason is not None:
                self._end(reason)
                return

    async def _take(self, tried: Tried) -> str | None:
        """Keep what a trial came to; return why the run must stop, None where it goes on."""
        record = tried.record
        self._records[record.key] = record
        facts = None if tried.outcome is None else identity_of(tried.outcome.receipt)
        is_new = facts is not None and self._watchdog.note_identity(facts)
        reason = self._watchdog.take(tried)
        try:
            if facts is not None and is_new:
                await self._append(answered_line(facts))
            if not self._watchdog.held:
                await self._store_all()
            if self.texts is not None and tried.text:
                await anyio.to_thread.run_sync(self.texts.append, record, tried.text)
        except RunStoreError as error:
            reason = reason or str(error)
        self._progress.tell(len(self._records), anyio.current_time())
        return reason

    async def _store_all(self) -> None:
        """Store every record that is not stored yet: those that were held back, too."""
        for key, record in list(self._records.items()):
            if key not in self._stored:
                self._stored.add(key)
                await self._append(record_line(record))

    async def _append(self, line: JsonObject) -> None:
        if self.store is not None:
            await anyio.to_thread.run_sync(self.store.append, line)

    def _end(self, reason: str) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._problems.append(f"stopped with {len(self._records)} of {len(self._plan)} records: {reason}")
            self._scope.cancel()

    async def _close(self, ledger: SqliteLedger | None, folder: str | None) -> None:
        async with AsyncExitStack() as closing:  # each, also where another one fails
            if folder is not None:
                closing.push_async_callback(
                    anyio.to_thread.run_sync, partial(shutil.rmtree, folder, ignore_errors=True)
                )
            if ledger is not None:
                closing.push_async_callback(ledger.aclose)
            for file in (self.store, self.texts):
                if file is not None:
                    closing.push_async_callback(anyio.to_thread.run_sync, file.close)
            try:
                # Of a dead backend, the trials that it did not serve are made again when the run is gone on with.
                if not self._watchdog.is_dead:
                    await self._store_all()
                await self._append(part_line(round(anyio.current_time() - self._began_at, 3)))
            except RunStoreError as error:
                if not self._is_ended:
                    self._problems.append(str(error))

    def _made(self) -> EvaluationRun:
        header, answered_by = self.header, self._watchdog.answered_by
        facts: JsonObject = {**(answered_by[0] if answered_by else {}), "contracts": header["contracts"]}
        if len(answered_by) > 1:
            facts["answered_by"] = list(answered_by)
        progress = self._progress.problem
        settings = header["settings"]
        assert isinstance(settings, dict), "made by the settings themselves"
        return EvaluationRun(
            suite=self.suite.name,
            suite_version=self.suite.version,
            suite_digest=str(header["suite_digest"]),
            model=str(header["model"]),
            receipt_facts=facts,
            settings={**settings, "concurrency": self.settings.concurrency},
            started=str(header["started"]),
            wall_s=self._kept_s + anyio.current_time() - self._began_at,
            records=tuple(self._records[each.key] for each in self._plan if each.key in self._records),
            planned=len(self._plan),
            problems=(*self._problems, *self._watchdog.problems, *([] if progress is None else [progress])),
        )


__all__ = ["CLOSING_S", "Trials"]
