"""Hold what all calls of one client share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from commitgate.retry import RetryBudget
from commitgate.reviewed import Reviewed
from commitgate.run.active import ActiveCalls
from commitgate.run.approval import WaitingOrders
from commitgate.telemetry.observer import Observer

if TYPE_CHECKING:
    from commitgate.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Hold what all calls of one client share.

    Attributes:
        task_group: runs calls, and the tasks that keep the ledger's rows.
        ledger: opens the client's ledger; called only for calls with an operation key.
        budget: bounds the retries of all calls together.
        active: the calls that run.
        waiting: what is to be done with values that wait for a person.
        lease_s: seconds that a claim outlives a killed process.
        reviewed: the contracts that an effect may use.
        observers: who watches the calls.
    """

    task_group: TaskGroup
    ledger: Callable[[], Ledger]
    budget: RetryBudget
    active: ActiveCalls
    waiting: WaitingOrders
    lease_s: float
    reviewed: Reviewed = field(default_factory=Reviewed)
    observers: tuple[Observer, ...] = ()


__all__ = ["Shared"]
