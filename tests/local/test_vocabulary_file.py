"""A vocabulary is proven once for a tokenizer and a model, and read from the cache folder afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commitgate_local.tokenizer import Tokenizer
from commitgate_local.vocabulary import Vocabulary
from commitgate_local.vocabulary_file import read_vocabulary, tokenizer_digest, vocabulary_path, write_vocabulary


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    copied = tmp_path / "model"
    copied.mkdir()
    for path in tiny_folder.glob("*.json"):
        shutil.copy(path, copied)
    return copied


def kept(cache: Path) -> list[Path]:
    return sorted(cache.glob("*"))


def test_second_start_reads_what_the_first_one_proved(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = Vocabulary.of_tokenizer(Tokenizer.load(folder), width=448, stop_ids=[440], cache_dir=cache)
    (path,) = kept(cache)

    class Unread(Tokenizer):
        """Fail where its tokens are looked at."""

        @property
        def strings(self) -> list[str | None]:
            raise AssertionError("the tokens were read again")

    again = Unread(Tokenizer.load(folder)._fast, digest=tokenizer_digest(folder))
    second = Vocabulary.of_tokenizer(again, width=448, stop_ids=[440], cache_dir=cache)
    assert (second.tokens, second.stop_ids, second.width) == (first.tokens, first.stop_ids, first.width)
    assert second.fingerprint == first.fingerprint
    assert kept(cache) == [path]


CHANGES: dict[str, Callable[[Path], object]] = {
    "tokens": lambda folder: edit(folder / "tokenizer.json", "<|im_start|>", "<|im_begin|>"),
    "configuration": lambda folder: edit(folder / "tokenizer_config.json", "<|im_end|>", "<|endoftext|>"),
    "special tokens": lambda folder: (folder / "special_tokens_map.json").write_text("{}"),
    "added tokens": lambda folder: (folder / "added_tokens.json").write_text("{}"),
}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_the_tokenizer_is_another_digest(folder: Path, change: str) -> None:
    before = tokenizer_digest(folder)
    CHANGES[change](folder)
    assert tokenizer_digest(folder) != before


def test_another_tokenizer_or_model_never_reads_the_same_file(tmp_path: Path) -> None:
    paths = {
        vocabulary_path(tmp_path, digest, width=width, stop_ids=stops)
        for digest in ("a", "b")
        for width in (None, 1, 11)
        for stops in ([1], [2], [1, 2], [12])
    }
    assert len(paths) == 24
    assert vocabulary_path(tmp_path, "a", width=1, stop_ids=[2, 1, 2]) in paths


def test_tokenizer_without_files_of_its_own_is_proven_each_time(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    tokenizer = Tokenizer(Tokenizer.load(folder)._fast)
    assert Vocabulary.of_tokenizer(tokenizer, width=448, cache_dir=cache).width == 448
    assert kept(cache) == []
    assert tokenizer_digest(tmp_path) is None


SMALL = Vocabulary([b"a", None, b"\x00\xff", b"", b"word"], [1], width=7)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "small.vocabulary"
    write_vocabulary(path, SMALL)
    found = read_vocabulary(path)
    assert found is not None
    assert (found.tokens, found.stop_ids, found.width) == (SMALL.tokens, SMALL.stop_ids, SMALL.width)
    assert kept(path.parent) == [path]


def test_file_cut_anywhere_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "small.vocabulary"
    write_vocabulary(path, SMALL)
    data = path.read_bytes()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        assert read_vocabulary(path) is None


def test_file_with_any_byte_changed_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "small.vocabulary"
    write_vocabulary(path, SMALL)
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes((data[at] ^ 0x55,)) + data[at + 1 :])
        assert read_vocabulary(path) is None
    path.write_bytes(data + b"more")
    assert read_vocabulary(path) is None
    path.write_bytes(data)
    assert read_vocabulary(path) is not None


def test_file_of_another_tokenizer_is_not_used(tmp_path: Path) -> None:
    path, other = tmp_path / "small", tmp_path / "other"
    write_vocabulary(path, SMALL)
    shutil.copy(path, other)
    assert read_vocabulary(other) is None


def test_broken_file_is_made_anew(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = Vocabulary.of_tokenizer(Tokenizer.load(folder), width=448, cache_dir=cache)
    (path,) = kept(cache)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    again = Vocabulary.of_tokenizer(Tokenizer.load(folder), width=448, cache_dir=cache)
    assert again.fingerprint == first.fingerprint
    assert read_vocabulary(path) is not None


def test_folder_that_cannot_be_written_costs_nothing_but_time(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    found = Vocabulary.of_tokenizer(Tokenizer.load(folder), width=448, cache_dir=blocked / "cache")
    assert found.width == 448
