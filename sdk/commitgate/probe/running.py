"""Probe a server: ask all that is planned, within bounds, and report what it came to."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace

import anyio

from commitgate.argument import check_finite, check_int, check_text
from commitgate.backends.dialect import ServerIdentity
from commitgate.backends.translation.vendor_words import table_version
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.probe.behaviour import disconnect, echo, repeated_key
from commitgate.probe.canaries import canaries
from commitgate.probe.judge import Judgement, judge, judge_whole, settle, with_control
from commitgate.probe.overall import overall
from commitgate.probe.plan import Step, plan
from commitgate.probe.question import Draw, Question, Reply
from commitgate.probe.report import ProbeReport, bare_url
from commitgate.probe.result import ANSWER_CHARACTERS, ProbeResult, Verdict
from commitgate.probe.session import Probed, Session
from commitgate.reasoning import Reasoning
from commitgate.worker_thread import run_in_thread

MOST_REQUESTS = 160
"""Most requests that probing one server sends, where its caller sets no other number."""

_ROOM = 8
"""How much more room answers get once one was cut before it told anything: for thoughts that count as tokens of it."""


async def probe(
    backend: Probed,
    model: str,
    *,
    contract: Contract[object] | None = None,
    trials: int = 2,
    keywords: bool = False,
    reasoning: Reasoning | None = None,
    timeout_s: float = 60.0,
    total_s: float = 900.0,
    most_requests: int = MOST_REQUESTS,
    draw: Draw | None = None,
    told: Callable[[str], None] | None = None,
) -> ProbeReport:
    """Return what a server's model makes of constraints. Nothing is kept; ``ProbeStore.keep`` does that.

    Args:
        backend: a backend of a server; it stays the caller's to close.
        model: the model's name there; ``""`` for its default.
        contract: asks for keywords that stand in its schema, and not for all; goes with ``keywords``.
        trials: answers that must agree before a constraint counts as enforced, 2 to 5.
        keywords: asks, too, for single keywords that the server is said to ignore or of which nothing is known.
        reasoning: how the model may think before each answer; give what is given in use.
        timeout_s: most seconds for one request.
        total_s: most seconds for all of it; what was not asked by then is not told.
        most_requests: most requests of all of it.
        draw: gives chance; None takes the system's.
        told: is told what is being asked, in words.

    Raises:
        MisuseError: an argument is out of its range.
    """
    _check(model, trials, timeout_s, total_s, most_requests)
    start = anyio.current_time()
    session = Session(
        backend,
        model,
        draw=draw or secrets.randbelow,
        key=lambda: secrets.token_urlsafe(24),
        timeout_s=timeout_s,
        most_requests=most_requests,
        reasoning=reasoning,
    )
    facts = backend.dialect.facts
    steps = list(plan(facts, trials=trials))
    if keywords and facts.vendor is not None and "json_schema" in facts.forms:
        steps += await run_in_thread(lambda: canaries(facts.vendor or "", trials=trials, contract=contract))
    run = _Run(session, steps, told or _tell_nobody)
    with anyio.move_on_after(total_s) as scope:
        await run.go()
    if scope.cancelled_caught:
        session.ended = f"{total_s:g} s are over"
    results = run.results()
    verdict, reason = overall(facts, run.identity, results)
    if verdict == "unknown" and session.ended:
        reason = session.ended
    return ProbeReport(
        backend=backend.name,
        dialect=facts.name,
        base_url=bare_url(backend.base_url),
        model=model,
        server_version=run.identity.version,
        revision=run.identity.revision,
        engine=run.identity.engine,
        table=table_version(facts),
        made_at=time.time(),
        verdict=verdict,
        reason=reason,
        results=results,
        cost=session.cost(anyio.current_time() - start),
    )


def _check(model: str, trials: int, timeout_s: float, total_s: float, most_requests: int) -> None:
    check_text("model", model)
    check_int("trials", trials)
    check_int("most_requests", most_requests)
    for name, value in (("timeout_s", timeout_s), ("total_s", total_s)):
        check_finite(name, value)
        if value <= 0:
            raise MisuseError(f"{name} must be > 0, found {value!r}")
    if not 2 <= trials <= 5:
        raise MisuseError(f"trials must be 2 to 5, found {trials}: one answer proves no constraint")
    if most_requests < 1:
        raise MisuseError(f"most_requests must be >= 1, found {most_requests}")


def _tell_nobody(_words: str) -> None:
    """Tell nobody."""


class _Run:
    """Ask one step after the other, and hold what each came to; what was not asked has a result, too."""

    def __init__(self, session: Session, steps: list[Step], told: Callable[[str], None]) -> None:
        self.identity = ServerIdentity(is_ready=False)
        self._session = session
        self._steps = steps
        self._told = told
        self._found: dict[str, ProbeResult] = {}
        self._whole: list[Reply] = []
        self._is_roomy = False

    async def go(self) -> None:
        """Ask all of it."""
        session = self._session
        self._told("what the server says of itself")
        self.identity = await session.backend.handshake(session.model)
        for step in self._steps:
            if session.ended:
                break
            self._told(step.about)
            before = session.requests
            found = await self._settled(step)
            self._found[step.name] = _result(step, found, session.requests - before)
            if step.kind == "refusal" and step.name == "invalid_schema" and found.verdict is Verdict.DROPPED:
                session.ended = "not asked: the server takes a schema that nothing can enforce"

    def results(self) -> tuple[ProbeResult, ...]:
        """Return what each step came to."""
        words = self._session.ended or "not asked"
        missing = Judgement(verdict=Verdict.NOT_TOLD, reason=words)
        return tuple(self._found.get(step.name) or _result(step, missing, 0) for step in self._steps)

    async def _settled(self, step: Step) -> Judgement:
        match step.name:
            case "echo":
                return await echo(self._session)
            case "whole":
                return judge_whole(self._whole)
            case "disconnect":
                return await disconnect(self._session)
            case "repeated_key":
                return await repeated_key(self._session)
            case _:
                return await self._asked(step)

    async def _asked(self, step: Step) -> Judgement:
        if step.ask is None:
            return Judgement(verdict=Verdict.NOT_TOLD, reason="there is no probe of this keyword")
        judgements: list[Judgement] = []
        found: Judgement | None = None
        while found is None:
            judgement = await self._judged(step.ask)
            if judgement is None:
                return Judgement(verdict=Verdict.NOT_TOLD, reason=self._session.ended)
            judgements.append(judgement)
            found = settle(judgements, trials=step.trials)
        if step.control is not None and found.verdict is Verdict.ENFORCED:
            control = await self._judged(step.control)
            if control is not None:
                found = with_control(found, control)
        return found

    async def _judged(self, ask: Callable[[Draw], Question]) -> Judgement | None:
        session = self._session
        # Contracts are compiled for it, which takes milliseconds.
        question = await run_in_thread(lambda: ask(session.draw))
        if self._is_roomy and question.expects != "cut":
            question = replace(question, max_tokens=question.max_tokens * _ROOM)
        reply = await session.ask(question)
        if reply is None:
            return None
        found = await run_in_thread(lambda: judge(question, reply))
        self._is_roomy |= found.wants_room
        if question.expects == "inside" and found.verdict is Verdict.ENFORCED:
            self._whole.append(reply)
        return found


def _result(step: Step, found: Judgement, requests: int) -> ProbeResult:
    return ProbeResult(
        name=step.name,
        kind=step.kind,
        about=step.about,
        form=step.form,
        verdict=found.verdict,
        reason=found.reason,
        requests=requests,
        answer=found.answer.decode(errors="replace")[:ANSWER_CHARACTERS],
    )


__all__ = ["MOST_REQUESTS", "probe"]
