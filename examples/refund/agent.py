"""Let a model work on one mail with the shop's tools, and say what becomes of each call.

Usage: python examples/refund/agent.py FOLDER MAIL    works as a clerk, and is killed in the middle of the refund
"""

import json
import os
import signal
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
from mails import MAILS, conversation
from refund_options import options
from refund_tools import tools_of
from shop import Shop
from staff import Person

from commitgate import Client, Committed, EffectFailed, NeedsApproval, Outcome, Sampling, Timeouts
from commitgate.ledger import SqliteLedger
from commitgate.tools import AnyTool, CallEnded, CallResult, TurnPreview

LEASE_S = 5.0  # seconds for which a call stays taken after the process that ran it was killed
CLERK = Person("clerk", most_cents=10_000)


def ledger_of(shop: Shop) -> SqliteLedger:
    """Return the ledger: it lives in the shop's own database, so that a refund and its record are one transaction."""
    return SqliteLedger(shop.database, shares_database=True)


async def work(client: Client, tools: Sequence[AnyTool], name: str, person: Person) -> Outcome[str, object]:
    """Run one mail to its end, or go on with it. Its operation key is the mail's own name."""
    print(f"\n{name}, on the desk of the {person.name}: {MAILS[name]}")
    written: set[int] = set()
    async with client.stream_tools(
        "local",
        tools=tools,
        messages=conversation(MAILS[name], tools),
        operation_key=f"mail:{name}",
        input_fingerprint=MAILS[name],  # so that other solved cases, in a later release, go on with the same run
        principal=person,
        most_calls=1,
        most_turns=4,
        sampling=Sampling(temperature=0.0, max_tokens=80),
        timeouts=Timeouts(first_event_s=None, idle_s=None, progress_s=None),  # a busy machine is slow, and not gone
        in_progress="wait",  # for the lease of a process that was killed
    ) as run:
        async for item in run:
            if isinstance(item, TurnPreview):
                written.add(item.turn)
            elif isinstance(item, CallEnded):
                say_call(item.result, is_written=item.result.call.turn in written)
        outcome = await run.outcome()
    said = f"the model says: {json.dumps(outcome.value)}" if isinstance(outcome, Committed) else outcome.name
    print(f"  the run ends; {said}")
    return outcome


def say_call(result: CallResult, *, is_written: bool) -> None:
    """Say what became of one call. Text that a model wrote is printed as JSON, which cannot steer a terminal."""
    call, outcome = result.call, result.outcome
    source = "the model" if is_written else "the ledger, the model was not asked"
    print(f"  turn {call.turn} from {source}: {call.name} {json.dumps(json.loads(call.arguments_json))}")
    reason = outcome.reason if isinstance(outcome, EffectFailed | NeedsApproval) else outcome.summary()
    print(f"    {outcome.name}: {json.dumps(result.result) if result.has_run else reason}")


async def be_killed(folder: Path, name: str) -> None:
    """Work on one mail until the refund's row is written, and die before it is committed."""
    shop = Shop(folder)
    tools = tools_of(shop, before_commit=lambda: os.kill(os.getpid(), signal.SIGKILL))
    async with aclosing(ledger_of(shop)) as ledger, Client(ledger=ledger, lease_s=LEASE_S) as client:
        await work(client, tools, name, CLERK)


if __name__ == "__main__":
    chosen = options(__doc__, MAILS)
    anyio.run(be_killed, chosen.folder, chosen.mail)
