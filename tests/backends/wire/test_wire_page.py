"""The page on reading answers says what the dialects and the code say."""

import re
from pathlib import Path

from guide import blocks_of

from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.words import FAULT_CODES, fault_kind

PAGE = Path(__file__).parents[3] / "docs" / "wire.md"


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    _, _, below = page().partition(heading)
    lines = [line for line in below.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_proofs_of_the_end_are_those_of_the_dialects() -> None:
    told = {row[0].strip("`"): row[1:] for row in rows("## What proves the end")}
    facts = {name: make().facts for name, make in DIALECTS.items()}
    assert told == {
        name: [f"`{each.framing}`", each.proof_of_end, f"`{each.end_marker}`" if each.end_marker else "none"]
        for name, each in facts.items()
    }


def test_kinds_of_errors_are_told_by_the_codes_and_statuses_of_the_table() -> None:
    told = {name: row[1] for row in rows("## What an error means") for name in re.findall(r"`(\w+)`", row[0])}
    for kind, words in told.items():
        codes = [code for code in re.findall(r"`(\w+)`", words) if code in FAULT_CODES]
        if kind != "constraint":
            assert all(FAULT_CODES[code] == kind for code in codes)
        for status in re.findall(r"(?<!\d)[45]\d\d(?!\d)", words.partition(";")[0]):
            assert fault_kind(int(status), ()) == kind


def test_example_of_the_page_runs() -> None:
    (block,) = blocks_of("wire.md")
    exec(compile(block, "wire.md", "exec"), {})
