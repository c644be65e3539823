"""Forced runs are split as the tokenizer would split the whole text, and only as far as nothing can change."""

from __future__ import annotations

from pathlib import Path

import pytest

from commitgate.automaton.terms import Arena
from commitgate_local.forced import ForcedRuns
from commitgate_local.local_model import LocalModel
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.vocabulary import Vocabulary

LETTERS = sum(1 << byte for byte in range(0x61, 0x7B))


@pytest.fixture(scope="session")
def tokenizer(tiny_folder: Path) -> Tokenizer:
    return Tokenizer.load(tiny_folder)


@pytest.fixture
def runs(tiny: LocalModel, tokenizer: Tokenizer) -> ForcedRuns:
    return ForcedRuns(tokenizer, tiny.engine.vocabulary)


def test_whole_text_is_split_as_the_tokenizer_splits_it(runs: ForcedRuns, tokenizer: Tokenizer) -> None:
    text = '{"name": "Anna", "priority": "high"}'
    assert list(runs.tokens(Arena().literal(text.encode()), b"")) == tokenizer.encode(text)


def test_run_is_split_in_the_context_of_the_text_before(runs: ForcedRuns, tokenizer: Tokenizer) -> None:
    whole = tokenizer.encode('{"name": "Anna", "priority": "high"}')
    vocabulary = runs._vocabulary
    for cut in range(1, len(whole)):
        before = vocabulary.text(whole[:cut])
        after = vocabulary.text(whole[cut:])
        assert list(runs.tokens(Arena().literal(after), before)) == whole[cut:]


def test_text_already_written_is_not_split_again(runs: ForcedRuns, tokenizer: Tokenizer) -> None:
    # The tokenizer would write `name` as one token, but `na` is already there.
    vocabulary = runs._vocabulary
    assert len(tokenizer.encode('{"name')) < len(tokenizer.encode('{"na')) + len(tokenizer.encode("me"))
    ids = runs.tokens(Arena().literal(b'me": "Anna"'), b'{"na')
    assert vocabulary.text(ids) == b'me": "Anna"'


def test_tokens_that_what_follows_could_change_are_left_open(runs: ForcedRuns, tokenizer: Tokenizer) -> None:
    arena = Arena()
    vocabulary = runs._vocabulary
    state = arena.chain(arena.literal(b'{"name": "An'), arena.run(LETTERS, 1, 9), arena.literal(b'"}'))
    ids = list(runs.tokens(state, b""))
    assert ids
    written = vocabulary.text(ids).decode()
    assert '{"name": "An'.startswith(written)
    for more in ("na", "ton", "z", "printer"):
        whole = tokenizer.encode('{"name": "An' + more + '"}')
        assert whole[: len(ids)] == ids


def test_nothing_is_forced_where_there_is_a_choice(runs: ForcedRuns) -> None:
    arena = Arena()
    assert not runs.tokens(arena.literal_set((b"ask", b"refund")), b"")
    assert not runs.tokens(arena.epsilon, b"x")
    assert not runs.tokens(arena.choice((arena.epsilon, arena.literal(b"more and more"))), b"x")


def test_nothing_is_forced_inside_a_character(runs: ForcedRuns) -> None:
    raw = "日本".encode()
    assert not runs.tokens(Arena().literal(raw[1:]), b"x" + raw[:1])


def test_run_that_stops_inside_a_character_is_cut_before_it(runs: ForcedRuns) -> None:
    arena = Arena()
    state = arena.sequence(arena.literal(b'{"name": "'), arena.literal_set(tuple(sorted(("é".encode(), "è".encode())))))
    vocabulary = runs._vocabulary
    assert b'{"name": "'.startswith(vocabulary.text(runs.tokens(state, b"")))


def test_tokenizer_that_changes_the_text_forces_nothing_wrong() -> None:
    class Lowering:
        def encode_all(self, texts: list[str]) -> list[list[int]]:
            return [[b"ab".index(character) for character in text.lower().encode()] for text in texts]

    vocabulary = Vocabulary([b"a", b"b", b"A", b"B"])
    runs = ForcedRuns(Lowering(), vocabulary)
    assert vocabulary.text(runs.tokens(Arena().literal(b"abAB"), b"")) == b"ab"


def test_very_long_run_is_fed_in_pieces(runs: ForcedRuns) -> None:
    vocabulary = runs._vocabulary
    text = b'{"order": {"id": 4711, "note": "left at the door"}} ' * 40
    state = Arena().literal(text)
    written = b""
    while ids := runs.tokens(state, written):
        piece = vocabulary.text(ids)
        state = state.walk(piece)
        written += piece
        assert len(piece) <= 520
    assert written == text
