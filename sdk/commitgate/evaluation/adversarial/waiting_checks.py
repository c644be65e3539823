"""Check what becomes of a call that waits, is cut by its limit, cancelled, or left by its consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import anyio

from commitgate.backends.base import Ping, TextDelta
from commitgate.contract import Contract
from commitgate.evaluation.adversarial.check import Check, Found, Run, all_of, failed, passed, skipped
from commitgate.evaluation.adversarial.cut_checks import ANSWER, FORCING, PROMPT
from commitgate.evaluation.adversarial.judge import ValueJudge
from commitgate.evaluation.adversarial.laws import ending_words, of_effects, of_endings, of_value
from commitgate.evaluation.adversarial.place import Place
from commitgate.evaluation.adversarial.stage import Scene, Stage, json_contract
from commitgate.evaluation.adversarial.tamper import AtPlace, Crumbled, Drip, Hang, Tamper
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.outcome import Committed
from commitgate.run.structured_run import StructuredRun
from commitgate.timeouts import Timeouts
from commitgate.worker_thread import run_in_thread

_TOKENS = 120
_REFUSAL_TOKENS = 400
_CUTS = (1, 2, 3, 5, 8, 13)
_LIMIT_S = 0.5
_LATE_S = 5.0
"""Seconds within which a limit, a cancellation or a consumer that leaves must take hold."""

_REFUSAL: JsonValue = {"refusal": "this is out of scope"}

_LIMITS: Mapping[str, tuple[str, Callable[[], Tamper], Timeouts]] = {
    "first_event": (
        "nothing ever comes",
        lambda: AtPlace(Place.START, Hang()),
        Timeouts(first_event_s=_LIMIT_S, idle_s=None, progress_s=None, total_s=None),
    ),
    "idle": (
        "the answer stops in a text and goes on no more",
        lambda: AtPlace(Place.IN_STRING, Hang()),
        Timeouts(first_event_s=None, idle_s=_LIMIT_S, progress_s=None, total_s=None),
    ),
    "progress": (
        "nothing but signs of life comes any more",
        lambda: AtPlace(Place.IN_STRING, Drip(Ping(), 0.02)),
        Timeouts(first_event_s=None, idle_s=None, progress_s=_LIMIT_S, total_s=None),
    ),
    "progress_blank": (
        "nothing but white space comes any more",
        lambda: AtPlace(Place.AFTER_COLON, Drip(TextDelta(b" "), 0.02)),
        Timeouts(first_event_s=None, idle_s=None, progress_s=_LIMIT_S, total_s=None),
    ),
    "total": (
        "the answer stops in a text, and only the whole call has a limit",
        lambda: AtPlace(Place.IN_STRING, Hang()),
        Timeouts(first_event_s=None, idle_s=None, progress_s=None, total_s=_LIMIT_S),
    ),
}

_CANCELLED: Sequence[tuple[Place, str]] = (
    (Place.START, "before anything came"),
    (Place.IN_STRING, "in a text"),
    (Place.UNFINISHED, "after the whole text, before the finish"),
    (Place.FINISHED, "after the finish"),
)


def waiting_checks() -> Iterator[Check]:
    """Yield the checks of limits, cancellations, and consumers that leave or are slow."""
    for most in _CUTS:
        law = "it ends as truncated, and nothing is committed"
        yield _check(f"max_tokens_{most}", f"the answer needs more than its {most} tokens", law, _truncated(most))
    yield _check("refusal", "only a refusal is legal", "it ends as refused, and is no value", _refused)
    law = "it is a value like any other"
    yield _check("refusal_as_value", "an object like a refusal, where none is agreed on", law, _refusal_as_value)
    for name, (about, make, timeouts) in _LIMITS.items():
        law = "it ends as timed out soon after the limit, and nothing is committed"
        yield _check(f"timeout_{name}", about, law, _timed_out(make, timeouts, name.partition("_blank")[0]))
    law = "an effect ran if and only if the value is committed"
    for place, where in _CANCELLED:
        yield _check(f"cancelled_{place}", f"the call is cancelled {where}", law, _cancelled(place))
    yield _check("cancelled_at_once", "the call is cancelled as it begins", law, _cancelled_at_once)
    yield _check("cancelled_in_effect", "the call is cancelled while its effect runs", law, _cancelled_in_effect)
    law = "the stream is closed, no effect ran, and the same key can be asked again and acts once"
    yield _check("consumer_leaves", "the consumer leaves in the middle", law, _left)
    yield _check("caller_cancelled", "the caller's own task is cancelled in the middle", law, _scope_cancelled)
    yield _check("consumer_slow", "nobody reads a preview until the end", "the value is committed all the same", _slow)


def _check(name: str, about: str, law: str, run: Run) -> Check:
    return Check(name=name, group="streams", about=about, law=law, run=run)


def _truncated(most: int) -> Run:
    async def run(scene: Scene) -> Found:
        async with scene.stage() as stage:
            outcome = await stage.ask(await json_contract(FORCING), PROMPT, max_tokens=most, acts=True)
            return all_of(of_endings(outcome, ("truncated",)), of_effects(outcome, stage.effects, 0))

    return run


async def _refused(scene: Scene) -> Found:
    schema: JsonSchema = {"const": _REFUSAL}
    contract = await run_in_thread(lambda: Contract.json_schema(schema, refusal=True, numbers="decimal"))
    async with scene.stage() as stage:
        outcome = await stage.ask(contract, PROMPT, max_tokens=_REFUSAL_TOKENS, acts=True)
        if outcome.name == "unsupported":
            return skipped("the server cannot be asked for a value or a refusal", outcome.name)
        return all_of(of_endings(outcome, ("refused",)), of_effects(outcome, stage.effects, 0))


async def _refusal_as_value(scene: Scene) -> Found:
    schema: JsonSchema = {"const": _REFUSAL}
    contract = await json_contract(schema)
    async with scene.stage() as stage:
        outcome = await stage.ask(contract, PROMPT)
    return of_value(outcome, ValueJudge(schema=schema, expected=_REFUSAL), contract, is_forced=True)


def _timed_out(make: Callable[[], Tamper], timeouts: Timeouts, phase: str) -> Run:
    async def run(scene: Scene) -> Found:
        contract = await json_contract(FORCING)
        async with scene.stage() as warm:  # what has to be loaded first is no part of the wait
            await warm.ask(contract, PROMPT, max_tokens=1)
        async with scene.stage(make()) as stage:
            outcome = await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True, timeouts=timeouts)
            late = _late(stage) or of_endings(outcome, (f"timed_out ({phase})",))
            return all_of(late, of_effects(outcome, stage.effects, 0))

    return run


def _late(stage: Stage) -> Found | None:
    """Say whether a stream that was left was closed in time; None where it was."""
    for seen in stage.line.seen:
        if not seen.is_closed:
            return failed("the backend's stream was left open")
        if seen.closing_s > _LATE_S:
            return failed(f"the backend took more than {_LATE_S:g} s to close its stream")
    return None


def _cancelled(place: Place) -> Run:
    async def run(scene: Scene) -> Found:
        contract = await json_contract(FORCING)
        tamper = AtPlace(place, Hang())
        async with scene.stage(tamper) as stage:
            async with (
                stage.stream(contract, PROMPT, max_tokens=_TOKENS, acts=True) as running,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(_then, stage.line.hung, running.cancel)
                await running.outcome()
                tasks.cancel_scope.cancel()
            outcome = await running.outcome()
            allowed = ("cancelled", "committed") if place is Place.FINISHED else ("cancelled",)
            if not tamper.has_fired:
                return skipped("the answer has no such place here", ending_words(outcome))
            effects = of_effects(outcome, stage.effects, int(isinstance(outcome, Committed)))
            return _late(stage) or all_of(of_endings(outcome, allowed), effects)

    return run


async def _then(event: anyio.Event, act: Callable[[], None]) -> None:
    await event.wait()
    act()


async def _cancelled_at_once(scene: Scene) -> Found:
    contract = await json_contract(FORCING)
    async with scene.stage() as stage:
        async with stage.stream(contract, PROMPT, max_tokens=_TOKENS, acts=True) as running:
            running.cancel()
            outcome = await running.outcome()
        return all_of(of_endings(outcome, ("cancelled",)), of_effects(outcome, stage.effects, 0))


async def _cancelled_in_effect(scene: Scene) -> Found:
    contract = await json_contract(FORCING)
    async with scene.stage() as stage:
        async with stage.stream(contract, PROMPT, max_tokens=_TOKENS, acts=True) as running:
            stage.in_effect = running.cancel
            outcome = await running.outcome()
        return all_of(of_endings(outcome, ("committed",)), of_effects(outcome, stage.effects, 1))


async def _left(scene: Scene) -> Found:
    contract = await json_contract(FORCING)
    tamper = AtPlace(Place.IN_STRING, Hang())
    async with scene.stage(tamper) as stage:
        async with stage.stream(contract, PROMPT, max_tokens=_TOKENS, acts=True, operation_key="left") as running:
            await _hung(stage, running)
        return await _again(stage, contract, "left", tamper)


async def _scope_cancelled(scene: Scene) -> Found:
    contract = await json_contract(FORCING)
    tamper = AtPlace(Place.IN_STRING, Hang())
    async with scene.stage(tamper) as stage:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_then, stage.line.hung, tasks.cancel_scope.cancel)
            await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True, operation_key="scope")
            tasks.cancel_scope.cancel()
        return await _again(stage, contract, "scope", tamper)


async def _hung(stage: Stage, running: StructuredRun[object, object]) -> None:
    """Wait until the line hangs, or the call has ended without."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_then, stage.line.hung, tasks.cancel_scope.cancel)
        await running.outcome()
        tasks.cancel_scope.cancel()


async def _again(stage: Stage, contract: Contract[object], key: str, tamper: Tamper) -> Found:
    if not tamper.has_fired:
        return skipped("the answer has no such place here")
    if stage.effects:
        return failed("an effect ran though nothing was committed")
    late = _late(stage)
    if late is not None:
        return late
    outcome = await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True, operation_key=key)
    return all_of(of_endings(outcome, ("committed",)), of_effects(outcome, stage.effects, 1))


async def _slow(scene: Scene) -> Found:
    contract = await json_contract(FORCING)
    async with scene.stage(Crumbled()) as stage, stage.stream(contract, PROMPT, max_tokens=_TOKENS) as running:
        outcome = await running.outcome()
        shown = [item async for item in running]
    found = of_value(outcome, ValueJudge(schema=FORCING, expected=ANSWER), contract, is_forced=True)
    many = len(shown) > len(stage.line.seen[0].text)
    return all_of(found, failed("previews piled up") if many else passed(found.ending))


__all__ = ["waiting_checks"]
