"""Show how far each keyword of a schema is enforced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from commitgate.automaton import SupportRow
from commitgate.harmless import harmless

_STYLES = {"decoded": "green", "checked": "yellow", "annotation": "dim"}


def support_lines(rows: Sequence[SupportRow]) -> Iterator[Text]:
    """Yield one line a row: level, keyword, place, and why the automaton does not enforce it.

    Where there is no row, one line says so: every JSON value is in the language.
    """
    if not rows:
        yield Text("nothing constrains: the schema has no keyword that does", style="dim")
    named = [(row, harmless(row.keyword), harmless(row.pointer or "the root")) for row in rows]
    wide = max((len(keyword) for _, keyword, _ in named), default=0)
    long = max((len(place) for _, _, place in named), default=0)
    for row, keyword, place in named:
        cells = f"  {keyword:<{wide}}  {place:<{long}}  {harmless(row.reason)}"
        yield Text.assemble((f"{row.level:<10}", _STYLES[row.level]), cells.rstrip())


__all__ = ["support_lines"]
