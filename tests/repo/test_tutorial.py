"""The tutorial and the quick starts work as they stand, in a folder of their own."""

from pathlib import Path

import pytest
from repo.program_files import programs, python, write_files


def passes(folder: Path, name: str) -> None:
    told = python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", name)
    assert "1 passed" in told


def test_test_of_the_tutorial_passes_without_a_model(tmp_path: Path) -> None:
    assert write_files("tutorial.md", tmp_path)[-1] == "test_desk.py"
    passes(tmp_path, "test_desk.py")
    assert not (tmp_path / "tickets.txt").exists()


@pytest.mark.model
def test_each_step_of_the_tutorial_works(tmp_path: Path) -> None:
    schema, *steps, test = write_files("tutorial.md", tmp_path)
    assert (schema, test) == ("ticket.py", "test_desk.py")
    first, cut, judged, watch, desk = programs(tmp_path, steps)
    assert first.startswith("committed\npriority=")
    assert cut.startswith("the answer was cut by its limit (max_tokens)")
    refused, asked_again = judged.splitlines()
    assert refused == "rules ['too_low']"
    assert asked_again.startswith("committed priority='high'")
    assert asked_again.endswith("attempts: 2")
    assert len(watch.splitlines()) > 5
    assert watch.endswith("\ncommitted\n")
    is_opened_once(tmp_path, desk)


def is_opened_once(folder: Path, desk: str) -> None:
    """Hold the last step to what the tutorial says of it, of another run of it, and of the ledger."""
    opened, replayed = desk.splitlines()
    assert opened.endswith("replayed: False")
    assert replayed == opened.replace("False", "True")
    assert python(folder, "desk.py") == f"{replayed}\n" * 2
    assert len((folder / "tickets.txt").read_text().splitlines()) == 1
    assert "committed" in python(folder, "-m", "commitgate", "ledger", "list", "--ledger", "desk.sqlite")
    assert "mail-17" in python(folder, "-m", "commitgate", "ledger", "show", "mail-17", "--ledger", "desk.sqlite")


def test_quick_start_is_the_same_program_in_both_languages(tmp_path: Path) -> None:
    files = {language: tmp_path / language for language in ("en", "zh")}
    for folder in files.values():
        folder.mkdir()
    english = write_files("quickstart.md", files["en"])
    assert write_files("zh/quickstart.md", files["zh"]) == english
    for name in english:
        assert (files["zh"] / name).read_text() == (files["en"] / name).read_text()
        if name.startswith("test_"):
            passes(files["en"], name)


@pytest.mark.model
def test_quick_start_works(tmp_path: Path) -> None:
    assert write_files("zh/quickstart.md", tmp_path)[0] == "quick.py"
    first = python(tmp_path, "quick.py")
    assert first.startswith("committed priority=")
    assert "replayed: False" in first
    assert "replayed: True" in python(tmp_path, "quick.py")
