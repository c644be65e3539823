"""What an engine keeps in a folder spares work, and is never used where it does not belong or is not whole."""

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commitgate import Contract, Limits
from commitgate.style import Style
from commitgate_local import kept_arrays
from commitgate_local.engine import MaskEngine
from commitgate_local.kept_arrays import MOST_KEPT_FILES, ArrayFolder, read_arrays, write_arrays
from commitgate_local.kept_file import MOST_KEPT_BYTES
from commitgate_local.string_walk import StringWalks
from commitgate_local.trie import Trie
from commitgate_local.vocabulary import Vocabulary

SCHEMA = {"type": "object", "properties": {"id": {"type": "string", "pattern": "^[a-c]{2,5}x?$"}}, "required": ["id"]}
TEXT = b'{"id": "abc'
BYTES = [bytes((byte,)) for byte in range(256)]
TOKENS = [*BYTES, b"ab", b"abx", b'"', b'x"', b'c"}', b"cc", b"ca"]


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each tree that is built and each automaton that is walked."""
    notes: list[str] = []
    build, walk = Trie.__init__, StringWalks._of_automaton

    def building(self: Trie, *arguments: Any) -> None:
        notes.append("tree")
        build(self, *arguments)

    def walking(self: StringWalks, *arguments: Any) -> Any:
        notes.append("automaton")
        return walk(self, *arguments)

    monkeypatch.setattr(Trie, "__init__", building)
    monkeypatch.setattr(StringWalks, "_of_automaton", walking)
    return notes


def vocabulary(tokens: list[bytes] = TOKENS, *, padding: int = 1, stops: int = 1) -> Vocabulary:
    """Return a vocabulary whose stop ids and padding stand behind its tokens."""
    return Vocabulary(tokens, range(len(tokens), len(tokens) + stops), width=len(tokens) + padding)


def masks(
    folder: Path | None,
    *,
    over: Vocabulary | None = None,
    contract: Contract[Any] | None = None,
    error: str | None = None,
) -> list[list[bool]]:
    """Return the masks along a text, from an engine that starts anew over the folder."""
    over = over or vocabulary()
    engine = MaskEngine(over, cache_dir=folder)
    matcher = engine.matcher(contract or Contract.of(SCHEMA))
    found: list[list[bool]] = []
    for byte in TEXT:
        found.append(matcher.mask().tolist())
        matcher.advance(byte)
    found.append(matcher.mask().tolist())
    engine.close()
    assert engine.stats().folder_error == error
    return found


def test_second_start_builds_and_walks_nothing(tmp_path: Path, walked: list[str]) -> None:
    first = masks(tmp_path)
    assert set(walked) == {"tree", "automaton"}
    walked.clear()
    assert masks(tmp_path) == first
    assert walked == []
    assert masks(None) == first


@pytest.mark.parametrize(
    "changed",
    [
        {"over": vocabulary([*TOKENS, b"bb"])},
        {"over": vocabulary(padding=2)},
        {"over": vocabulary(padding=2, stops=2)},
        {"contract": Contract.of({**SCHEMA, "properties": {"id": {"type": "string", "pattern": "^[a-c]{2,5}y?$"}}})},
        {"contract": Contract.of(SCHEMA, limits=Limits(nesting=7))},
        {"contract": Contract.of(SCHEMA, style=Style(property_order="any"))},
    ],
    ids=["tokens", "width", "stop ids", "language", "limits", "style"],
)
def test_each_part_of_the_key_makes_it_another(tmp_path: Path, walked: list[str], changed: dict[str, Any]) -> None:
    masks(tmp_path)
    files = set(tmp_path.iterdir())
    expected = masks(None, **changed)
    walked.clear()
    assert masks(tmp_path, **changed) == expected
    assert set(tmp_path.iterdir()) > files
    assert set(walked) == ({"tree", "automaton"} if "over" in changed else {"automaton"})


def test_another_version_of_the_engine_reads_nothing(
    tmp_path: Path, walked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = masks(tmp_path)
    walked.clear()
    monkeypatch.setattr(kept_arrays, "ENGINE_VERSION", 0)
    assert masks(tmp_path) == first
    assert set(walked) == {"tree", "automaton"}


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    return data[:-1] + bytes((data[-1] ^ 1,))


@pytest.mark.parametrize("poison", [cut, flip, lambda data: b"", lambda data: data + b"\0", lambda data: b"\x93NUMPY"])
def test_poisoned_files_are_found_and_made_again(
    tmp_path: Path, walked: list[str], poison: Callable[[bytes], bytes]
) -> None:
    first = masks(tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(poison(path.read_bytes()))
    walked.clear()
    assert masks(tmp_path) == first
    assert set(walked) == {"tree", "automaton"}
    walked.clear()
    assert masks(tmp_path) == first
    assert walked == []


def test_file_of_another_vocabulary_is_not_taken_under_a_false_name(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    first = masks(here)
    masks(there, over=vocabulary([*BYTES, b"cc", b"ab"]))
    for mine, other in zip(sorted(here.iterdir()), sorted(there.iterdir()), strict=True):
        mine.write_bytes(other.read_bytes())
    assert masks(here) == first


def in_the_way(folder: Path) -> Path:
    (folder / "file").write_bytes(b"")
    return folder / "file"


def below_a_file(folder: Path) -> Path:
    return in_the_way(folder) / "cache"


def dangling(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "nowhere")
    return folder / "link"


def unnameable(folder: Path) -> Path:
    return folder / "a\0b"


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (in_the_way, "File exists"),
        (below_a_file, "Not a directory"),
        (dangling, "File exists"),
        (unnameable, "embedded null byte"),
    ],
)
def test_place_that_is_no_folder_costs_time_alone_and_is_told(
    tmp_path: Path, place: Callable[[Path], Path], error: str
) -> None:
    assert masks(place(tmp_path), error=error) == masks(None)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """Give a folder that this process may read and not write."""
    masks(tmp_path)
    for path in tmp_path.iterdir():
        path.chmod(0o444)
    tmp_path.chmod(0o555)
    # The administrator may write everywhere, so for a while be somebody else; nobody owns the id of all ones but two.
    own = os.geteuid()
    above = [folder for folder in tmp_path.parents if own == 0 and not folder.stat().st_mode & 1]
    for folder in above:
        folder.chmod(0o711)
    if own == 0:
        os.seteuid(65_534)
    yield tmp_path
    if own == 0:
        os.seteuid(own)
    for folder in above:
        folder.chmod(0o700)
    tmp_path.chmod(0o755)


def test_folder_that_is_only_read_serves_what_it_holds_and_takes_nothing(read_only: Path, walked: list[str]) -> None:
    held = set(read_only.iterdir())
    assert masks(read_only) == masks(None)
    walked.clear()
    masks(read_only)
    assert walked == []
    over = vocabulary([*TOKENS, b"bb"])
    assert masks(read_only, over=over, error="Permission denied") == masks(None, over=over)
    assert set(read_only.iterdir()) == held


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond what a table of contents takes: not for longer than needed, the tests' own log is one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_disk_that_fills_up_in_the_middle_of_a_file_keeps_none_of_it(tmp_path: Path) -> None:
    expected = masks(None)
    with full_disk():
        found = masks(tmp_path, error="File too large")
    assert found == expected
    assert list(tmp_path.iterdir()) == []


def test_link_to_a_folder_is_as_good_as_the_folder(tmp_path: Path, walked: list[str]) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    first = masks(tmp_path / "link")
    walked.clear()
    assert masks(tmp_path / "there") == first
    assert walked == []


def test_link_in_the_place_of_a_file_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    folder, outside = tmp_path / "cache", tmp_path / "outside"
    first = masks(folder)
    outside.write_bytes(b"mine")
    for path in folder.iterdir():
        path.unlink()
        path.symlink_to(outside)
    assert masks(folder) == first
    assert outside.read_bytes() == b"mine"
    assert not any(path.is_symlink() for path in folder.iterdir())


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_file_without_end_is_not_read(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    first = masks(folder)
    for path in folder.iterdir():
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            with path.open("wb") as file:
                file.truncate(MOST_KEPT_BYTES + 1)

    def read(path: Path) -> bytes:
        raise AssertionError(f"{path.name} would be read until memory ends")

    monkeypatch.setattr(Path, "read_bytes", read)
    assert masks(folder) == first
    monkeypatch.undo()
    assert masks(folder) == first


def test_folder_that_vanishes_in_the_middle_is_made_again(tmp_path: Path, walked: list[str]) -> None:
    folder = tmp_path / "cache"
    engine = MaskEngine(vocabulary(), cache_dir=folder)
    matcher = engine.matcher(SCHEMA)
    for byte in TEXT:
        matcher.advance(byte)
    shutil.rmtree(folder)
    assert matcher.mask().tolist() == masks(None)[-1]
    engine.close()
    assert engine.stats().folder_error is None
    walked.clear()
    assert masks(folder) == masks(None)
    assert "automaton" in walked
    assert len(list(folder.iterdir())) == 3


def test_what_could_not_be_kept_is_told_until_something_can(tmp_path: Path) -> None:
    folder = in_the_way(tmp_path)
    engine = MaskEngine(vocabulary(), cache_dir=folder)
    matcher = engine.matcher(SCHEMA)
    for byte in TEXT:
        matcher.advance(byte)
    matcher.mask()
    assert engine.stats().folder_error == "File exists"
    folder.unlink()
    engine.close()
    assert engine.stats().folder_error is None


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kept.arrays"
    write_arrays(path, {"numbers": np.arange(3, dtype=np.int32), "flags": np.array([True, False])})
    whole = path.read_bytes()
    held = read_arrays(path)
    assert held is not None
    assert {name: array.tolist() for name, array in held.items()} == {"numbers": [0, 1, 2], "flags": [True, False]}
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 0x40,)) + whole[at + 1 :])
        assert read_arrays(path) is None
        path.write_bytes(whole[:at])
        assert read_arrays(path) is None


def test_failed_write_leaves_nothing_behind_and_what_was_there(tmp_path: Path) -> None:
    folder = ArrayFolder(tmp_path)
    folder.put({"numbers": np.arange(3)}, "key")
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    kept.unlink()
    kept.mkdir()
    (kept / "in the way").write_bytes(whole)
    folder.put({"numbers": np.arange(4)}, "key")
    assert folder.error is not None
    assert list(tmp_path.iterdir()) == [kept]
    assert folder.get("key") is None


def test_folder_grows_no_further_and_keeps_what_is_used(tmp_path: Path) -> None:
    folder = ArrayFolder(tmp_path)
    for number in range(2 * MOST_KEPT_FILES):
        folder.put({"numbers": np.arange(3)}, "key", str(number))
        assert folder.get("key", "0") is not None
    assert MOST_KEPT_FILES // 2 <= len(list(tmp_path.iterdir())) <= MOST_KEPT_FILES
