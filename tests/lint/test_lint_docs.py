"""The page about lint says what the code says: its example, its tables, its block."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import anyio
import pytest
from guide import DOCS, blocks_of, run_blocks

from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.lint import FailOn
from commitgate.cli.lint_lines import report_lines
from commitgate.lint import RULES, UNBOUNDED, LintReport, lint
from commitgate.lint.linting import MOST_LISTED
from commitgate.lint.vendor_facts import VENDORS

PAGE = (DOCS / "lint.md").read_text(encoding="utf-8")
EXAMPLES = list(
    zip(
        re.findall(r"```json\n(.+?)```", PAGE, flags=re.DOTALL),
        re.findall(r"```text\n(.+?)```", PAGE, flags=re.DOTALL),
        strict=True,
    )
)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its first two lines."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def without_samples(text: str) -> list[str]:
    """Return the lines without the figures of the sample texts, which follow the automaton's inner ways."""
    return [line for line in text.splitlines() if "states made" not in line and "ended within" not in line]


@pytest.mark.parametrize(("schema", "output"), EXAMPLES, ids=["as it was", "as it became"])
def test_example_is_what_the_command_prints(schema: str, output: str) -> None:
    printed = "\n".join(line.plain for line in report_lines(lint(json.loads(schema))))
    assert without_samples(printed) == without_samples(output)
    assert len(printed.splitlines()) == len(output.splitlines())


def test_table_of_codes_is_that_of_the_rules() -> None:
    assert rows("What it finds") == [[f"`{rule.code}`", rule.severity, rule.about] for rule in RULES.values()]


def test_table_of_fail_on_is_that_of_the_command() -> None:
    documented = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows("In CI")}
    assert documented == {FailOn.CHECKED: {"checked_keyword"}, FailOn.UNBOUNDED: set(UNBOUNDED)}
    assert f"and {int(ExitCode.FINDINGS)} where" in PAGE


def test_table_of_fields_is_the_report() -> None:
    told = [row[0].strip("`") for row in rows("JSON")]
    assert told == ["exit_code", "failed_by", *(entry.name for entry in fields(LintReport))]


def test_table_of_vendors_is_that_of_the_facts() -> None:
    assert rows("Vendors") == [[each.title, each.basis, each.source] for each in VENDORS]


def test_number_of_findings_that_are_listed_is_told() -> None:
    assert f"At most {MOST_LISTED} findings of one code are listed" in PAGE


def test_block_of_the_page_runs() -> None:
    (block,) = blocks_of("lint.md")
    assert anyio.run(run_blocks, [block], "lint_page")["report"].is_usable
