"""Work on a shop's mails with a small model: a refund, an approval, a denial, a crash and the way on after it.

Usage: python examples/refund/refunds.py FOLDER
"""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import agent
import anyio
from agent import CLERK, ledger_of, work
from refund_options import options
from refund_tools import tools_of
from shop import Shop
from staff import Person

from commitgate import Client, EffectKind
from commitgate.ledger import Ledger, State
from commitgate.tools import AnyTool, ToolSet

SUPERVISOR = Person("supervisor", most_cents=100_000)
TRAINEE = Person("trainee", most_cents=None)

EXPECTED = [("A-1001", 2450), ("A-1002", 18900), ("A-1003", 7900)]  # what must be paid back in the end, once each


async def decide(ledger: Ledger, tools: Sequence[AnyTool]) -> None:
    """Allow what waits, as another program would: it knows the ledger and the tools, and needs no model."""
    refund = ToolSet.of(tools)["refund"]
    async with Client(ledger=ledger) as client:
        for waiting in await client.approvals():
            print(f"  waits: {waiting.operation_key} {waiting.value_json.decode()}: {waiting.reason}")
            outcome = await client.approve(
                waiting.operation_key,
                by=SUPERVISOR.name,
                value_digest=waiting.value_digest,
                schema=refund.contract,
                effect=refund.effect,
                principal=SUPERVISOR,
            )
            print(f"  allowed by the {SUPERVISOR.name}: {outcome.name}")


async def is_told_right(shop: Shop, ledger: Ledger) -> bool:
    """Print the shop's refunds beside the ledger's rows; say whether each is there that must be, once."""
    rows = [row for row in await ledger.list() if row.effect_kind is not None]
    print("\nthe ledger's calls:")
    for row in sorted(rows, key=lambda row: row.created_at):
        print(f"  {row.key:<27} {row.effect_kind:<13} {row.state:<20} {row.decided_by or ''}".rstrip())
    refunds = shop.refunds()
    print("the shop's refunds:", *(f"  {order_id} {cents:>6} cents" for order_id, cents in refunds), sep="\n")
    orders = [order_id for order_id, _ in refunds]
    ran = [row for row in rows if row.effect_kind is EffectKind.TRANSACTIONAL and row.state is State.COMMITTED]
    return set(EXPECTED) <= set(refunds) and len(set(orders)) == len(orders) == len(ran)


async def main(folder: Path) -> int:
    """Work on all mails; return the exit status."""
    shop = Shop(folder)
    tools = tools_of(shop)
    async with aclosing(ledger_of(shop)) as ledger, Client(ledger=ledger, lease_s=agent.LEASE_S) as client:
        await work(client, tools, "tea-pot", CLERK)
        await work(client, tools, "lamp", CLERK)
        await decide(ledger, tools)
        await work(client, tools, "lamp", CLERK)
        await work(client, tools, "mirror", TRAINEE)
        command = [sys.executable, agent.__file__, str(folder), "radio"]
        child = await anyio.run_process(command, stdout=None, stderr=None, check=False)
        print(f"  the process ended with {child.returncode}; refunds of A-1003: {shop.refunds().count(EXPECTED[2])}")
        await work(client, tools, "radio", CLERK)
        await work(client, tools, "clock", CLERK)
        is_right = await is_told_right(shop, ledger)
    print("\nevery refund is there, once" if is_right else "\nthe refunds are not as they must be")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main, options(__doc__).folder))
