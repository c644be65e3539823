"""The page of the benchmarks says what was measured: ratios first, beside whom, where and when."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import svg_plot
from bench_report import page_of, shown, table, write
from results import Machine, Results, Row, percentiles, with_ratios

MACHINE = Machine(
    cpu="Some CPU",
    cores=2,
    memory="8 GiB",
    python="3.11.7",
    platform="Linux x86_64",
    versions={"peer": "1.2", "x": None},
)


def row(what: str, who: str, p50: float, p99: float, unit: str = "ms") -> Row:
    return Row(what=what, who=who, unit=unit, values={"p50": p50, "p99": p99})


def results(kind: str, rows: list[Row]) -> Results:
    return Results(
        kind=kind, date="2026-01-02T03:04:05+00:00", machine=MACHINE, settings={"seed": 7}, rows=rows, notes=["Beware."]
    )


ROWS = with_ratios(
    [row("First: a", "commitgate", 2.0, 8.0), row("First: a", "peer", 6.0, 4.0), row("First: b", "peer", 1.0, 1.0)]
)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = results("masks", ROWS)
    assert Results.read(found.write(tmp_path)) == found


def test_ratios_are_to_the_base_and_nothing_where_it_has_no_row() -> None:
    assert [each.ratio for each in ROWS] == [{"p50": 1.0, "p99": 1.0}, {"p50": 3.0, "p99": 0.5}, {}]


def test_percentiles_lie_between_the_nearest_values() -> None:
    found = percentiles([float(number) for number in range(101)], scale=10.0)
    assert found == pytest.approx({"p50": 500.0, "p90": 900.0, "p99": 990.0, "mean": 500.0})
    assert percentiles([1.0, 2.0])["p50"] == pytest.approx(1.5)
    assert percentiles([]) == {}


def test_table_has_ratios_before_values() -> None:
    assert list(table(ROWS)) == [
        "| over | who | ratio p50 | ratio p99 | p50, ms | p99, ms |",
        "|---|---|---:|---:|---:|---:|",
        "| a | commitgate | ×1 | ×1 | 2 | 8 |",
        "|  | peer | ×3 | ×0.5 | 6 | 4 |",
        "| b | peer |  |  | 1 | 1 |",
    ]


def test_cell_cannot_break_the_table() -> None:
    assert list(table([row("First", "a|b", 1.0, 1.0)]))[2] == r"| a\|b | 1 | 1 |"


def test_page_names_date_machine_versions_and_settings() -> None:
    page, _ = page_of([results("masks", ROWS)], "benchmarks")
    flat = " ".join(page.split())
    for part in ("2026-01-02 03:04:05", "Some CPU, 2 cores", "peer 1.2", "Python 3.11.7", "seed: 7", "Beware."):
        assert part in flat
    assert "x None" not in flat


def test_sections_come_in_one_order_whatever_order_they_were_found_in() -> None:
    found = [results(kind, ROWS) for kind in ("other_kind", "end_to_end", "masks")]
    page, _ = page_of(found, "benchmarks")
    assert re.findall(r"^## (.+)$", page, flags=re.MULTILINE) == ["Masks", "End to end", "Other kind"]


def test_every_plot_that_is_linked_is_written_and_old_ones_are_gone(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    write([results("masks", ROWS), results("end_to_end", [row("Old group", "a", 1.0, 2.0)])], page)
    write([results("masks", ROWS)], page)
    linked = re.findall(r"\]\((.+?\.svg)\)", page.read_text(encoding="utf-8"))
    assert linked == ["benchmarks/masks-first.svg"]
    assert [path.name for path in (tmp_path / "benchmarks").iterdir()] == ["masks-first.svg"]


def test_counts_have_a_table_and_no_plot() -> None:
    page, plots = page_of([results("masks", [row("Counts", "a", 1.0, 2.0, unit="")])], "benchmarks")
    assert plots == {}
    assert "| a | 1 | 2 |" in page


def test_lines_of_prose_are_at_most_120_wide() -> None:
    page, _ = page_of([results("masks", ROWS)], "benchmarks")
    assert [line for line in page.splitlines() if len(line) > 120 and not line.startswith("|")] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.0123"), (9.876, "9.88"), (99.96, "100"), (12345.6, "12,346"), (3.0, "3"), (0.0, "0")],
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert shown(value) == text


BLOCKS = [
    svg_plot.Block(heading="a <b>", lines=[svg_plot.Line(who="x & y", values={"p50": 1.0, "p90": 10.0, "p99": 100.0})]),
    svg_plot.Block(heading="", lines=[svg_plot.Line(who="z", values={"p50": 5.0, "p90": 0.0, "p99": 50.0})]),
]
SVG = "{http://www.w3.org/2000/svg}"


def test_plot_is_one_whole_document_that_loads_nothing() -> None:
    drawn = svg_plot.plot("Title & more", "ms", BLOCKS)
    root = ElementTree.fromstring(drawn)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Title & more", "a <b>", "x & y", "z"} <= set(texts)
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme: dark" in drawn


def test_same_values_are_drawn_the_same() -> None:
    assert svg_plot.plot("t", "ms", BLOCKS) == svg_plot.plot("t", "ms", BLOCKS)


def test_marks_of_a_decade_lie_equally_far_apart() -> None:
    root = ElementTree.fromstring(svg_plot.plot("t", "ms", BLOCKS[:1]))
    first, last = (float(circle.attrib["cx"]) for circle in root.iter(f"{SVG}circle"))
    ticks = sorted({float(line.attrib["x1"]) for line in root.iter(f"{SVG}line") if line.attrib.get("class") == "grid"})
    assert ticks[0] == first
    assert ticks[-1] == last
    assert ticks[1] - ticks[0] == pytest.approx(ticks[2] - ticks[1], abs=0.2)


@pytest.mark.parametrize("values", [{"rate": 100.0}, {"least": 90.0, "median": 100.0}])
def test_values_that_are_alone_or_near_each_other_are_bars_from_zero(values: dict[str, float]) -> None:
    half = {name: value / 2 for name, value in values.items()}
    lines = [svg_plot.Line(who="a", values=values), svg_plot.Line(who="b", values=half)]
    root = ElementTree.fromstring(svg_plot.plot("t", "masks/s", [svg_plot.Block(heading="", lines=lines)]))
    lengths = [
        float(line.attrib["x2"]) - float(line.attrib["x1"])
        for line in root.iter(f"{SVG}line")
        if "stroke" in line.attrib
    ]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.2)


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        svg_plot.plot("t", "ms", [svg_plot.Block(heading="", lines=[svg_plot.Line(who="a", values={"p50": 0.0})])])
