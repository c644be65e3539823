"""A program that runs tools on a ledger's file until it is killed; its own tests start it.

Arguments: the ledger's file, the file of what was paid, where to die, and how many seconds its clock is ahead.
``call:2``: in the authorization of the payment of 2. ``after:2``: right after that payment. ``turn:2``: while the
second turn is shown. ``never``: not at all; then the model gives the second turn alone, whatever it is asked.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from commitgate.client import Client
from commitgate.ledger import SqliteLedger
from commitgate.testing import ScriptedBackend, Step
from commitgate.tools import tool

SCRIPTS: list[list[Step]] = [
    [
        {"tool": {"i": 0, "name": "pay", "args": '{"amount": 1}'}},
        {"tool": {"i": 1, "name": "pay", "args": '{"amount": 2}'}},
        {"tool": {"i": 2, "name": "pay", "args": '{"amount": 3}'}},
        {"finish": "tool_calls"},
    ],
    [{"prose": "Paid."}, {"finish": "stop"}],
]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(ledger_path: str, paid_path: str, place: str, ahead_s: float) -> None:
    """Run the tools; print how that ended, and how often the model was asked."""

    def allow(arguments: Any, context: Any) -> bool:
        if place == f"call:{arguments.amount}":
            die()
        return True

    @tool(effect="once", authorize=allow)
    def pay(amount: int) -> int:
        """Pay."""
        with Path(paid_path).open("a", encoding="ascii") as file:
            file.write(f"{amount}\n")
        if place == f"after:{amount}":
            die()
        return amount

    scripts = SCRIPTS[1:] if place == "never" else SCRIPTS
    backend = ScriptedBackend(scripts[0], then=scripts[1:])
    ledger = SqliteLedger(ledger_path, clock=lambda: time.time() + ahead_s)
    async with Client(backends={"scripted": backend}, ledger=ledger) as client:
        if place == "turn:2":
            async with client.stream_tools("scripted", tools=[pay], prompt="pay", operation_key="k") as run:
                async for item in run:
                    if getattr(item, "turn", 0) == 2:
                        die()
        outcome = await client.run_tools("scripted", tools=[pay], prompt="pay", operation_key="k")
    await ledger.aclose()
    print(outcome.name, len(backend.requests))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
