"""Turn three support e-mails into tickets in a SQLite file, then do one of them again.

Usage: python examples/ticket/run.py FOLDER
"""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import anyio
from mail import read_mail
from rich.console import Console
from screen import Screen
from table import TicketTable
from ticket import Ticket, evidence_is_visible, high_priority_needs_evidence

from commitgate import Client, Contract, Outcome, Sampling

EMAILS = Path(__file__).parent / "emails"
CONTRACT = Contract.of(Ticket, name="support-ticket", version="1")


async def extract(client: Client, console: Console, table: TicketTable, name: str, note: str) -> Outcome[Ticket, int]:
    """Run one e-mail through the model, the rules and the ledger."""
    mail = read_mail(EMAILS / f"{name}.eml")
    screen = Screen(console, f"{name}: {note}")
    async with client.stream_structured(
        "local",
        CONTRACT,
        messages=mail.conversation(),
        prompt_schema="none",
        sampling=Sampling(temperature=0.0, max_tokens=200),
        rules=[high_priority_needs_evidence, evidence_is_visible(mail.visible_evidence)],
        effect=table.open_ticket,
        operation_key=f"ticket-for:{mail.message_id}",
    ) as run:
        with screen:
            async for item in run:
                screen.show(item)
        outcome = await run.outcome()
    screen.end(outcome)
    return outcome


async def main(folder: Path) -> None:
    """Extract three tickets and replay one."""
    console = Console(highlight=False, markup=False)
    table = TicketTable(folder / "tickets.sqlite")
    async with Client(ledger=folder / "ledger.sqlite") as client:
        await extract(client, console, table, "01-pump-leaks", "a leaking pump, with two attachments")
        await extract(client, console, table, "06-factura-sin-iva", "an invoice without a tax number, in Spanish")
        await extract(client, console, table, "11-hostile", "it orders the model to change the schema")
        await extract(client, console, table, "01-pump-leaks", "the same e-mail again")
    console.print(f"\n{folder / 'tickets.sqlite'} holds:")
    for row in table.rows():
        console.print("  ", *row, soft_wrap=True)


if __name__ == "__main__":
    parser = ArgumentParser(usage=SUPPRESS, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", default=Path())
    chosen = parser.parse_args().folder
    if not chosen.is_dir():
        parser.error(f"there is no folder {chosen}")
    anyio.run(main, chosen)
