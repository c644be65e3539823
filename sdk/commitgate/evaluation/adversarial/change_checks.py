"""Check what becomes of calls whose backend is another one than before: upgraded, renamed, without constraint."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from commitgate.backends.base import ConnectionLost, Fault, Remote, TextDelta
from commitgate.backends.remote import RemoteBackend
from commitgate.errors import KeyConflictError
from commitgate.evaluation.adversarial.check import Check, Found, Run, all_of, failed, passed, skipped
from commitgate.evaluation.adversarial.cut_checks import FORCING, PROMPT
from commitgate.evaluation.adversarial.laws import ending_words, of_effects, of_endings, of_nothing_committed
from commitgate.evaluation.adversarial.mask_checks import mask_checks
from commitgate.evaluation.adversarial.place import Place
from commitgate.evaluation.adversarial.stage import AGAIN, Scene, json_contract
from commitgate.evaluation.adversarial.tamper import AtPlace, End, Renamed, Unconstrained
from commitgate.json_value import JsonObject
from commitgate.outcome import Committed, Outcome
from commitgate.probe import ProbeReport, ProbeStore, standing
from commitgate.probe.report import bare_url
from commitgate.worker_thread import run_in_thread

_TOKENS = 120
_OLD, _NEW = "revision-before", "revision-after"
_GREETING = "Reply with the single word hello. Do not use JSON."
_OF_ITS_OWN = "it decodes by itself, so no probe has to vouch for it"


def change_checks() -> Iterator[Check]:
    """Yield the checks of backends that change."""
    law = "nothing of the first answer is in the value that is committed"
    yield _check("answer", "the second request of a call is answered otherwise", law, _other_answer)
    law = "the receipt names the one that answered last"
    yield _check("revision", "the model is another one at the second request", law, _revision)
    yield _check("vocabulary", "its vocabulary is another one, too", law, _vocabulary)
    law = "nothing is committed, and no effect runs"
    yield _check("constraint_dropped", "the server drops the constraint after an upgrade", law, _dropped)
    yield _check("constraint_dropped_again", "it drops it between two requests of a call", law, _dropped_between)
    law = "it is refused before anything is sent"
    yield _check("unproven", "an effect hangs on a server that was never probed", law, _unproven)
    law = "the probe counts no more"
    yield _check("upgraded_since_probe", "the server tells of another version than when it was probed", law, _upgraded)
    yield _check("model_since_probe", "the model is another one than when it was probed", law, _other_model)
    law = "it is a conflict, and nothing runs"
    yield _check("contract_under_key", "the contract changes under one key", law, _contract_under_key)
    yield from mask_checks()


def _check(name: str, about: str, law: str, run: Run) -> Check:
    return Check(name=name, group="changes", about=about, law=law, run=run)


def _choice() -> JsonObject:
    """Return a schema whose words nobody can know beforehand."""
    words = [f"w{secrets.token_hex(4)}" for _ in range(2)]
    return {
        "type": "object",
        "properties": {"v": {"enum": [*words]}},
        "required": ["v"],
        "additionalProperties": False,
    }


async def _other_answer(scene: Scene) -> Found:
    schema = _choice()
    # The beginning of an answer that the contract allows, as the backend before the upgrade would have written it.
    first = AtPlace(Place.START, TextDelta(b'{"v": "w'), Fault("server", "injected"), End())
    async with scene.stage(first) as stage:
        outcome = await stage.ask(await json_contract(schema), PROMPT, acts=True, retry=AGAIN)
        found = all_of(of_endings(outcome, ("committed",)), of_effects(outcome, stage.effects, 1))
        last = stage.line.seen[-1].text.decode(errors="replace")
    if isinstance(outcome, Committed) and outcome.text != last:
        return failed("the committed text is not the text of the last answer", found.ending)
    return found


async def _renamed(scene: Scene) -> Outcome[object, object]:
    first = Renamed(_OLD, AtPlace(Place.IN_STRING, ConnectionLost(), End()))
    async with scene.stage(first, Renamed(_NEW)) as stage:
        return await stage.ask(await json_contract(FORCING), PROMPT, max_tokens=_TOKENS, retry=AGAIN)


def _told(outcome: Outcome[object, object], told: str | None) -> Found:
    found = of_endings(outcome, ("committed",))
    if found.verdict == "passed" and told != _NEW:
        return failed("the receipt names another one than the one that answered", found.ending)
    return found


async def _revision(scene: Scene) -> Found:
    outcome = await _renamed(scene)
    return _told(outcome, outcome.receipt.model_revision)


async def _vocabulary(scene: Scene) -> Found:
    outcome = await _renamed(scene)
    return _told(outcome, outcome.receipt.tokenizer_fingerprint)


async def _dropped(scene: Scene) -> Found:
    contract = await json_contract(_choice())
    async with scene.stage(Unconstrained()) as stage:
        outcome = await stage.ask(contract, _GREETING, max_tokens=32, acts=True)
        return all_of(of_nothing_committed(outcome), of_effects(outcome, stage.effects, 0))


async def _dropped_between(scene: Scene) -> Found:
    contract = await json_contract(_choice())
    lost = AtPlace(Place.START, Fault("server", "injected"), End())
    async with scene.stage(lost, Unconstrained()) as stage:
        try:
            outcome = await stage.ask(contract, _GREETING, max_tokens=32, acts=True, retry=replace(AGAIN, attempts=2))
        except KeyConflictError:
            # The server remembers the key from a request that had the constraint: it saw that this is another one.
            return failed("an effect ran") if stage.effects else passed()
        return all_of(of_nothing_committed(outcome), of_effects(outcome, stage.effects, 0))


async def _unproven(scene: Scene) -> Found:
    if not isinstance(scene.backend, Remote):
        return skipped(_OF_ITS_OWN)
    async with scene.stage(is_proven=False) as stage:
        outcome = await stage.ask(await json_contract(FORCING), PROMPT, acts=True)
        found = all_of(of_endings(outcome, ("unsupported",)), of_effects(outcome, stage.effects, 0))
        return failed("it was sent all the same", found.ending) if stage.line.seen else found


async def _upgraded(scene: Scene) -> Found:
    return await _stale(scene, is_model=False)


async def _other_model(scene: Scene) -> Found:
    return await _stale(scene, is_model=True)


async def _stale(scene: Scene, *, is_model: bool) -> Found:
    """Keep a probe that passed on this very server, then on another version of it, and ask what it counts for."""
    backend = scene.backend
    if not isinstance(backend, RemoteBackend):
        return skipped(_OF_ITS_OWN if not isinstance(backend, Remote) else "its probes are kept elsewhere")
    if backend.dialect.facts.is_trusted:
        return skipped("it is this project's own server, whose word is taken")
    identity = await backend.handshake(scene.model)
    if not identity.is_ready:
        return skipped("the server does not say that it takes requests")
    report = ProbeReport(
        backend=backend.name,
        dialect=backend.dialect.facts.name,
        base_url=bare_url(backend.base_url),
        model=scene.model,
        server_version=identity.version,
        revision=identity.revision,
        engine=identity.engine,
        made_at=time.time(),
        verdict="enforced",
        reason="",
    )
    other = replace(report, revision=_OLD) if is_model else replace(report, server_version=_OLD)

    def is_proven(kept: ProbeReport) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            store = ProbeStore(Path(folder))
            store.keep(kept)
            return standing(
                store,
                dialect_name=report.dialect,
                base_url=report.base_url,
                model=report.model,
                identity=identity,
                now=time.time(),
            ).is_proven

    if not await run_in_thread(lambda: is_proven(report)):
        return failed("a fresh probe of the same version counts for nothing")
    return failed("an old probe still counts") if await run_in_thread(lambda: is_proven(other)) else passed()


async def _contract_under_key(scene: Scene) -> Found:
    first = await json_contract(FORCING)
    second = await json_contract({"const": {"another": "contract"}})
    async with scene.stage() as stage:
        before = await stage.ask(first, PROMPT, max_tokens=_TOKENS, acts=True, operation_key="kept")
        found = of_endings(before, ("committed",))
        if found.verdict != "passed":
            return found
        try:
            outcome = await stage.ask(second, PROMPT, acts=True, operation_key="kept")
        except KeyConflictError:
            return of_effects(before, stage.effects, 1)
    return failed("another contract was taken under the same key", ending_words(outcome))


__all__ = ["change_checks"]
