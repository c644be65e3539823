"""Hold whole calls over a backend to their laws: how they end, and what is asked again under which key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import anyio

from commitgate.backends.base import Backend, Remote
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import UnsupportedError
from commitgate.gate.rules import Rule, RuleViolation
from commitgate.languages import AnyJson
from commitgate.outcome import Outcome
from commitgate.retry import Retry
from commitgate.testing.conformance.law import ConformanceError, Law
from commitgate.testing.conformance.recorded_answer import RecordedAnswer
from commitgate.testing.conformance.replaying_server import WAIT_S, Asked, Line, ReplayingServer, Respond, playing
from commitgate.testing.wire_reading import WireOutcome

_NAME = "tried"
_ONCE = Retry(attempts=1)
_AGAIN = Retry(attempts=3, backoff_s=0.001, backoff_most_s=0.001)
_REASKED = Retry(attempts=1, reasks=1)
_UNFIT = frozenset({"violated", "invalid"})
_ENDINGS: Mapping[WireOutcome, frozenset[str]] = MappingProxyType(
    {
        "complete": frozenset({"committed"}),
        "truncated": frozenset({"truncated"}),
        "paused": frozenset({"truncated"}),
        "refused": frozenset({"refused"}),
        "filtered": frozenset({"filtered"}),
        "tool_call": frozenset({"violated", "unavailable"}),
        "aborted": frozenset({"disconnected"}),
        "malformed": frozenset({"violated"}),
        "constraint_error": frozenset({"unsupported"}),
        "request_error": frozenset({"unavailable"}),
        "auth_error": frozenset({"unavailable"}),
        "rate_limited": frozenset({"unavailable"}),
        "server_error": frozenset({"unavailable"}),
        "interrupted": frozenset({"disconnected"}),
        "protocol_error": frozenset({"unavailable"}),
        "unknown": frozenset({"unavailable"}),
    }
)
"""How a call may end that gets such an answer, where its text is one of the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTrial:
    """Try calls over a backend.

    Attributes:
        backend: it.
        server: what it asks.
        model: the model's name that it is asked for.
    """

    backend: Backend
    server: ReplayingServer
    model: str

    async def ends(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Make a call that gets one recorded answer."""
        contract = None if recording.offers_tools else self._contract(recording)
        if contract is None:
            return ()
        allowed = _ENDINGS[recording.outcome]
        if recording.contract is None and recording.is_answer:
            allowed |= _UNFIT
        self.server.respond = playing(recording)
        outcome = await self._called(recording, contract, "a call", _ONCE)
        if outcome.name not in allowed:
            what = f"what was {recording.outcome} ended as {outcome.name}"
            raise ConformanceError(Law.CALL_ENDS, what, recording=recording.name, place="a call")
        return (Law.CALL_ENDS,)

    async def retries(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Make a call whose first requests come to nothing."""
        contract = self._contract(recording)
        assert contract is not None, "it was chosen because it can be asked for"
        place, began = "two requests failed", len(self.server.asked)
        self.server.respond = _in_turn([_lost, _overloaded, playing(recording)])
        outcome = await self._called(recording, contract, place, _AGAIN)
        asked = self.server.asked[began:]
        if outcome.name != "committed" or len(asked) != _AGAIN.attempts:
            what = f"the call ended as {outcome.name} after {len(asked)} requests"
            raise ConformanceError(Law.RETRY_SAME, what, recording=recording.name, place=place)
        if len({each.body for each in asked}) > 1:
            raise ConformanceError(Law.RETRY_SAME, "the bytes differ", recording=recording.name, place=place)
        if len(_keys(asked)) != 1 or "" in _keys(asked):
            raise ConformanceError(
                Law.RETRY_SAME, "the keys differ, or are none", recording=recording.name, place=place
            )
        return (Law.RETRY_SAME,)

    async def asks_anew(self, recording: RecordedAnswer) -> tuple[Law, ...]:
        """Make a call whose first answer a rule refuses."""
        contract = self._contract(recording)
        assert contract is not None, "it was chosen because it can be asked for"
        place, began = "a rule refused the first answer", len(self.server.asked)
        self.server.respond = playing(recording)
        refused: list[bool] = []

        def rule(value: object) -> RuleViolation | None:
            del value
            refused.append(not refused)
            return RuleViolation("refused", "say it otherwise") if refused[-1] else None

        outcome = await self._called(recording, contract, place, _REASKED, rule)
        asked = self.server.asked[began:]
        if outcome.name != "committed" or len(_keys(asked)) != len(asked) or "" in _keys(asked):
            what = f"the call ended as {outcome.name}, with {len(_keys(asked))} keys for {len(asked)} requests"
            raise ConformanceError(Law.QUESTION_NEW, what, recording=recording.name, place=place)
        return (Law.QUESTION_NEW,)

    def _contract(self, recording: RecordedAnswer) -> Contract[object] | None:
        """Return what a call asks for; None where the backend would ask for another shape than was recorded."""
        if recording.contract is not None:
            return Contract.of(cast("type[object]", recording.contract))
        contract = Contract[object].of(AnyJson())
        if not isinstance(self.backend, Remote):
            return contract
        try:
            return contract if self.backend.translate(contract, tools=None).shape.is_same else None
        except UnsupportedError:
            return None

    async def _called(
        self, recording: RecordedAnswer, contract: Contract[object], place: str, retry: Retry, *rules: Rule[object]
    ) -> Outcome[object, None]:
        try:
            with anyio.fail_after(WAIT_S):
                async with Client(backends={_NAME: self.backend}) as client:
                    return await client.generate_structured(
                        f"{_NAME}/{self.model}",
                        contract,
                        prompt="Say it.",
                        prompt_schema="none",
                        retry=retry,
                        rules=rules,
                    )
        except TimeoutError as error:
            what = f"there was no end within {WAIT_S:g} s"
            raise ConformanceError(Law.ENDS_IN_TIME, what, recording=recording.name, place=place) from error
        except Exception as error:
            what = f"{type(error).__name__} was raised"
            raise ConformanceError(Law.FAILURES_ARE_EVENTS, what, recording=recording.name, place=place) from error


async def _lost(line: Line) -> None:
    await line.hang_up()


async def _overloaded(line: Line) -> None:
    await line.head(503, {})
    await line.end()


def _in_turn(responds: Sequence[Respond]) -> Respond:
    """Return what answers each request in another way, and all further ones in the last."""
    left = list(responds)

    async def respond(line: Line) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(line)

    return respond


def _keys(asked: Sequence[Asked]) -> frozenset[str]:
    return frozenset(each.headers.get("idempotency-key", "") for each in asked)


__all__ = ["CallTrial"]
