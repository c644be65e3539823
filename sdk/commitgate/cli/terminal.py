"""Show a run on a terminal while it goes on, and its ending when it is over."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from commitgate.cli.drawing import draw_bar, draw_stage, draw_value
from commitgate.harmless import harmless
from commitgate.json_value import JsonValue
from commitgate.outcome import Committed, Outcome, Receipt, Unavailable, Unsupported
from commitgate.preview import Preview, Reset

_FRAMES_PER_SECOND = 12
_LINES_KEPT_FREE = 4


class LiveView:
    """Redraw a preview as it grows. Use it as a context manager; what it drew is gone when it is left.

    Args:
        console: where to draw.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._preview: Preview | None = None
        self._stage = ("starting", 0.0)
        self._live = Live(
            get_renderable=self._draw, console=console, refresh_per_second=_FRAMES_PER_SECOND, transient=True
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, item: Preview | Reset) -> None:
        """Take the next item of the run; it is drawn with the next frame."""
        self._preview = item if isinstance(item, Preview) else None

    def report(self, stage: str, part: float) -> None:
        """Take what is being done before there is text; may be called from any thread.

        Args:
            stage: what is being done, in words.
            part: the part that is done, in [0, 1].
        """
        self._stage = (stage, part)

    def last_lines(self) -> list[Text]:
        """Return the last preview's lines, empty where there was none."""
        preview = self._preview
        if preview is None or not preview.has_value:
            return []
        return draw_value(preview.value, preview.final_paths)

    def _draw(self) -> RenderableType:
        preview = self._preview
        if preview is None or not preview.has_value:
            return draw_stage(*self._stage)
        lines = self.last_lines()
        kept = max(1, self._console.size.height - _LINES_KEPT_FREE)
        return Group(Text("preview, not a value yet", style="dim"), *lines[-kept:], draw_bar(preview.legal_mass))


def print_ending(console: Console, outcome: Outcome[JsonValue, object], last_preview: list[Text]) -> None:
    """Print what came out: the value, or the reason with what had been received."""
    if isinstance(outcome, Committed):
        for line in draw_value(outcome.value, {""}):
            console.print(line)
        words = "committed (replayed from the ledger)" if outcome.is_replayed else "committed"
        console.print(Text(words, style="bold green"))
    else:
        if last_preview:
            console.print(Text("received so far, not a value:", style="dim"))
            for line in last_preview:
                console.print(line)
        console.print(Text.assemble((outcome.name, "bold red"), ": ", harmless(outcome.summary())))
        if isinstance(outcome, Unavailable | Unsupported) and outcome.detail is not None:
            console.print(Text(f"the server's words: {harmless(outcome.detail)}", style="dim"))
    console.print(Text(_receipt_line(outcome.receipt), style="dim"))


def _receipt_line(receipt: Receipt) -> str:
    facts = [f"{receipt.backend}/{receipt.model}" if receipt.backend else None]
    if receipt.usage.output_tokens is not None:
        facts.append(f"{receipt.usage.output_tokens} tokens")
    if receipt.time_to_first_token_s is not None:
        facts.append(f"first token after {receipt.time_to_first_token_s:.2f} s")
    if receipt.time_per_token_s is not None:
        facts.append(f"{1000 * receipt.time_per_token_s:.0f} ms a token")
    if receipt.legal_mass_min is not None and receipt.legal_mass_mean is not None:
        facts.append(f"legal mass min {receipt.legal_mass_min:.3f}, mean {receipt.legal_mass_mean:.3f}")
    return harmless(" · ".join(fact for fact in facts if fact is not None))


__all__ = ["LiveView", "print_ending"]
