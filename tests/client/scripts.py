"""Scripts and small programs that the client's tests share."""

import time
from contextlib import AbstractAsyncContextManager

import anyio
from pydantic import BaseModel

from commitgate.client import Client
from commitgate.effect import EffectContext
from commitgate.ledger import FaultPoint, Ledger, MemoryLedger, Record
from commitgate.testing import ScriptedBackend, Step

PAY = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
    "required": ["amount", "to"],
    "additionalProperties": False,
}
PAYMENT = '{"amount":100,"to":"bob"}'
STOP: Step = {"finish": "stop"}
GOOD: list[Step] = [{"text": '{"amount":1'}, {"text": '00,"to":"bob"}'}, STOP]


class Pay(BaseModel):
    amount: int
    to: str


class Payments:
    """Remember which values an effect was run with."""

    effect_name = "payments"

    def __init__(self) -> None:
        self.made: list[Pay] = []

    async def __call__(self, value: Pay, context: EffectContext) -> str:
        self.made.append(value)
        return f"paid {value.amount}"


def client_with(backend: ScriptedBackend, ledger: Ledger | None = None) -> AbstractAsyncContextManager[Client]:
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger())


class Clock:
    """Give the Unix time of now, moved by what a test says."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


class Stop:
    """Hold whoever reaches one point of the ledger's way until a test lets him go on; only the first time."""

    def __init__(self, point: FaultPoint) -> None:
        self.point = point
        self.reached = anyio.Event()
        self.go_on = anyio.Event()

    async def __call__(self, point: FaultPoint) -> None:
        if point is self.point and not self.reached.is_set():
            self.reached.set()
            await self.go_on.wait()


class Failing:
    """Raise at one point of the ledger's way, so many times."""

    def __init__(self, point: FaultPoint, error: BaseException, times: int = 1) -> None:
        self.point = point
        self.error = error
        self.times = times

    async def __call__(self, point: FaultPoint) -> None:
        if point is self.point and self.times:
            self.times -= 1
            raise self.error


async def only_row(ledger: Ledger) -> Record:
    (row,) = await ledger.list()
    return row
