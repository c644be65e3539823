"""Fill in a repair form from an e-mail, and show the form while the model writes. Ctrl-C cancels.

Usage: python examples/form_terminal/fill.py [FILE]
"""

import signal
import sys

import anyio
from anyio.abc import TaskStatus
from fill_options import asked_mail
from form import Form
from repair import Repair, conversation
from rich.console import Console
from rich.live import Live
from rich.text import Text

from commitgate import Client, Committed, Outcome, Reset, Retry, Sampling, StructuredRun

LABELS = {name: field.title or name for name, field in Repair.model_fields.items()}


async def fill(client: Client, console: Console, mail: str) -> Outcome[Repair]:
    """Run one e-mail through the model, with the form on the screen; return how it ended."""
    form = Form(LABELS)
    run = client.stream_structured(
        "local",
        Repair,
        messages=conversation(mail),
        prompt_schema="none",
        sampling=Sampling(temperature=0.0, max_tokens=160),
        retry=Retry(restarts=1),  # also after something was shown; a Reset tells
    )
    async with anyio.create_task_group() as tasks:
        await tasks.start(cancel_on_interrupt, run)
        async with run:
            with Live(form, console=console, auto_refresh=False) as live:
                async for item in run.latest():
                    if isinstance(item, Reset):
                        form.empty(item.reason)
                    else:
                        form.show(item)
                    live.refresh()
                form.note = ending(await run.outcome())
                live.refresh()
        tasks.cancel_scope.cancel()
    if not console.is_terminal:
        console.line()  # rich ends the last line on a terminal alone
    return await run.outcome()


async def cancel_on_interrupt(run: StructuredRun[Repair], *, task_status: TaskStatus[None]) -> None:
    """End the run as cancelled at Ctrl-C, so that it can say so; without this, the program would end in its middle."""
    with anyio.open_signal_receiver(signal.SIGINT) as interrupts:
        task_status.started()
        async for _ in interrupts:
            run.cancel()


def ending(outcome: Outcome[Repair]) -> Text:
    """Return how the run ended, in a line. Only a committed outcome has a value to act on."""
    if isinstance(outcome, Committed):
        return Text(f"committed: a {outcome.value.device} on floor {outcome.value.floor}", "bold green")
    return Text(f"{outcome.name}: {outcome.summary()}", "bold red")


async def main(mail: str) -> int:
    """Fill in one form; return the exit status."""
    async with Client() as client:
        outcome = await fill(client, Console(highlight=False, markup=False), mail)
    return 0 if isinstance(outcome, Committed) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main, asked_mail(__doc__)))
