"""Calls over a real line to servers that play the given cases, and what each left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from backends.remote.loopback import Loopback, Respond, loopback
from backends.remote.wire_script import Script

from commitgate import Client, Contract, RuleViolation
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.remote import RemoteBackend
from commitgate.ledger import MemoryLedger
from commitgate.limits import Limits
from commitgate.outcome import Outcome

PAY = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
    "required": ["amount", "to"],
    "additionalProperties": False,
}
PAYMENT = '{"amount":100,"to":"bob"}'
STOP, DONE, EOF, RST = {"finish": "stop"}, {"done": True}, {"close": "eof"}, {"close": "rst"}
GOOD: Script = [{"text": PAYMENT}, STOP, DONE]
KEY = "sk-nobody-may-see-this"


class Counted:
    """Count the runs of an effect and of a rule."""

    effect_name = "counted"

    def __init__(self) -> None:
        self.runs = 0
        self.rule_calls = 0

    async def __call__(self, value: object, context: object) -> None:
        self.runs += 1

    async def check(self, payment: Any) -> RuleViolation | None:
        self.rule_calls += 1
        return None if payment["amount"] > 0 else RuleViolation("limit", "the amount is out of bounds", "/amount")


@dataclass(kw_only=True)
class Seen:
    """Hold what one call left behind."""

    outcome: Outcome[Any, Any]
    server: Loopback
    counted: Counted
    shown: list[object] = field(default_factory=list[object])

    def header(self, name: str) -> list[str]:
        return [asked.headers.get(name, "") for asked in self.server.asked]


@asynccontextmanager
async def asking(respond: Respond, *, dialect: str = "openai_chat", **options: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Yield a client whose backend ``far`` asks a server on loopback, and the server."""
    async with loopback(respond) as server:
        backend = RemoteBackend(
            DIALECTS[dialect](), base_url=server.url, api_key=KEY, unproven_effects=True, name="far", **options
        )
        async with aclosing(backend), Client(backends={"far": backend}, ledger=MemoryLedger()) as client:
            yield client, server


async def ask(respond: Respond, *, dialect: str = "openai_chat", **options: Any) -> Seen:
    """Make one call with an effect and a rule."""
    counted, shown = Counted(), list[object]()
    given: dict[str, Any] = {
        "prompt": "pay",
        "effect": counted,
        "operation_key": "k",
        "rules": [counted.check],
        **options,
    }
    contract = Contract.of(PAY, limits=Limits(text_bytes=10_000))
    with anyio.fail_after(30):
        async with (
            asking(respond, dialect=dialect) as (client, server),
            client.stream_structured("far/m", contract, **given) as run,
        ):
            async for item in run:
                shown.append(item)
            outcome = await run.outcome()
    assert KEY not in f"{outcome!r} {outcome} {outcome.receipt!r}"
    return Seen(outcome=outcome, server=server, counted=counted, shown=shown)
