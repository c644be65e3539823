"""Test that a test which leaves the process changed is found out."""

import decimal
import os
import resource
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from process_state import changes, process_state

_Change = Callable[[pytest.MonkeyPatch, Path], object]


def _set_file_mask(patch: pytest.MonkeyPatch, folder: Path) -> None:
    os.umask(0o011)


def _raise_recursion_limit(patch: pytest.MonkeyPatch, folder: Path) -> None:
    sys.setrecursionlimit(sys.getrecursionlimit() + 1)


def _lower_open_files(patch: pytest.MonkeyPatch, folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))


_CHANGES: dict[str, _Change] = {
    "environment variable LEFT_BEHIND": lambda patch, folder: patch.setenv("LEFT_BEHIND", "secret"),
    "environment variable PATH": lambda patch, folder: patch.delenv("PATH"),
    "working folder": lambda patch, folder: patch.chdir(folder),
    "umask": _set_file_mask,
    "sys.path": lambda patch, folder: patch.setattr(sys, "path", [*sys.path, str(folder)]),
    "sys.stdin": lambda patch, folder: patch.setattr(sys, "stdin", None),
    "modules made missing": lambda patch, folder: patch.setitem(sys.modules, "left_behind", None),
    "tracemalloc": lambda patch, folder: tracemalloc.start(),
    "decimal context": lambda patch, folder: patch.setattr(decimal.getcontext(), "prec", 7),
    "recursion limit": _raise_recursion_limit,
    "resource.RLIMIT_NOFILE": _lower_open_files,
}


@pytest.fixture
def undone() -> object:
    """Undo what ``monkeypatch`` cannot."""
    mask, depth, files = os.umask(0o077), sys.getrecursionlimit(), resource.getrlimit(resource.RLIMIT_NOFILE)
    os.umask(mask)
    yield
    os.umask(mask)
    sys.setrecursionlimit(depth)
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
    tracemalloc.stop()


@pytest.mark.parametrize("name", _CHANGES)
def test_what_is_left_changed_is_named_and_its_value_is_not_told(
    name: str, undone: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = process_state()
    _CHANGES[name](monkeypatch, tmp_path)
    assert changes(before, process_state()) == [name]
