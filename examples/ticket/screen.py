"""Show a run: what is final in green, what is still being written in yellow with a mark, and how it ended."""

import json
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text
from ticket import Ticket

from commitgate import Committed, Outcome, Preview, Reset


class Screen:
    """Show one e-mail's run. On a terminal the preview is redrawn in place; elsewhere a line a finished field."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._finished = 0
        console.print(Text(f"\n{title}", style="bold"))

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, item: Preview | Reset) -> None:
        """Draw the next preview."""
        if not isinstance(item, Preview) or not isinstance(item.value, dict):
            return
        finals = item.final_paths
        text = Text("  preview   ", style="dim")
        for key, value in item.value.items():
            is_final = f"/{key}" in finals
            # A model's text goes into a Text, never into markup, and json.dumps escapes what would steer a terminal.
            text.append(f"{key}={json.dumps(value)}", "green" if is_final else "italic yellow")
            text.append("  " if is_final else "…  ")
        if self._console.is_terminal:
            self._live.update(text, refresh=True)
        elif len(finals) > self._finished:
            self._console.print(text, soft_wrap=True)
            self._finished = len(finals)

    def end(self, outcome: Outcome[Ticket, int]) -> None:
        """Say how the run ended."""
        if isinstance(outcome, Committed):
            value = json.dumps(outcome.value.model_dump())
            asked = "the model was not asked" if outcome.is_replayed else "the model was asked"
            self._print("committed", "green", f"ticket number {outcome.result}; {asked}")
            self._print("value", "green", value)
        else:
            self._print(outcome.name, "red", outcome.summary())
            self._print("received", "yellow", json.dumps(outcome.partial_text) + " (not a value)")
        mass = outcome.receipt.legal_mass_mean
        if mass is not None and not (isinstance(outcome, Committed) and outcome.is_replayed):
            tokens = outcome.receipt.usage.output_tokens or 0
            self._print("receipt", "dim", f"{tokens} tokens, legal mass {mass:.2f} on average")

    def _print(self, word: str, style: str, text: str) -> None:
        self._console.print(Text.assemble((f"  {word:<10}", style), text), soft_wrap=True)
