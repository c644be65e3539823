"""The docs say what the code says."""

import ast
import re
import tomllib
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from commitgate.cli.exit_codes import ExitCode
from commitgate.limits import Limits
from commitgate.outcome import Committed, Failed

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table that follows a heading, without its first two lines."""
    section = text.split(heading, 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_endings_table_is_the_set_of_endings() -> None:
    documented = {(row[0], row[1], int(row[2])) for row in rows(read("docs/outcomes.md"), "## Endings and exit codes")}
    endings = [Committed, *get_args(Failed)]
    assert documented == {(each.__name__, each.name, int(ExitCode[each.name.upper()])) for each in endings}


def test_errors_table_is_the_rest_of_the_exit_codes() -> None:
    documented = {(row[0], int(row[1])) for row in rows(read("docs/outcomes.md"), "## Errors before any ending")}
    assert documented == {(code.label, int(code)) for code in ExitCode if 0 < code < 10}


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    indexed = re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", read("docs/decisions/README.md"))
    assert indexed == sorted(path.name for path in folder.glob("[0-9]*.md"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (document.parent / target).exists()]
    assert missing == []


def test_every_guarantee_names_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[a-z_/]+\.py)::(\w+)`", read("docs/guarantees.md"))
    assert named
    missing = [(path, name) for path, name in named if name not in functions(ROOT / path)]
    assert missing == []


def functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_readme_table_has_every_ending_with_its_code() -> None:
    documented: dict[str, int] = {}
    for names, _, codes in rows(read("README.md"), "## How a call ends"):
        documented |= dict(zip(re.findall(r"\w+", names), map(int, codes.split(",")), strict=True))
    assert documented == {each.__name__: int(ExitCode[each.name.upper()]) for each in [Committed, *get_args(Failed)]}


def test_readme_promises_only_extras_that_exist() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    named = re.findall(r"commitgate\[([a-z,]+)\]", read("README.md"))
    assert {extra for group in named for extra in group.split(",")} <= set(project["optional-dependencies"])


def test_bounds_that_can_be_set_are_the_fields_of_limits() -> None:
    documented = {
        row[0]: int(row[1].replace(",", "")) for row in rows(read("docs/limits.md"), "## Bounds that can be set")
    }
    assert documented == {entry.name: entry.default for entry in fields(Limits)}


def test_bounds_that_cannot_be_set_are_those_of_the_code() -> None:
    for name, value, _ in rows(read("docs/limits.md"), "## Bounds that cannot"):
        module, _, constant = name.rpartition(".")
        assert getattr(import_module(module), constant) == int(value.replace(",", "")), name
