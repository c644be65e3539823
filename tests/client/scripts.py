"""Scripts and small programs that the client's tests share."""

from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel

from commitgate.client import Client
from commitgate.effect import EffectContext
from commitgate.ledger import MemoryLedger
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


def client_with(backend: ScriptedBackend, ledger: MemoryLedger | None = None) -> AbstractAsyncContextManager[Client]:
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger())
