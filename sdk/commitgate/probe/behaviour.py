"""Watch how a server behaves: when its client leaves in the middle, and when a key comes a second time."""

from __future__ import annotations

from dataclasses import replace

import anyio

from commitgate.backends.base import TextDelta, WaitExpired
from commitgate.backends.dialect import UnwritableError
from commitgate.backends.request_headers import IDEMPOTENCY_HEADER
from commitgate.errors import ContractError
from commitgate.probe.echoes import echo_request, judge_echo
from commitgate.probe.gauges import gauge_request, running
from commitgate.probe.judge import Judgement, judge_repeated
from commitgate.probe.plan import ask_enum, ask_long
from commitgate.probe.result import Verdict
from commitgate.probe.session import Session

LOOKS = 20
"""How often a server is looked at after its client has left."""

LOOK_EVERY_S = 0.1
"""Seconds between two looks."""


def _not_told(reason: str) -> Judgement:
    return Judgement(verdict=Verdict.NOT_TOLD, reason=reason)


async def echo(session: Session) -> Judgement:
    """Return what the server says of the constraint that it has in force."""
    name = session.backend.dialect.facts.name
    question = ask_enum(session.draw)
    try:
        outgoing = echo_request(name, session.backend.dialect.write(session.request(question)))
    except (ContractError, UnwritableError):
        return _not_told("this backend has no way to ask for it")
    if outgoing is None:
        return _not_told("this API repeats nothing")
    answer = await session.exchange(outgoing)
    return _not_told(session.ended) if answer is None else judge_echo(name, question, answer)


async def repeated_key(session: Session) -> Judgement:
    """Return what the server makes of two equal requests with one key."""
    try:
        outgoing = session.backend.dialect.write(session.request(ask_enum(session.draw)))
    except (ContractError, UnwritableError):
        return _not_told("this backend has no way to ask for it")
    keyed = replace(outgoing, headers={**outgoing.headers, IDEMPOTENCY_HEADER: session.new_key()})
    first = await session.exchange(keyed)
    second = None if first is None else await session.exchange(keyed)
    if first is None or second is None:
        return _not_told(session.ended)
    return judge_repeated(first, second)


async def disconnect(session: Session) -> Judgement:
    """Return whether the server stops working on an answer whose client has left."""
    if gauge_request(session.backend.dialect.facts.name) is None:
        return _not_told("this server tells nobody what it works on")
    before = await _running(session)
    if before is None:
        return _not_told("the server does not tell what it works on")
    if before > 0:
        return _not_told("the server works for others, too")
    if not session.count():
        return _not_told(session.ended)
    during = await _while_open(session)
    if not during:
        return _not_told("the answer was over, or could not be watched, before its client left")
    for _ in range(LOOKS):
        if await _running(session) == 0:
            return Judgement(verdict=Verdict.YES, reason="it stopped")
        await anyio.sleep(LOOK_EVERY_S)
    return Judgement(verdict=Verdict.NO, reason=f"it still worked on the answer {LOOKS * LOOK_EVERY_S:g} s later")


async def _running(session: Session) -> int | None:
    name = session.backend.dialect.facts.name
    outgoing = gauge_request(name)
    return None if outgoing is None else running(name, await session.backend.exchange(outgoing))


async def _while_open(session: Session) -> int | None:
    """Open a long answer, leave it after its first text, and return how much the server worked on right before."""
    found: int | None = None
    question = ask_long(session.draw)
    with anyio.move_on_after(session.timeout_s):
        try:
            async with session.backend.open(session.request(question)) as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        found = await _running(session)
                        break
        except (ContractError, UnwritableError, WaitExpired):
            return None
    return found


__all__ = ["LOOKS", "LOOK_EVERY_S", "disconnect", "echo", "repeated_key"]
