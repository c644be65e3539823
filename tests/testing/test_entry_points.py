"""A backend that another package brings is found by its name, and one that is broken says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
from guide import blocks_of
from testing.recorded_answers import TEXT

from commitgate import Client, Committed
from commitgate.backends.registry import BackendRegistry
from commitgate.cli.app import run
from commitgate.errors import BackendError, CommitgateError, MisuseError, UnknownModelError

MODULE = f"""
from commitgate.backends.base import BackendIdentity, Finish, FinishReason, TextDelta
from contextlib import asynccontextmanager
closed = []

class Stream:
    identity = BackendIdentity(backend="toy", model="m")

    async def __aiter__(self):
        yield TextDelta({TEXT.encode()!r})
        yield Finish(FinishReason.STOP, "stop")

class Toy:
    name = "toy"

    @asynccontextmanager
    async def open(self, request):
        yield Stream()

    async def aclose(self):
        closed.append(self)

number = 7

def nothing():
    return None

def broken():
    raise OSError("no such server")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a package with backends."""
    (tmp_path / "toy_of_others.py").write_text(MODULE, encoding="utf-8")
    information = tmp_path / "toy_of_others-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toy-of-others\nVersion: 1.0\n", encoding="utf-8"
    )
    names = {
        "toy": "toy_of_others:Toy",
        "local": "toy_of_others:nothing",
        "vllm": "toy_of_others:nothing",
        "number": "toy_of_others:number",
        "nothing": "toy_of_others:nothing",
        "broken": "toy_of_others:broken",
        "missing": "toy_of_nobody:Toy",
        "renamed": "toy_of_others:Gone",
    }
    lines = "\n".join(f"{name} = {place}" for name, place in names.items())
    (information / "entry_points.txt").write_text(f"[commitgate.backends]\n{lines}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    invalidate_caches()
    yield tmp_path
    sys.modules.pop("toy_of_others", None)
    invalidate_caches()


@pytest.mark.anyio
async def test_backend_of_another_package_answers_and_is_closed(installed: Path) -> None:
    async with Client() as client:
        for _ in range(2):
            outcome = await client.generate_structured("toy/m", {"type": "object"}, prompt="say")
            assert isinstance(outcome, Committed)
    assert outcome.value == {"city": "Quito", "alt": 2850}
    assert len(sys.modules["toy_of_others"].closed) == 1, "one was made for both calls"


@pytest.mark.parametrize("name", ["number", "nothing", "broken", "missing", "renamed"])
def test_broken_entry_point_is_a_typed_error_that_names_it(installed: Path, name: str) -> None:
    with pytest.raises(CommitgateError, match=name):
        BackendRegistry({}).find(f"{name}/m")


def test_error_of_a_broken_entry_point_is_the_cause(installed: Path) -> None:
    with pytest.raises(BackendError) as raised:
        BackendRegistry({}).find("broken/m")
    assert isinstance(raised.value.__cause__, OSError)
    assert "no such server" not in str(raised.value), "it may hold anything"


def test_name_that_two_packages_bring_is_refused(installed: Path) -> None:
    information = installed / "toy_of_nobody-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toy-of-nobody\nVersion: 1.0\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text("[commitgate.backends]\ntoy = toy_of_nobody:Toy\n", encoding="utf-8")
    invalidate_caches()
    with pytest.raises(MisuseError, match="toy_of_nobody:Toy and toy_of_others:Toy"):
        BackendRegistry({}).find("toy/m")


def test_own_names_are_not_taken_from_others(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:1")
    found, model = BackendRegistry({}).find("vllm/m")
    assert (found.name, model) == ("vllm", "m")


def test_unknown_name_lists_those_of_others(installed: Path) -> None:
    with pytest.raises(UnknownModelError, match="toy"):
        BackendRegistry({}).find("nobody/m")


def test_toy_of_the_guide_is_made_from_its_environment(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy_of_others.py").write_text(blocks_of("backends.md")[0] + "\nToy = toy\n", encoding="utf-8")
    with pytest.raises(MisuseError, match="TOY_BASE_URL"):
        BackendRegistry({}).find("toy/m")
    monkeypatch.setenv("TOY_BASE_URL", "http://127.0.0.1:1")
    assert BackendRegistry({}).find("toy/m")[0].name == "toy"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 30, "http://127.0.0.1:9"),
        (["--base-url", "http://127.0.0.1:9"], 30, "http://127.0.0.1:9"),
        (["--base-url", "http://127.0.0.1:10"], 2, "leave --base-url and --api out"),
        (["--api", "other"], 2, "leave --base-url and --api out"),
    ],
)
def test_backend_of_another_package_is_probed(
    installed: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    told: str,
) -> None:
    toy = blocks_of("backends.md")[0] + "\nToy = toy\n"
    (installed / "toy_of_others.py").write_text(toy, encoding="utf-8")
    monkeypatch.setenv("TOY_BASE_URL", "http://127.0.0.1:9")
    assert run(["probe", "--backend", "toy", "--model", "m", "--no-keep", *words]) == code
    assert told in "".join(capsys.readouterr())
