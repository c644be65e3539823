"""Objects that callers wrote are found by file or module and name, and what goes wrong is told without payload."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commitgate.errors import MisuseError
from commitgate.python_object import is_reference, load_file, load_object


@pytest.fixture(autouse=True)
def modules_are_forgotten() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not (getattr(sys.modules[name], "__file__", None) or "").startswith(sys.prefix):
            sys.modules.pop(name)


def test_object_of_a_file_is_found_with_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("NUMBER = 7\n")
    file = tmp_path / "some_suite.py"
    file.write_text("from beside_it import NUMBER\nclass Made:\n    value = NUMBER\n")
    assert load_object(f"{file}:Made.value", what="the suite") == 7


def test_one_file_is_run_once(tmp_path: Path) -> None:
    file = tmp_path / "run_once.py"
    file.write_text("class Made: ...\n")
    assert load_object(f"{file}:Made", what="it") is load_object(f"{file}:Made", what="it")


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "same_name.py").write_text(f"N = {number}\n")
    assert [load_object(f"{tmp_path}/{number}/same_name.py:N", what="it") for number in (1, 2)] == [1, 2]


def test_file_that_is_called_as_a_known_module_hides_none(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("N = 3\n")
    assert load_object(f"{tmp_path}/json.py:N", what="it") == 3
    assert sys.modules["json"].__name__ == "json"
    assert hasattr(sys.modules["json"], "dumps")


def test_object_of_a_module_is_found() -> None:
    import commitgate

    assert load_object("commitgate:Contract.of", what="it") is commitgate.Contract.of


def test_path_to_import_from_is_left_as_it_was(tmp_path: Path) -> None:
    before = list(sys.path)
    (tmp_path / "fine.py").write_text("N = 1\n")
    load_file(tmp_path / "fine.py", what="it")
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("N = 1\nraise ValueError('canary')\n", "raised ValueError at line 2"),
        ("import sys\n\nsys.exit('canary')\n", "raised SystemExit at line 3"),
        ("N = (\n", "raised SyntaxError at line 1"),
        ("import nothing_like_that\n", "raised ModuleNotFoundError at line 1"),
        ("M = 1\n", "has no N"),
    ],
)
def test_code_that_fails_is_told_by_its_line_and_not_by_its_words(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "failing.py"
    file.write_text(text)
    with pytest.raises(MisuseError, match=told) as caught:
        load_object(f"{file}:N", what="the suite")
    assert "canary" not in str(caught.value)
    assert str(caught.value).startswith("the suite: ")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("file.py", "file.py:NAME"),
        ("file.py:", "file.py:NAME"),
        ("file.py:not a name", "file.py:NAME"),
        ("nowhere.py:N", "there is no file nowhere.py"),
        ("no_such_module_at_all:N", "there is no module no_such_module_at_all"),
        ("\u001b[31m.py:N", "there is no file"),
    ],
)
def test_reference_that_leads_nowhere_is_told(reference: str, told: str) -> None:
    with pytest.raises(MisuseError, match=told) as caught:
        load_object(reference, what="it")
    assert "\u001b" not in str(caught.value)


def test_windows_like_and_plain_file_names_are_no_references() -> None:
    assert is_reference("a/b.py:NAME")
    assert is_reference("a.b:NAME.inner")
    assert not is_reference("schema.json")
    assert not is_reference("C:/schema.json")
    assert not is_reference(":NAME")
