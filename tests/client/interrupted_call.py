"""A program that a test interrupts while its call waits: ``python interrupted_call.py <event loop> <ledger file>``."""

import sys

import anyio
from pydantic import BaseModel

from commitgate import Client
from commitgate.testing import ScriptedBackend


class Pay(BaseModel):
    amount: int


async def main(ledger: str) -> None:
    backend = ScriptedBackend([{"text": '{"a'}, {"wait": None}])
    try:
        async with (
            Client(backends={"scripted": backend}, ledger=ledger) as client,
            client.stream_structured("scripted", Pay, prompt="x", operation_key="k") as run,
        ):
            async for _ in run:
                # A signal may stop a task anywhere; what is tested is one that comes while all of them wait.
                await anyio.wait_all_tasks_blocked()
                print("ready", flush=True)
    finally:
        print(f"{backend.open_streams} open", flush=True)


if __name__ == "__main__":
    try:
        anyio.run(main, sys.argv[2], backend=sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(130)
