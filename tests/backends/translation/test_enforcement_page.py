"""The page about what servers enforce says what the tables of the code say, and its block runs."""

from __future__ import annotations

import re
from typing import cast

import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.backends.dialects.table import DIALECTS
from commitgate.difference import DifferenceKind
from commitgate.lint.vendor_facts import (
    CASES,
    FACTS,
    STRICT_TOOLS,
    TABLE_VERSION,
    VENDOR_LIMITS,
    VENDORS,
    Reaction,
)

PAGE = (DOCS / "enforcement-by-server.md").read_text(encoding="utf-8")
LETTERS = {
    Reaction.TAKEN: "E",
    Reaction.REFUSED: "R",
    Reaction.IGNORED: "I",
    Reaction.WRONG: "W",
    Reaction.NARROWED: "O",
    Reaction.UNKNOWN: "?",
}


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, its first line included."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


def cell(vendor: str, case: str) -> str:
    fact = FACTS[vendor, case]
    letter = LETTERS[fact.reaction]
    return letter if fact.is_sure or letter == "?" else letter + "?"


def test_the_table_is_that_of_the_code() -> None:
    head, *body = rows("The table")
    assert head == ["case", *(f"`{vendor.name}`" for vendor in VENDORS)]
    assert body == [[about, *(cell(vendor.name, case) for vendor in VENDORS)] for case, about in CASES.items()]


def test_the_version_is_that_of_the_code_and_looks_like_a_date() -> None:
    assert f"\nVersion: {TABLE_VERSION}. " in PAGE
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}(\.\d+)?", TABLE_VERSION)


def test_the_bounds_are_those_of_the_code() -> None:
    _, *body = rows("Bounds of vendors")
    told = {(row[0].strip("`"), row[1].partition(",")[0], row[2]) for row in body}
    limits = {(each.vendor, each.measure.replace("_", " "), f"{each.most:,}") for each in VENDOR_LIMITS}
    assert told == limits | {(vendor, "strict tools", str(most)) for vendor, most in STRICT_TOOLS.items()}


def test_every_dialect_is_told_with_its_column() -> None:
    _, *body = rows("Servers")
    for name, made in DIALECTS.items():
        facts = made().facts
        row = next(row for row in body if row[0] == f"`{name}`")
        assert row[1] == facts.title
        assert row[2] == (f"`{facts.vendor}`" if facts.vendor else "none: it enforces what a contract says")
        assert set(re.findall(r"[a-z_]+", row[3])) == {*facts.forms, *facts.notations}
        assert row[4] == ("yes" if facts.offers_tools else "no")


def test_every_kind_of_difference_is_told() -> None:
    _, *body = rows("Kinds of difference")
    assert {row[0].strip("`") for row in body} == set(cast("tuple[str, ...]", DifferenceKind.__args__))


@pytest.mark.anyio
async def test_its_block_runs(capsys: pytest.CaptureFixture[str]) -> None:
    await run_blocks(blocks_of("enforcement-by-server.md"), __name__)
    printed = capsys.readouterr().out
    assert "checked /properties/tags uniqueItems" in printed
    assert "nullable /properties/note required" in printed
    assert """b'{"sku": "ABC", "pieces": 2, "tags": []}'""" in printed
