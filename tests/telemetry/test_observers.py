"""Observers look on: whatever one of them does, the call goes its way, and nothing that it was told gets out."""

import asyncio
import logging
from typing import Any

import anyio
import pytest
from told_calls import BY_NAME, CANARY, GOOD, Pay, client_of

from commitgate.backends.base import SentEvent
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.outcome import Committed, Receipt, TryRecord
from commitgate.preview import Preview, Reset
from commitgate.telemetry import NOTHING_MORE, CallBegan, CallEnded, RequestBegan, Wants

pytestmark = pytest.mark.anyio

METHODS = ["call_began", "contract_built", "request_began", "event", "shown", "request_ended", "ended"]


class Noting:
    """Note what is told, and raise at one method."""

    def __init__(self, *, wants: Wants = NOTHING_MORE, raises_at: str = "", error: BaseException | None = None) -> None:
        self.wants = wants
        self.raises_at = raises_at
        self.error = error or RuntimeError(CANARY)
        self.told: list[tuple[str, Any]] = []

    def note(self, method: str, what: object = None) -> None:
        self.told.append((method, what))
        if method == self.raises_at:
            raise self.error

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.told]

    def of(self, method: str) -> Any:
        return next(what for name, what in self.told if name == method)

    def call_began(self, call: CallBegan) -> "Noting":
        self.note("call_began", call)
        return self

    def contract_built(self, contract: Contract[object]) -> Wants:
        self.note("contract_built", contract)
        return self.wants

    def request_began(self, request: RequestBegan) -> None:
        self.note("request_began", request)

    def event(self, event: SentEvent, at_s: float) -> None:
        self.note("event", event)

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        self.note("shown", item)

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        self.note("request_ended", (record, receipt))

    def ended(self, end: CallEnded) -> None:
        self.note("ended", end)


async def call(*observers: Any) -> Any:
    async with client_of(GOOD, observers) as client:
        return await BY_NAME["committed"].run(client)


@pytest.mark.parametrize("method", METHODS)
async def test_observer_that_raises_changes_nothing_for_the_call_and_the_others(
    method: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Noting(wants=Wants(content=True, steps=True), raises_at=method)
    sound = Noting(wants=Wants(steps=True))
    with caplog.at_level(logging.DEBUG):
        outcome = await call(broken, sound)
    assert isinstance(outcome, Committed)
    assert outcome.result == f"paid {CANARY}"
    assert broken.methods[-1] == method
    assert broken.methods.count(method) == 1
    assert sound.methods[0] == "call_began"
    assert sound.methods[-1] == "ended"
    (line,) = (record.getMessage() for record in caplog.records if record.name == "commitgate.telemetry")
    assert line == "the observer Noting raised RuntimeError and is left out for the rest of this call"
    assert CANARY not in caplog.text


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancellation_that_an_observer_makes_up_cancels_nothing(method: str) -> None:
    broken = Noting(wants=Wants(steps=True), raises_at=method, error=asyncio.CancelledError())
    with anyio.fail_after(10):
        outcome = await call(broken)
    assert isinstance(outcome, Committed)


@pytest.mark.parametrize("method", METHODS)
async def test_interrupt_in_an_observer_is_not_swallowed(method: str) -> None:
    class Interrupt(BaseException):
        """What ends a program, as ``KeyboardInterrupt`` does."""

    broken = Noting(wants=Wants(steps=True), raises_at=method, error=Interrupt())
    with anyio.fail_after(10), pytest.raises((Interrupt, BaseExceptionGroup)):
        await call(broken)


async def test_order_of_what_is_told() -> None:
    plain = Noting()
    await call(plain)
    assert plain.methods == ["call_began", "contract_built", "request_began", "request_ended", "ended"]


async def test_texts_are_told_only_where_they_are_wanted() -> None:
    plain, curious = Noting(), Noting(wants=Wants(content=True))
    await call(plain, curious)
    assert plain.of("request_began").messages is None
    assert plain.of("ended").outcome is None
    assert CANARY not in repr(plain.told)
    assert CANARY in curious.of("request_began").messages[-1].content
    assert curious.of("ended").outcome.value == Pay(amount=100, to=CANARY)
    assert CANARY not in repr(curious.told)


async def test_events_come_without_previews_where_events_alone_are_wanted() -> None:
    events, steps = Noting(wants=Wants(events=True)), Noting(wants=Wants(steps=True))
    await call(events, steps)
    assert events.methods.count("event") == steps.methods.count("event") == 4
    assert "shown" not in events.methods
    assert "shown" in steps.methods


async def test_what_is_no_observer_is_refused() -> None:
    with pytest.raises(MisuseError, match="call_began"):
        Client(observers=[object()])  # type: ignore[list-item]
    with pytest.raises(MisuseError, match="a collection of observers"):
        Client(observers=7)  # type: ignore[arg-type]
