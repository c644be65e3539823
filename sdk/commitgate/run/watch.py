"""Tell the observers of a client what becomes of one call, and keep what goes wrong in them away from the call."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import anyio

from commitgate.argument import wrong_kind
from commitgate.backends.base import SentEvent, StepTaken
from commitgate.cancellation import is_interrupt
from commitgate.outcome import Committed
from commitgate.telemetry.observer import (
    NOTHING_MORE,
    CallBegan,
    CallEnded,
    CallObserver,
    Observer,
    RequestBegan,
    Wants,
)

if TYPE_CHECKING:
    from commitgate.backends.base import Message
    from commitgate.contract import Contract
    from commitgate.outcome import Outcome, Receipt, TryRecord
    from commitgate.preview import Preview, Reset
    from commitgate.run.order import Order

logger = logging.getLogger("commitgate.telemetry")


@dataclass(slots=True, eq=False)
class _Watcher:
    """Hold who watches the call for one observer, and what it wants."""

    observer: CallObserver
    wants: Wants = NOTHING_MORE

    def takes(self, event: SentEvent) -> bool:
        return self.wants.steps or (self.wants.events and not isinstance(event, StepTaken))


class Watch:
    """Tell observers of one call. Where there are none, every method does nothing.

    Args:
        observers: whom to tell.
        order: the call.

    Attributes:
        wants: what any of them wants beside what is payload-free.
        ledger_state: where the call left the row of its key, as far as that is known.
    """

    def __init__(self, observers: Sequence[Observer] = (), order: Order[object, object] | None = None) -> None:
        self._observers = observers
        self._order = order
        self._watchers: list[_Watcher] = []
        self._began_at = 0.0
        self.wants = NOTHING_MORE
        self.ledger_state: str | None = None

    def begin(self) -> None:
        """Tell that the call begins; in its own task."""
        if not self._observers or self._order is None:
            return
        self._began_at = anyio.current_time()
        began = _began(self._order)
        for observer in self._observers:
            try:
                self._watchers.append(_Watcher(observer.call_began(began)))
            except BaseException as error:  # noqa: BLE001 - whoever only looks on must not end a call
                _leave_out(observer, error)

    def contract_built(self, contract: Contract[object]) -> None:
        """Tell what the answer must satisfy, and learn what is wanted."""

        def ask(watcher: _Watcher) -> None:
            watcher.wants = watcher.observer.contract_built(contract)

        self._tell(ask)
        wanted = [watcher.wants for watcher in self._watchers]
        self.wants = Wants(
            content=any(each.content for each in wanted),
            events=any(each.events for each in wanted),
            steps=any(each.steps for each in wanted),
        )

    def request_began(self, number: int, waited_s: float, messages: tuple[Message, ...]) -> None:
        """Tell that a request goes out."""
        if not self._watchers:
            return
        plain = RequestBegan(number=number, waited_s=waited_s, at_s=self._at_s())
        whole = replace(plain, messages=messages)
        self._tell(lambda watcher: watcher.observer.request_began(whole if watcher.wants.content else plain))

    def event(self, event: SentEvent) -> None:
        """Tell what a backend sent."""
        if self.wants.steps or self.wants.events:
            at_s = self._at_s()
            self._tell(lambda watcher: watcher.observer.event(event, at_s) if watcher.takes(event) else None)

    def shown(self, item: Preview | Reset) -> None:
        """Tell what is shown."""
        if self.wants.steps:
            at_s = self._at_s()
            self._tell(lambda watcher: watcher.observer.shown(item, at_s) if watcher.wants.steps else None)

    def request_ended(self, record: TryRecord, receipt: Callable[[], Receipt]) -> None:
        """Tell how a request ended."""
        if self._watchers:
            now = receipt()
            self._tell(lambda watcher: watcher.observer.request_ended(record, now))

    def end(self, outcome: Outcome[object, object] | None, detail: str | None, error: BaseException | None) -> None:
        """Tell how the call ended; in its own task."""
        if not self._watchers:
            return
        plain = CallEnded(
            name=None if outcome is None else outcome.name,
            detail=detail,
            receipt=None if outcome is None else outcome.receipt,
            is_replayed=isinstance(outcome, Committed) and outcome.is_replayed,
            error=None if error is None else type(error).__qualname__,
            ledger_state=None if self.ledger_state is None else str(self.ledger_state),
            at_s=self._at_s(),
        )
        whole = replace(plain, outcome=outcome)
        self._tell(lambda watcher: watcher.observer.ended(whole if watcher.wants.content else plain))
        self._watchers.clear()

    def _at_s(self) -> float:
        return anyio.current_time() - self._began_at

    def _tell(self, tell: Callable[[_Watcher], None]) -> None:
        for watcher in tuple(self._watchers):
            try:
                tell(watcher)
            except BaseException as error:  # noqa: BLE001 - whoever only looks on must not end a call
                self._watchers.remove(watcher)
                _leave_out(watcher.observer, error)


def checked_observers(observers: Iterable[Observer]) -> tuple[Observer, ...]:
    """Return observers as they were given.

    Raises:
        MisuseError: they are no collection, or one of them is no observer.
    """
    if not isinstance(cast("object", observers), Iterable):
        raise wrong_kind("observers", "a collection of observers", observers)
    found = tuple(observers)
    for observer in found:
        if not callable(getattr(observer, "call_began", None)):
            raise wrong_kind("observers", "observers, which have a method call_began", observer)
    return found


def _leave_out(observer: object, error: BaseException) -> None:
    # What ends the program goes on; a cancellation that an observer made up, without waiting for anything, does not.
    if is_interrupt(error):
        raise error
    # Of the error nothing but its type: its message may hold what the observer was told.
    logger.warning(
        "the observer %s raised %s and is left out for the rest of this call",
        type(observer).__qualname__,
        type(error).__qualname__,
    )


def _began(order: Order[object, object]) -> CallBegan:
    effect = order.effect
    return CallBegan(
        call_id=secrets.token_hex(8),
        kind="generate" if order.given is None else "stored" if order.tool is None else "tool",
        backend=None if order.backend is None else order.backend.name,
        model=order.model,
        sampling=order.sampling,
        effect=None if effect is None else effect.name,
        tool=order.tool,
        has_key=order.key is not None,
    )


__all__ = ["Watch", "checked_observers"]
