"""Check that retries, races and repeated calls set off one effect for one key, and that streams keep their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import anyio

from commitgate.backends.base import ConnectionLost, Fault
from commitgate.evaluation.adversarial.check import Check, Found, Run, all_of, failed, passed, skipped
from commitgate.evaluation.adversarial.cut_checks import FORCING, PROMPT
from commitgate.evaluation.adversarial.laws import of_effects, of_endings
from commitgate.evaluation.adversarial.place import Place
from commitgate.evaluation.adversarial.stage import AGAIN, Scene, Stage, json_contract
from commitgate.evaluation.adversarial.tamper import AtPlace, End, Tamper
from commitgate.outcome import Committed, Outcome
from commitgate.preview import Reset

_TOKENS = 120
_KEY = "one-act"

_FAULTS: Sequence[tuple[str, str, Callable[[], Tamper]]] = (
    ("failed_before", "the server fails before any text", lambda: AtPlace(Place.START, Fault("server", "injected"))),
    ("failed_inside", "the server fails in a text", lambda: AtPlace(Place.IN_STRING, Fault("overload", "injected"))),
    ("lost_inside", "the line breaks in a text", lambda: AtPlace(Place.IN_STRING, ConnectionLost(), End())),
    ("lost_before_finish", "the line breaks at the finish", lambda: AtPlace(Place.UNFINISHED, ConnectionLost(), End())),
)


def key_checks() -> Iterator[Check]:
    """Yield the checks of keys and of the order of events."""
    law = "it is asked again under the same key, the value is committed, and one effect ran"
    for name, about, make in _FAULTS:
        yield _check(f"retried_{name}", f"{about}, and the call asks again", law, _retried(make))
    law = "one effect ran, and no model is asked a second time"
    yield _check("repeated", "a committed call is made again with its key", law, _repeated)
    law = "the first call does nothing, and the second one acts once"
    yield _check("made_again", "a call whose line broke is made again with its key", law, _made_again)
    yield _check("raced", "two calls race for one key", "one effect ran, and both have its value", _raced)
    law = "it is in doubt both times, and the effect ran once"
    yield _check("effect_broke", "the effect breaks, and the call is made again with its key", law, _effect_broke)
    law = "what was shown of the first answer is taken back before the second is shown"
    yield _check("taken_back", "the line breaks in a text that was shown", law, _taken_back)
    law = "text comes in pieces, then one finish, then nothing but counts"
    yield _check("order_whole", "the events of a whole answer", law, _ordered(_TOKENS))
    yield _check("order_cut", "the events of an answer that its limit cut", law, _ordered(4))


def _check(name: str, about: str, law: str, run: Run) -> Check:
    return Check(name=name, group="streams", about=about, law=law, run=run)


def _retried(make: Callable[[], Tamper]) -> Run:
    async def run(scene: Scene) -> Found:
        tamper = make()
        async with scene.stage(tamper) as stage:
            outcome = await _ask(stage, is_patient=True)
            if not tamper.has_fired:
                return skipped("the answer has no such place here")
            found = all_of(of_endings(outcome, ("committed",)), of_effects(outcome, stage.effects, 1))
            return all_of(_same_question(stage), found)

    return run


async def _ask(stage: Stage, *, is_patient: bool = False) -> Outcome[object, object]:
    contract = await json_contract(FORCING)
    if is_patient:
        return await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True, operation_key=_KEY, retry=AGAIN)
    return await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True, operation_key=_KEY, in_progress="wait")


def _same_question(stage: Stage) -> Found:
    asked = [seen.request for seen in stage.line.seen]
    if len(asked) < 2:
        return failed("it was not asked again")
    if len({request.idempotency_key for request in asked}) > 1 or not asked[0].idempotency_key:
        return failed("it was asked again under another key")
    same = all(request.messages == asked[0].messages for request in asked)
    return passed() if same else failed("another question was asked")


async def _repeated(scene: Scene) -> Found:
    async with scene.stage() as stage:
        first, second = await _ask(stage), await _ask(stage)
        found = all_of(*(of_endings(each, ("committed",)) for each in (first, second)))
        if found.verdict == "passed" and len(stage.line.seen) != 1:
            return failed("the model was asked again", found.ending)
        return all_of(found, of_effects(second, stage.effects, 1))


async def _made_again(scene: Scene) -> Found:
    tamper = AtPlace(Place.IN_STRING, ConnectionLost(), End())
    async with scene.stage(tamper) as stage:
        first = await _ask(stage)
        if not tamper.has_fired:
            return skipped("the answer has no such place here")
        before = all_of(of_endings(first, ("disconnected",)), of_effects(first, stage.effects, 0))
        second = await _ask(stage)
        return all_of(before, of_endings(second, ("committed",)), of_effects(second, stage.effects, 1))


async def _raced(scene: Scene) -> Found:
    async with scene.stage() as stage:
        outcomes: list[Outcome[object, object]] = []

        async def ask() -> None:
            outcomes.append(await _ask(stage))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
        found = all_of(*(of_endings(each, ("committed",)) for each in outcomes))
        values = [each.value for each in outcomes if isinstance(each, Committed)]
        if len(values) == len(outcomes) and values[0] != values[1]:
            return failed("the two calls have different values", found.ending)
        return all_of(found, of_effects(outcomes[0], stage.effects, 1))


async def _effect_broke(scene: Scene) -> Found:
    def break_it() -> None:
        raise RuntimeError("injected")

    async with scene.stage() as stage:
        stage.in_effect = break_it
        first, second = await _ask(stage), await _ask(stage)
        found = all_of(*(of_endings(each, ("in_doubt",)) for each in (first, second)))
        return all_of(found, of_effects(second, stage.effects, 1))


async def _taken_back(scene: Scene) -> Found:
    tamper = AtPlace(Place.IN_STRING, ConnectionLost(), End())
    contract = await json_contract(FORCING)
    async with (
        scene.stage(tamper) as stage,
        stage.stream(contract, PROMPT, max_tokens=_TOKENS, retry=AGAIN) as running,
    ):
        items = [item async for item in running]
        outcome = await running.outcome()
    if not tamper.has_fired:
        return skipped("the answer has no such place here")
    attempts = [item.attempt for item in items]
    resets = [number for number, item in enumerate(items) if isinstance(item, Reset)]
    if attempts != sorted(attempts) or (len(set(attempts)) > 1 and not resets):
        return failed("a second answer was shown without taking back the first")
    return of_endings(outcome, ("committed",))


def _ordered(max_tokens: int) -> Run:
    async def run(scene: Scene) -> Found:
        async with scene.stage() as stage:
            outcome = await stage.ask(await json_contract(FORCING), PROMPT, max_tokens=max_tokens)
        seen = stage.line.seen[0]
        if seen.law.broken:
            return failed(seen.law.broken, outcome.name)
        if not seen.law.is_finished:
            return failed("the stream came to no finish", outcome.name)
        return passed(outcome.name) if seen.is_closed else failed("the stream was left open", outcome.name)

    return run


__all__ = ["key_checks"]
