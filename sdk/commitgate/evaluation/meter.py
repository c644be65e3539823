"""Count what the requests of one case come to, over all its calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from commitgate.backends.base import Usage
from commitgate.telemetry.observer import NOTHING_MORE, CallBegan, CallEnded, RequestBegan, Wants

if TYPE_CHECKING:
    from commitgate.backends.base import SentEvent
    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.preview import Preview, Reset


MOST_TOKENS = 1_000_000_000
"""Most tokens of one request that are believed."""


class Meter:
    """Watch all calls of one client that is made for one case.

    Attributes:
        requests: how many went out.
        receipts: as the calls stood when a request had ended, one a request, in order.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.receipts: list[Receipt] = []
        self._usages: list[Usage] = []

    @property
    def usage(self) -> Usage:
        """Return the tokens of all requests."""
        return Usage(
            input_tokens=_sum(each.input_tokens for each in self._usages),
            output_tokens=_sum(each.output_tokens for each in self._usages),
            reasoning_tokens=_sum(each.reasoning_tokens for each in self._usages),
        )

    def call_began(self, call: CallBegan) -> Meter:
        """Watch a call, too."""
        return self

    def contract_built(self, contract: Contract[object]) -> Wants:
        """Want nothing but what is payload-free."""
        return NOTHING_MORE

    def request_began(self, request: RequestBegan) -> None:
        """Count a request."""
        self.requests += 1

    def event(self, event: SentEvent, at_s: float) -> None:
        """Pass over it."""

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Pass over it."""

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        """Keep what the request came to."""
        self._usages.append(record.usage)
        self.receipts.append(receipt)

    def ended(self, end: CallEnded) -> None:
        """Pass over it."""


def _sum(counts: Iterable[int | None]) -> int | None:
    # A backend may count what nobody can have written, and what no float can hold.
    known = [count for count in counts if count is not None and 0 <= count <= MOST_TOKENS]
    return sum(known) if known else None


__all__ = ["MOST_TOKENS", "Meter"]
