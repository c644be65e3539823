"""The tree of a vocabulary holds every token at the end of its bytes, and nothing else."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, strategies

from commitgate_local.kept_arrays import ArrayFolder
from commitgate_local.trie import Trie
from commitgate_local.vocabulary import Vocabulary

tokens = strategies.lists(strategies.one_of(strategies.none(), strategies.binary(max_size=6)), max_size=40)


def ids_at(trie: Trie, node: int) -> list[int]:
    return sorted(trie.order[trie.first[node] : trie.first[node + 1]].tolist())


def assert_holds(trie: Trie, texts: list[bytes | None]) -> None:
    prefixes = {text[:end] for text in texts if text for end in range(len(text) + 1)} | {b""}
    paths = [trie.path(node) for node in range(len(trie))]
    assert sorted(paths) == paths == sorted(prefixes)
    for node, path in enumerate(paths):
        assert ids_at(trie, node) == [number for number, text in enumerate(texts) if text and text == path]
        below = trie.order[trie.first[node] : trie.first[trie.end[node]]].tolist()
        assert sorted(below) == [number for number, text in enumerate(texts) if text and text.startswith(path)]
        expected = sorted(other for other in prefixes if other[:-1] == path and other)
        assert [trie.path(child) for child in trie.children(node).values()] == expected
        assert list(trie.children(node)) == [other[-1] for other in expected]


@given(tokens)
def test_tree_holds_every_token_at_the_end_of_its_bytes(texts: list[bytes | None]) -> None:
    assert_holds(Trie(texts), texts)


def test_equal_tokens_share_a_node_and_zero_bytes_count() -> None:
    texts = [b"ab", b"a", b"ab", b"a\0", b"a\0\0", b"\0", None, b""]
    assert_holds(Trie(texts), list(texts))


def test_tree_of_no_tokens_is_its_root() -> None:
    assert len(Trie([])) == 1
    assert Trie([None]).children(0) == {}


def test_tree_longer_than_one_scratch_block_is_whole() -> None:
    texts = [b"%05d" % number for number in range(20_000)]
    trie = Trie(texts)
    assert len(trie) == 1 + 2 + 20 + 200 + 2_000 + 20_000
    assert trie.order[trie.first[0] : trie.first[trie.end[0]]].tolist() == list(range(20_000))


def test_tree_read_from_a_folder_is_the_same(tmp_path: Path) -> None:
    texts = [b"ab", b"a", None, b"abc"]
    vocabulary = Vocabulary(texts)
    Trie.kept(vocabulary, ArrayFolder(tmp_path / "new"))
    assert len(list((tmp_path / "new").iterdir())) == 1
    assert_holds(Trie.kept(vocabulary, ArrayFolder(tmp_path / "new")), list(texts))


def test_cut_file_is_built_again(tmp_path: Path) -> None:
    vocabulary = Vocabulary([b"ab", b"a"])
    Trie.kept(vocabulary, ArrayFolder(tmp_path))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert_holds(Trie.kept(vocabulary, ArrayFolder(tmp_path)), [b"ab", b"a"])
    assert path.stat().st_size == len(whole)


def test_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert len(Trie.kept(Vocabulary([b"a"]), ArrayFolder(tmp_path / "file"))) == 2
