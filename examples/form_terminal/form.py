"""Draw a form that grows: what is final, what is still being written, and what has not been reached."""

from collections.abc import Mapping
from typing import cast

from rich.console import Group
from rich.table import Table
from rich.text import Text

from commitgate import Preview

EMPTY = ("·", "dim", "")
OPEN = ("…", "italic yellow", "open")
FINAL = ("✓", "green", "final")


class Form:
    """Hold what is shown of one run.

    Args:
        labels: what to call each field, by its name, in the order of the rows.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._values: Mapping[str, object] = {}
        self._finals: frozenset[str] = frozenset()
        self.note = Text("waiting for the model", style="dim")

    def show(self, preview: Preview) -> None:
        """Take what is to be shown from now on."""
        if isinstance(preview.value, dict):
            self._values, self._finals = preview.value, preview.final_paths
            self.note = Text("a preview, not a value", style="dim")

    def empty(self, why: str) -> None:
        """Drop what was shown: it belonged to an attempt that is gone."""
        self._values, self._finals = {}, frozenset()
        self.note = Text(f"started again from an empty form: {harmless(why)}", style="bold yellow")

    def __rich__(self) -> Group:
        """Return the form as it stands: a row for each field, and one line below."""
        rows = Table.grid(padding=(0, 1))
        for name, label in self._labels.items():
            mark, style, word = self._state(name)
            rows.add_row(Text(mark, style), Text(label, "bold"), self._text(name, style), Text(word, "dim"))
        return Group(rows, self.note)

    def _state(self, name: str) -> tuple[str, str, str]:
        # Field names hold neither "/" nor "~", so a pointer to one needs no escape.
        if name not in self._values:
            return EMPTY
        return FINAL if f"/{name}" in self._finals else OPEN

    def _text(self, name: str, style: str) -> Text:
        value = self._values.get(name)
        if not isinstance(value, list):
            return Text("" if name not in self._values else harmless(str(value)), style)
        text = Text()
        for number, item in enumerate(cast("list[object]", value)):
            is_final = f"/{name}/{number}" in self._finals
            text.append(", " if number else "").append(harmless(str(item)), FINAL[1] if is_final else OPEN[1])
        return text


def harmless(text: str) -> str:
    """Return a model's text with every character that a terminal would obey, and not draw, as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
