"""Make the page of the benchmarks out of the results that lie in ``build/bench``.

Run: ``python tests/benchmarks/bench_report.py``, or ``make bench``, which measures first. Writes ``docs/benchmarks.md``
and a plot for each group of rows beside it. Nothing on the page is written by hand: measure, and make it again.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import svg_plot
from results import FOLDER, Machine, Results, Row

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"

TITLES = {
    "masks": "Masks",
    "vocabularies": "Vocabularies",
    "end_to_end": "End to end",
}
"""Headings by kind, in the order of the page; other kinds follow under their own name."""

_WRAP = 120
_HEAD = (
    "# Benchmarks",
    "",
    "Written by `make bench` from one run on the machine that each section names; nothing here is written by hand.",
    "",
    "**Compare ratios within a table, not times.** The machine may have been shared with other work, which hits alike "
    "what is measured in turn. A ratio is a value divided by that of the row in its part of the table that shows ×1: "
    "×3 is three times as long, or three times as many. Behind the ratios stand the values as seen in that run.",
)


def page_of(found: Iterable[Results], folder: str) -> tuple[str, dict[str, str]]:
    """Return the page in Markdown, and its plots by file name.

    Args:
        found: results, at most one of each kind.
        folder: of the plots, as the page links to it.
    """
    plots: dict[str, str] = {}
    lines: list[str] = []
    for part in _HEAD:
        lines += _wrapped(part)
    for results in sorted(found, key=_place):
        lines += ["", *_section(results, folder, plots)]
    return "\n".join([*lines, ""]), plots


def _place(results: Results) -> tuple[int, str]:
    order = list(TITLES)
    return (order.index(results.kind) if results.kind in TITLES else len(order), results.kind)


def _section(results: Results, folder: str, plots: dict[str, str]) -> Iterator[str]:
    yield f"## {TITLES.get(results.kind, results.kind.replace('_', ' ').capitalize())}"
    yield ""
    yield from _wrapped(_where(results.date, results.machine))
    settings = {name: value for name, value in results.settings.items() if name != "base"}
    if settings:
        yield ""
        for name, value in settings.items():
            yield from _wrapped(f"- {name}: {value}", indent="  ")
    for note in results.notes:
        yield ""
        yield from _wrapped(note)
    for group, rows in _groups(results.rows).items():
        yield ""
        yield f"### {group}"
        yield ""
        drawn = _plot(group, rows)
        if drawn is not None:
            name = f"{results.kind}-{_slug(group)}.svg".replace("_", "-")
            plots[name] = drawn
            yield f"![{group}]({folder}/{name})"
            yield ""
        yield from table(rows)


def _where(date: str, machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items() if version)
    load = "" if machine.load is None else f", load {machine.load:g} when it began"
    return (
        f"{date.replace('T', ' ')}; {machine.cpu}, {machine.cores} cores, {machine.memory}, {machine.platform}{load}; "
        f"Python {machine.python}{', ' if versions else ''}{versions}."
    )


def _groups(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows by the part of ``what`` before its colon, in the order in which they came."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.what.partition(": ")[0], []).append(row)
    return found


def _details(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of a group by what stands behind the colon."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.what.partition(": ")[2], []).append(row)
    return found


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Write a group's rows as a table of Markdown: ratios first, the values of this run behind them."""
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    ratios = [name for name in names if any(name in row.ratio for row in rows)]
    has_details = any(": " in row.what for row in rows)
    values = [f"{name}{f', {row.unit}' if (row := _first(rows, name)).unit else ''}" for name in names]
    head = [*(["over"] if has_details else []), "who", *(f"ratio {name}" for name in ratios), *values]
    yield _cells(head)
    yield "|" + "---|" * (1 + has_details) + "---:|" * (len(ratios) + len(names))
    for detail, those in _details(rows).items():
        for number, row in enumerate(those):
            cells = [row.who]
            if has_details:
                cells.insert(0, detail if number == 0 else "")
            cells += [f"×{shown(row.ratio[name])}" if name in row.ratio else "" for name in ratios]
            cells += [shown(row.values[name]) if name in row.values else "" for name in names]
            yield _cells(cells)


def _first(rows: Iterable[Row], name: str) -> Row:
    return next(row for row in rows if name in row.values)


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shown(value: float) -> str:
    """Write a number with three digits that count, or as a whole one."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _plot(group: str, rows: Sequence[Row]) -> str | None:
    """Draw a group's rows; None where they are counts, or of several units."""
    units = {row.unit for row in rows}
    if len(units) != 1 or units == {""}:
        return None
    blocks = [
        svg_plot.Block(
            heading=detail,
            lines=[svg_plot.Line(who=row.who, values=_marked(row.values)) for row in those],
        )
        for detail, those in _details(rows).items()
    ]
    return svg_plot.plot(group, next(iter(units)), blocks)


def _marked(values: dict[str, float]) -> dict[str, float]:
    """Return the values that a plot marks: a mean says little beside percentiles."""
    marked = {name: value for name, value in values.items() if name != "mean"}
    return marked or values


def _slug(group: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")[:60].rstrip("-")


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WRAP, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def write(found: Sequence[Results], page: Path) -> None:
    """Write the page and its plots; plots that no page shows any more are removed."""
    text, plots = page_of(found, page.stem)
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        if old.name not in plots:
            old.unlink()
    for name, drawn in plots.items():
        (folder / name).write_text(drawn, encoding="utf-8")
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Read all results, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=FOLDER, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args()
    found = [Results.read(place) for place in sorted(chosen.results.glob("*.json"))]
    if not found:
        sys.exit(f"no results in {chosen.results}: run a benchmark first, or `make bench`")
    write(found, chosen.page)
    print(chosen.page)


if __name__ == "__main__":
    main()

__all__ = ["TITLES", "page_of", "shown", "table", "write"]
