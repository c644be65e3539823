"""What ``import commitgate`` costs and gives."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import commitgate

LATE = ("torch", "numpy", "transformers", "commitgate_local", "httpx", "tenacity", "jsonschema_rs", "sqlite3", "typer")


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    program = "import commitgate, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", LATE)
def test_import_leaves_the_heavy_parts_for_first_use(loaded: set[str], module: str) -> None:
    assert "commitgate" in loaded
    assert module not in loaded


def test_public_names_are_sorted_and_exist() -> None:
    assert list(commitgate.__all__) == sorted(commitgate.__all__)
    assert all(hasattr(commitgate, name) for name in commitgate.__all__)


def test_public_names_have_docstrings() -> None:
    undocumented = [
        name
        for name in commitgate.__all__
        if isinstance(getattr(commitgate, name), type) and not getattr(commitgate, name).__doc__
    ]
    assert undocumented == []


def test_public_names_are_those_of_the_reference() -> None:
    reference = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(\w+)` \|", reference.split("## The command line")[0], flags=re.MULTILINE)
    assert documented == list(commitgate.__all__)
