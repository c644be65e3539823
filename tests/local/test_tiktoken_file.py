"""Rank files become tokenizers that split as tiktoken does, or are refused with the reason."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commitgate import Regex
from commitgate.errors import MisuseError, ModelLoadError
from commitgate_local import MaskEngine, Vocabulary, read_tiktoken
from commitgate_local.tokenizer import Tokenizer

BYTES = [bytes((byte,)) for byte in range(256)]
WORDS = [b"th", b"the", b" the", b"\xc3\xa9", b"\xe6\x97", b"  ", b'":']
PATTERN = r" ?\w+|\s+|[^\w\s]+"
SPECIAL = {"<|endoftext|>": 300, "<|stop|>": 301}


def ranks_of(*words: bytes) -> dict[bytes, int]:
    return {token: rank for rank, token in enumerate([*BYTES, *words])}


def write(folder: Path, ranks: Mapping[bytes, int]) -> Path:
    path = folder / "small.tiktoken"
    path.write_bytes(b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    return path


def read(folder: Path, *words: bytes, pattern: str = PATTERN) -> Tokenizer:
    path = write(folder, ranks_of(*words))
    return read_tiktoken(path, pattern=pattern, special_tokens=SPECIAL, stop_tokens=["<|stop|>"])


def joined(word: bytes, ranks: Mapping[bytes, int]) -> list[int]:
    """Return the ranks of a word by tiktoken's rule: the pair with the lowest rank is joined first, leftmost first."""
    if word in ranks:
        return [ranks[word]]
    parts = [word[at : at + 1] for at in range(len(word))]
    while len(parts) > 1:
        pairs = [(ranks.get(a + b, 1 << 30), at) for at, (a, b) in enumerate(pairwise(parts))]
        rank, at = min(pairs)
        if rank == 1 << 30:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [ranks[part] for part in parts]


def test_ranks_are_ids_and_ends_and_gaps_are_never_text(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, *WORDS)
    vocabulary = Vocabulary.of_tokenizer(tokenizer, width=310)
    assert list(vocabulary.tokens[: 256 + len(WORDS)]) == [*BYTES, *WORDS]
    assert set(vocabulary.tokens[256 + len(WORDS) :]) == {None}
    assert vocabulary.stop_ids == (300, 301)
    matcher = MaskEngine(tokenizer).matcher(Regex("the é"))
    for token in tokenizer.encode("the é"):
        assert matcher.mask()[token]
        matcher.advance(token)
    assert matcher.mask().nonzero()[0].tolist() == [300, 301]


def test_spelling_of_a_special_token_in_a_text_stays_text(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, *WORDS)
    ids = tokenizer.encode("a<|endoftext|>b")
    assert max(ids) < 300
    assert tokenizer.decode(ids) == "a<|endoftext|>b"


def test_pattern_that_leaves_a_special_token_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="for one word"):
        read(tmp_path, *WORDS, pattern=r" ?\S+|\s+")


@settings(max_examples=60, deadline=None)
@example([(0, 1), (1, 2)], "abc")
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12), st.text("ab c", max_size=20))
def test_texts_are_split_as_tiktoken_does(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]], text: str
) -> None:
    words = [b"a", b"b", b"c", b" "]
    for left, right in pairs:
        word = words[left % len(words)] + words[right % len(words)]
        if word not in words and len(word) <= 12:
            words.append(word)
    ranks = ranks_of(*words[4:])
    # The order of lines says nothing.
    path = write(tmp_path_factory.mktemp("ranks"), dict(reversed(ranks.items())))
    tokenizer = read_tiktoken(path, pattern=PATTERN)
    wanted = [rank for word in re.findall(PATTERN, text) for rank in joined(word.encode(), ranks)]
    assert tokenizer.encode(text) == wanted


def test_path_may_be_a_text() -> None:
    with pytest.raises(ModelLoadError):
        read_tiktoken("absent.tiktoken", pattern=r"\s+")


def test_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="cannot be read"):
        read_tiktoken(tmp_path / "none", pattern=PATTERN)


GOOD = b"".join(b64encode(token) + b" %d\n" % rank for rank, token in enumerate(BYTES))
BROKEN = {
    "cut within a line": (GOOD[:-8] + b"/", "line 256"),
    "cut between lines": (b"\n".join(GOOD.split(b"\n")[:200]), "byte 0xC8 alone"),
    "no base64": (GOOD + b"?? 256\n", "line 257"),
    "no rank": (GOOD + b"YWI=\n", "line 257"),
    "no number": (GOOD + b"YWI= x\n", "line 257"),
    "rank below zero": (GOOD + b"YWI= -1\n", "line 257"),
    "digits of another script": (GOOD + "YWI= ٣\n".encode(), "line 257"),
    "empty token": (GOOD + b" 256\n", "line 257"),
    "token too long": (GOOD + b64encode(b"a" * 1025) + b" 256\n", "1025 bytes"),
    "token twice": (GOOD + b"YQ== 256\n", "stood there before"),
    "rank twice": (GOOD + b"YWI= 5\n", "the same rank"),
    "nothing": (b"", "byte 0x00 alone"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_file_is_an_error_that_says_where(tmp_path: Path, fault: str) -> None:
    data, message = BROKEN[fault]
    path = tmp_path / "broken.tiktoken"
    path.write_bytes(data)
    with pytest.raises(ModelLoadError, match=message):
        read_tiktoken(path, pattern=PATTERN)


def test_pattern_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="Oniguruma"):
        read(tmp_path, pattern="(")


def test_special_tokens_that_do_not_fit_are_misuse(tmp_path: Path) -> None:
    path = write(tmp_path, ranks_of(b"<|a|>"))
    for special, stops in (
        ({"<|x|>": 5}, []),
        ({"<|x|>": -1}, []),
        ({"": 300}, []),
        ({"<|x|>": 300, "<|y|>": 300}, []),
        ({"<|a|>": 300}, []),
        ({"<|x|>": 300}, ["<|y|>"]),
    ):
        with pytest.raises(MisuseError):
            read_tiktoken(path, pattern=PATTERN, special_tokens=special, stop_tokens=stops)
