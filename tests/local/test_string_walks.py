"""The inside of a string, walked by characters, is what it is walked byte by byte; for every state and vocabulary."""

from collections.abc import Callable

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from commitgate.automaton.json_schema.patterns import language_of_pattern
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import CharacterState, Length, none_left
from commitgate.automaton.terms import Arena
from commitgate.automaton.text_language import bounded
from commitgate_local.leaf_walk import LeafWalk, walked_by_bytes
from commitgate_local.string_walk import StringWalks
from commitgate_local.trie import Trie
from commitgate_local.walk import Walker

LETTERS = 'ab"\\/n\n\x00\x1fé€😀\ud7ff￿ߠࠀ'
PATTERNS = [
    "^[a-b]*$",
    "^a.*b$",
    "^(ab|é)+$",
    "^.{2}$",
    "^[^a]*$",
    "^(a|€€)b?$",
    "^[é-\U0001f600]+$",
    "\n",
    "^a{3,}$",
    "^(a+|bb)$",
]
WORDS = ("a", "ab", "abab", "b", "é", "é😀", '"', "\n", "")
PIECES = [
    *(
        bytes((byte,))
        for byte in (*b'aabb"\\nu0f', 0, 0x1F, 0x7F, 0x80, 0xA0, 0xBF, 0xC1, 0xE0, 0xED, 0xF0, 0xF5, 0xFF)
    ),
    *(character.encode("utf-8", "surrogatepass") for character in LETTERS),
    b'"',
    b'":',
    b'a"',
    b'ab",',
    b"\\n",
    b"\\u00",
    b"\\u001f",
    b"\\u000a",
    b"\\u0041",
    b'\\"',
    b"\xc3",
    b"\xa9",
    b"\xf0\x9f",
    b"\x98\x80",
    b"\xe2\x82",
    b"\xe0\x9f",
    b"\xed\xa0",
    b"\xf4\x90",
]

bounds = st.tuples(st.integers(0, 4), st.none() | st.integers(0, 5)).filter(lambda pair: pair[0] <= (pair[1] or 9))
tokens = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(b"".join), min_size=1, max_size=60)
alphabets = st.none() | st.frozensets(st.integers(0, 255), max_size=6).map(
    lambda missing: bytes(byte for byte in range(256) if byte not in missing)
)


def of_pattern(pattern: str, least: int, most: int | None) -> CharacterState | None:
    found = language_of_pattern(pattern, "", "pattern")
    limited = None if found is None else bounded(found.dfa, max(found.least, least), most)
    return None if limited is None else limited.state()


plain_states = st.one_of(
    bounds.map(lambda pair: Length(*pair)),
    st.builds(lambda pattern, pair: of_pattern(pattern, *pair), st.sampled_from(PATTERNS), bounds),
)
states = st.one_of(
    plain_states,
    st.builds(
        lambda base, texts: None if base is None else none_left(tuple(sorted(texts)), base),
        plain_states,
        st.frozensets(st.sampled_from(WORDS), min_size=1, max_size=5),
    ),
)


def seen(walk: LeafWalk) -> tuple[set[int], set[int]]:
    inside = walk.ids if walk.inside is None else np.flatnonzero(walk.inside)
    return set(inside.tolist()), set(walk.exits.tolist())


def check(texts: list[bytes], state: CharacterState | None, alphabet: bytes | None, at: Callable[[Trie], int]) -> None:
    if state is None:
        return
    trie = Trie(texts)
    leaf = StringBody.make(Arena(), state, Spelling(is_canonical=True, alphabet=alphabet))
    node = at(trie)
    walk = Walker(trie, len(texts), 1_000_000, StringWalks(trie, len(texts))).leaf(leaf, node)
    assert seen(walk) == seen(walked_by_bytes(trie, len(texts), leaf, node))


@given(tokens, states, alphabets)
@example([b"\xe0\x9f\xbf", b"\xe0\x9f"], Length(0, None), None)
@example([b"\xc3\xa9", b"\xc3"], none_left(("é",), Length(1, 1)), None)
@example([b'ab"', b"ab", b"abc"], none_left(("ab",), Length(2, 2)), None)
@example([b"\xc2", b"\xc2\xbf"], of_pattern("^¿$", 0, None), None)
@example([b"bb", b"b"], of_pattern("^(a+|bb)$", 2, None), None)
@example([b"bb", b"b"], of_pattern("^(a+|bb)$", 2, 4), None)
@example([b"\xc3", b"a\xc3"], of_pattern("^(a|é)*$", 0, 1), None)
@example([b"\\n", b"\\"], none_left(("\n",), Length(0, None)), None)
def test_walk_from_the_root_is_the_one_by_bytes(
    texts: list[bytes], state: CharacterState | None, alphabet: bytes | None
) -> None:
    check(texts, state, alphabet, lambda trie: 0)


@given(tokens, states, alphabets)
def test_walk_from_behind_a_quote_is_the_one_by_bytes(
    texts: list[bytes], state: CharacterState | None, alphabet: bytes | None
) -> None:
    texts = [*texts, *(b'"' + text for text in texts)]
    check(texts, state, alphabet, lambda trie: trie.children(0)[ord('"')])


@given(tokens, st.sampled_from(PATTERNS), st.lists(bounds, min_size=2, max_size=6))
def test_states_that_differ_in_counts_share_a_walk_and_not_its_result(
    texts: list[bytes], pattern: str, counts: list[tuple[int, int | None]]
) -> None:
    trie, spelling = Trie(texts), Spelling(is_canonical=True)
    walker, arena = Walker(trie, len(texts), 1_000_000, StringWalks(trie, len(texts))), Arena()
    for least, most in counts:
        state = of_pattern(pattern, least, most)
        if state is not None:
            leaf = StringBody.make(arena, state, spelling)
            assert seen(walker.leaf(leaf, 0)) == seen(walked_by_bytes(trie, len(texts), leaf, 0))
