"""Run the adversarial set against a backend: one check after the other, within bounds, and report what each came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import anyio

from commitgate.argument import check_finite, check_text
from commitgate.backends.base import Backend, FaultKind
from commitgate.backends.registry import BackendRegistry
from commitgate.backends.remote import RemoteBackend
from commitgate.errors import BackendError, MisuseError
from commitgate.evaluation.adversarial.catalogue import checks
from commitgate.evaluation.adversarial.check import Check, Found, failed, skipped
from commitgate.evaluation.adversarial.report import AdversarialReport, CheckResult
from commitgate.evaluation.adversarial.stage import Scene
from commitgate.evaluation.progress import Progress, Told

DEFAULT_CALL_S = 120.0
"""Seconds that one call may take, where the caller sets no other limit."""

_CALLS_OF_A_CHECK = 4
_DEAD_AFTER = 4
_GONE: tuple[FaultKind, ...] = (
    "unreachable",
    "untrusted",
    "auth",
    "quota",
    "rate_limit",
    "overload",
    "server",
    "model",
)
_DEAD = frozenset(
    {*(f"unavailable ({kind})" for kind in _GONE), *(f"timed_out ({phase})" for phase in ("total", "connect", "pool"))}
)


async def run_adversarial(
    model: str,
    *,
    backends: Mapping[str, Backend] | None = None,
    told: Told | None = None,
    only: Sequence[str] | None = None,
    stop: anyio.Event | None = None,
    call_s: float = DEFAULT_CALL_S,
) -> AdversarialReport:
    """Try every check on a model, one after the other, and return what each came to.

    Nothing outside of this process is touched but the model: effects only count themselves, and ledgers live in memory.
    A run that is cut short returns what it has, and ``problems`` says why; what was not tried is skipped.

    Args:
        model: ``backend/name``, as of a call.
        backends: backends by name; they stay the caller's to close. Effects run without a probe of the server: nothing
            of worth hangs on them here.
        told: is told how far it has come: checks done, checks planned, seconds left or None.
        only: names of groups and ids of checks; None tries all.
        stop: ends the run early once it is set, after the check that runs.
        call_s: most seconds for one call.

    Raises:
        MisuseError: an argument is wrong, or there is no such backend or check.
        BackendError: the model cannot be had; nothing was tried.
    """
    check_text("model", model)
    check_finite("call_s", call_s, "a number of seconds > 0")
    if call_s <= 0:
        raise MisuseError(f"call_s must be a number of seconds > 0, found {call_s!r}")
    chosen = checks(only)
    registry = BackendRegistry({} if backends is None else backends)
    try:
        backend, name = registry.find(model)
        scene = Scene(backend=backend, model=name, kind=_kind(backend), total_s=call_s)
        return await _Run(scene, model, chosen, told, stop).run()
    finally:
        with anyio.CancelScope(shield=True):
            await registry.aclose()


def _kind(backend: Backend) -> str:
    return backend.dialect.facts.name if isinstance(backend, RemoteBackend) else backend.name


class _Run:
    def __init__(
        self, scene: Scene, model: str, chosen: Sequence[Check], told: Told | None, stop: anyio.Event | None
    ) -> None:
        self._scene = scene
        self._model = model
        self._chosen = chosen
        self._stop = stop
        self._started = anyio.current_time()
        self._progress = Progress(told, planned=len(chosen), kept=0, began_at=self._started)
        self._results: list[CheckResult] = []
        self._problems: list[str] = []
        self._dead = 0

    async def run(self) -> AdversarialReport:
        for check in self._chosen:
            found, took_s = await self._tried(check)
            self._results.append(
                CheckResult(
                    id=check.id,
                    group=check.group,
                    about=check.about,
                    law=check.law,
                    verdict=found.verdict,
                    reason=found.reason,
                    ending=found.ending,
                    time_s=took_s,
                )
            )
            self._progress.tell(len(self._results), anyio.current_time())
            self._look(found)
        identity, problem = self._scene.identity, self._progress.problem
        return AdversarialReport(
            backend=self._scene.kind,
            model=self._model,
            model_revision=identity.model_revision,
            tokenizer_fingerprint=identity.tokenizer_fingerprint,
            results=tuple(self._results),
            problems=(*self._problems, *((problem,) if problem else ())),
            time_s=anyio.current_time() - self._started,
        )

    async def _tried(self, check: Check) -> tuple[Found, float]:
        if self._problems:
            return skipped("not tried: the run was not whole"), 0.0
        began = anyio.current_time()
        limit_s = _CALLS_OF_A_CHECK * self._scene.total_s
        found = failed(f"there was no end within {limit_s:g} s")
        self._scene.disorder = ""
        with anyio.move_on_after(limit_s):
            found = await self._found(check)
        if self._scene.disorder:
            found = failed(self._scene.disorder, found.ending)
        return found, anyio.current_time() - began

    async def _found(self, check: Check) -> Found:
        try:
            return await check.run(self._scene)
        except BackendError as error:
            if not any(each.ending == "committed" for each in self._results):
                raise
            self._problems.append(f"the model can be had no more: {type(error).__name__}")
            return failed(f"{type(error).__name__} was raised")
        except Exception as error:  # noqa: BLE001 - what breaks is a result, and the other checks are still to be tried
            return failed(f"{_name(error)} was raised in place of an ending")

    def _look(self, found: Found) -> None:
        """End the run where the backend is dead, or where it is to end."""
        # A check may want such an ending, and then it passes.
        is_dead = found.verdict != "passed" and found.ending in _DEAD
        self._dead = self._dead + 1 if is_dead else 0
        if self._problems:
            return
        if self._dead >= _DEAD_AFTER:
            self._problems.append(f"the backend is gone: {found.ending} {self._dead} times in a row")
        elif self._stop is not None and self._stop.is_set() and len(self._results) < len(self._chosen):
            self._problems.append("it was stopped")


def _name(error: BaseException) -> str:
    """Return the name of an error's type; of a group that of the first in it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return type(error).__name__


__all__ = ["DEFAULT_CALL_S", "run_adversarial"]
