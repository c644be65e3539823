"""What an engine keeps in a folder spares work, and is never used where it does not belong or is not whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commitgate import Contract, Limits
from commitgate.style import Style
from commitgate_local import kept_arrays
from commitgate_local.engine import MaskEngine
from commitgate_local.kept_arrays import ArrayFolder, read_arrays, write_arrays
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


def masks(
    folder: Path | None, *, tokens: list[bytes] = TOKENS, contract: Contract[Any] | None = None
) -> list[list[bool]]:
    """Return the masks along a text, from an engine that starts anew over the folder."""
    engine = MaskEngine(Vocabulary(tokens, [len(tokens)], width=len(tokens) + 1), cache_dir=folder)
    matcher = engine.matcher(contract or Contract.of(SCHEMA))
    found: list[list[bool]] = []
    for byte in TEXT:
        found.append(matcher.mask().tolist())
        matcher.advance(tokens.index(bytes((byte,))))
    found.append(matcher.mask().tolist())
    engine.close()
    assert engine.stats().folder_error is None
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
        {"tokens": [*TOKENS, b"bb"]},
        {"contract": Contract.of({**SCHEMA, "properties": {"id": {"type": "string", "pattern": "^[a-c]{2,5}y?$"}}})},
        {"contract": Contract.of(SCHEMA, limits=Limits(nesting=7))},
        {"contract": Contract.of(SCHEMA, style=Style(property_order="any"))},
    ],
    ids=["vocabulary", "language", "limits", "style"],
)
def test_each_part_of_the_key_makes_it_another(tmp_path: Path, walked: list[str], changed: dict[str, Any]) -> None:
    masks(tmp_path)
    files = set(tmp_path.iterdir())
    walked.clear()
    assert masks(tmp_path, **changed) == masks(None, **changed)
    assert set(tmp_path.iterdir()) > files
    assert "automaton" in walked


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
    masks(there, tokens=[*BYTES, b"cc", b"ab"])
    for mine, other in zip(sorted(here.iterdir()), sorted(there.iterdir()), strict=True):
        mine.write_bytes(other.read_bytes())
    assert masks(here) == first


def test_folder_that_cannot_be_written_costs_time_alone_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    engine = MaskEngine(Vocabulary(TOKENS), cache_dir=tmp_path / "file")
    assert engine.matcher(SCHEMA).mask().any()
    assert engine.stats().folder_error == "File exists"


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
