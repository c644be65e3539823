"""The docs say what the code says."""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from commitgate.cli.exit_codes import ExitCode
from commitgate.errors import LimitExceededError
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


FIXED = [
    row
    for heading in ("## Bounds that cannot", "## Bounds past which", "## Bounds on looking ahead")
    for row in rows(read("docs/limits.md"), heading)
]
NOT_MET = {
    # How things are remembered, written or shown; what is accepted and generated does not depend on it.
    "commitgate.automaton.grammar.compiler.MAX_INLINED",
    "commitgate.automaton.grammar.compiler.MAX_INLINED_DEPTH",
    "commitgate.automaton.grammar.flattening.MAX_DEPTH",
    "commitgate.automaton.json_schema.arrays.MAX_KEPT_ITEMS",
    "commitgate.automaton.json_schema.excerpt.MAX_CHARACTERS",
    "commitgate.automaton.regex.character_reader.MAX_COUNT",
    "commitgate.automaton.regex.syntax.MAX_SHARED_LETTERS",
    "commitgate.gate.pattern_search.MAX_SEARCH_STEPS",
    "commitgate.gate.rust_pattern.MOST_CHARACTERS",
    "commitgate.gate.rust_pattern.MOST_COUNTED",
    "commitgate.gate.rust_pattern.MOST_STATES",
    # What the formats themselves say.
    "commitgate.automaton.formats.hosts.MAX_LABEL_LENGTH",
    "commitgate.automaton.formats.hosts.MAX_NAME_LENGTH",
    "commitgate.automaton.formats.mail.MAX_ADDRESS_OCTETS",
    "commitgate.automaton.formats.mail.MAX_LOCAL_OCTETS",
}


def test_bounds_that_cannot_be_set_are_those_of_the_code() -> None:
    for name, value, _ in FIXED:
        module, _, constant = name.rpartition(".")
        assert getattr(import_module(module), constant) == int(value.replace(",", "")), name


def constants() -> Iterator[str]:
    """Yield the public bounds of the library by their full names."""
    for path in (ROOT / "sdk").rglob("*.py"):
        found = re.findall(r"^((?:MAX|MOST)_\w+) = ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        yield from (".".join((*path.relative_to(ROOT / "sdk").with_suffix("").parts, name)) for name in found)


def test_every_bound_of_the_code_is_told() -> None:
    told = {row[0] for row in FIXED}
    assert set(constants()) - told - NOT_MET == set()
    assert NOT_MET - set(constants()) == set()


def test_names_of_limits_in_errors_are_fields_or_told() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sdk").rglob("*.py"))
    named = set(re.findall(r'limit_name="(\w+)"', sources)) | set(re.findall(r'too_large\("(\w+)"', sources))
    own = named - {entry.name for entry in fields(Limits)}
    assert own == set(re.findall(r"\(`(\w+)`", "".join(row[2] for row in FIXED)))
    assert all(name in (LimitExceededError.__doc__ or "") for name in own)
