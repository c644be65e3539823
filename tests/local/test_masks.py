"""A mask holds exactly the tokens after which the text can still be finished."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from commitgate.automaton.deferred import Capture, Follow
from commitgate.automaton.partition import Partition
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import Length, none_of
from commitgate.automaton.terms import Arena, Term
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate_local.engine import MaskEngine
from commitgate_local.local_model import LocalModel
from commitgate_local.vocabulary import Vocabulary
from commitgate_local.walk import Mask

Oracle = Callable[[Vocabulary, Term], Mask]
Words = Callable[..., MaskEngine]

DIGITS = sum(1 << byte for byte in b"0123456789")
LETTERS = sum(1 << byte for byte in range(0x61, 0x7B))


class LettersLeaf(Term):
    """Denote some letters and then a full stop: a leaf whose walk is shared, for toy vocabularies."""

    __slots__ = ("least",)

    def __init__(self, arena: Arena, least: int) -> None:
        super().__init__(arena, nullable=False)
        self.least = least

    @staticmethod
    def make(arena: Arena, least: int) -> LettersLeaf:
        return arena.intern((LettersLeaf, least), lambda: LettersLeaf(arena, least))

    @property
    def shared_key(self) -> tuple[object, ...]:
        return (LettersLeaf, self.least)

    def saturated(self, reach: int) -> Term:
        return LettersLeaf.make(self.arena, min(self.least, reach + 1))

    def _partition(self) -> Partition:
        keys = dict.fromkeys(range(0x61, 0x7B), "letter")
        return Partition.of(keys if self.least else {**keys, ord("."): "stop"})

    def _derive(self, byte: int) -> Term:
        return self.arena.epsilon if byte == ord(".") else LettersLeaf.make(self.arena, max(0, self.least - 1))


class FreeLeaf(Term):
    """Denote at least some letters: a shared leaf that may end at any time."""

    __slots__ = ("least",)

    def __init__(self, arena: Arena, least: int) -> None:
        super().__init__(arena, nullable=least == 0)
        self.least = least

    @staticmethod
    def make(arena: Arena, least: int) -> FreeLeaf:
        return arena.intern((FreeLeaf, least), lambda: FreeLeaf(arena, least))

    @property
    def shared_key(self) -> tuple[object, ...]:
        return (FreeLeaf, self.least)

    def _partition(self) -> Partition:
        return Partition.of(dict.fromkeys(range(0x61, 0x7B), "letter"))

    def _derive(self, byte: int) -> Term:
        return FreeLeaf.make(self.arena, max(0, self.least - 1))


class NotTwice(Follow):
    """Allow every captured text but some; then ``rest``."""

    def __init__(self, forbidden: frozenset[bytes], rest: bytes) -> None:
        self._key = (forbidden, rest)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotTwice) and self._key == other._key

    @property
    def is_transient(self) -> bool:
        return False

    @property
    def longest_bytes(self) -> int:
        return 1_000

    @property
    def place(self) -> str | None:
        return None

    def after(self, arena: Arena, captured: bytes) -> Term:
        forbidden, rest = self._key
        return arena.empty if captured in forbidden else arena.literal(rest)


def legal_tokens(engine: MaskEngine, state: Term) -> set[bytes | None]:
    mask = engine.matcher_of(state).mask()
    return {engine.vocabulary.tokens[number] for number in np.flatnonzero(mask)}


def test_whole_token_is_judged_not_its_beginning(words: Words) -> None:
    engine = words(b"re", b"ref", b"refund", b"refunds", b"refuse", b"ask", b"a", b"b")
    state = Arena().literal_set((b"ask", b"refund"))
    assert legal_tokens(engine, state) == {b"re", b"ref", b"refund", b"ask", b"a"}


def test_stop_is_legal_in_accept_states_alone(words: Words) -> None:
    engine = words(b"1", b"x")
    matcher = engine.matcher_of(Arena().run(DIGITS, 1))
    stop = engine.vocabulary.stop_ids[0]
    assert not matcher.mask()[stop]
    with pytest.raises(MisuseError):
        matcher.advance(stop)
    matcher.advance(0)
    assert matcher.mask()[stop]
    assert matcher.is_accepting
    assert not matcher.is_finished
    matcher.advance(stop)
    assert matcher.is_finished


def test_text_that_can_only_end_is_finished(words: Words) -> None:
    matcher = words(b"ok").matcher_of(Arena().literal(b"ok"))
    matcher.advance(0)
    assert matcher.is_finished
    assert matcher.is_accepting
    matcher.reset()
    assert not matcher.is_finished


def test_illegal_token_changes_nothing(words: Words) -> None:
    engine = words(b"a", b"b")
    matcher = engine.matcher_of(Arena().literal(b"aa"))
    for token in (1, 99, -1):
        with pytest.raises(MisuseError):
            matcher.advance(token)
    matcher.advance(0)
    assert matcher.explain() == "'a'"


def test_mask_cannot_be_changed_and_is_as_wide_as_the_logits() -> None:
    engine = MaskEngine(Vocabulary([b"a", b"b"], [3], width=8))
    mask = engine.matcher_of(Arena().run(LETTERS)).mask()
    assert mask.tolist() == [True, True, False, True, False, False, False, False]
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = False


def test_second_visit_computes_nothing(words: Words) -> None:
    engine = words(b"a", b"ab", b"abc")
    state = Arena().run(LETTERS, 2, 90)
    first = engine.matcher_of(state).mask()
    before = engine.stats().masks_computed
    assert engine.matcher_of(state).mask() is first
    assert engine.stats().masks_computed == before


def test_counters_beyond_any_token_share_one_mask(words: Words) -> None:
    engine = words(b"a", b"ab", b"abc")
    arena = Arena()
    masks = {id(engine.matcher_of(arena.run(LETTERS, least, 1000)).mask()) for least in range(10, 90)}
    assert len(masks) == 1
    assert legal_tokens(engine, arena.run(LETTERS, 0, 2)) == {b"a", b"ab", None}


def test_masks_stay_within_their_memory(words: Words) -> None:
    engine = MaskEngine(words(*(bytes((byte,)) for byte in range(256))).vocabulary, cache_bytes=20_000)
    arena = Arena()
    for number in range(500):
        engine.matcher_of(arena.literal(b"%d!" % number)).mask()
        assert engine.stats().cache_bytes <= 2 * 20_000 + 20_000 // 8
    assert 1 <= engine.stats().masks < 100


def test_leaf_is_walked_once_for_every_arena(words: Words, oracle: Oracle) -> None:
    engine = words(b"a", b"ab", b"b.", b".", b".,", b".,a", b"a.,ab", b"a.;", b",", b",a", b"a.,ab.", b"x.,ab.!")
    for rest in (b",ab.", b",", b";"):
        arena = Arena()
        state = arena.chain(LettersLeaf.make(arena, 0), arena.literal(rest))
        assert engine.matcher_of(state).mask().tolist() == oracle(engine.vocabulary, state).tolist()
    assert engine.stats().shared_leaves == 1


def test_captured_text_decides_what_may_follow(words: Words, oracle: Oracle) -> None:
    engine = words(b"a", b"b", b".", b"b.", b"a.", b"ab.", b"b.:", b"b.;", b"ab.:", b"ab.:!", b"c.:")
    arena = Arena()
    follow = NotTwice(frozenset({b"ab.", b"aab.", b"."}), b":!")
    for captured in (b"", b"a", b"aa"):
        head = LettersLeaf.make(arena, 0)
        inner = Capture.make(arena, head, captured, follow)
        for state in (inner, arena.sequence(inner, arena.literal(b"!")), arena.choice((inner, arena.literal(b"b")))):
            assert engine.matcher_of(state).mask().tolist() == oracle(engine.vocabulary, state).tolist()
    assert legal_tokens(engine, Capture.make(arena, LettersLeaf.make(arena, 0), b"", follow)) == {
        *(b"a", b"b", b"b.", b"a.", b"b.:", b"c.:")
    }


def terms(arena: Arena) -> strategies.SearchStrategy[Term]:
    """Draw terms of every kind, shared leaves and captures among them."""
    short = strategies.binary(min_size=1, max_size=3).map(lambda data: bytes(b"ab.,"[byte % 4] for byte in data))
    leaves: strategies.SearchStrategy[Term] = strategies.one_of(
        short.map(arena.literal),
        strategies.sets(short, min_size=1, max_size=5).map(lambda texts: arena.literal_set(tuple(sorted(texts)))),
        strategies.tuples(
            strategies.sampled_from([LETTERS, DIGITS, LETTERS | 1 << 0x2E]), strategies.integers(0, 3)
        ).map(lambda drawn: arena.run(drawn[0], drawn[1], drawn[1] + 4)),
        strategies.integers(0, 9).map(lambda least: LettersLeaf.make(arena, least)),
        strategies.integers(0, 2).map(lambda least: FreeLeaf.make(arena, least)),
        strategies.tuples(strategies.sets(short, max_size=3), short).map(
            lambda drawn: Capture.make(
                arena, LettersLeaf.make(arena, 0), b"a", NotTwice(frozenset(b"a" + text for text in drawn[0]), drawn[1])
            )
        ),
    )
    return strategies.recursive(
        leaves,
        lambda inner: strategies.one_of(
            strategies.tuples(inner, inner).map(lambda pair: arena.sequence(*pair)),
            strategies.lists(inner, min_size=2, max_size=3).map(arena.choice),
        ),
        max_leaves=6,
    )


TOY = Vocabulary(
    [
        *(bytes((byte,)) for byte in b"ab.,1"),
        *(b"ab", b"ba", b"a.", b"b.", b".,", b"..", b".a", b"a.b", b"ab.a", b"a.,ab", b",a", b"1a", b"abab.,", b"aaaa"),
        None,
    ],
    [19],
    width=24,
)


@settings(max_examples=150, deadline=None)
@given(strategies.data())
def test_mask_is_what_walking_each_token_gives(oracle: Oracle, data: strategies.DataObject) -> None:
    arena = Arena()
    engine = MaskEngine(TOY)
    state = data.draw(terms(arena))
    for _ in range(4):
        mask = engine.matcher_of(state).mask()
        assert mask.tolist() == oracle(TOY, state).tolist()
        texts = [TOY.tokens[number] for number in np.flatnonzero(mask)]
        following = [text for text in texts if text is not None]
        if not following:
            break
        state = state.walk(data.draw(strategies.sampled_from(following)))


TICKET = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "priority": {"enum": ["low", "normal", "high", "höchste"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "amount": {"type": "number"},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "priority"],
}

OPEN = {"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": {"type": "string"}}


def agree(vocabulary: Vocabulary, state: Term, mask: Mask, chooser: random.Random) -> bool:
    """Return whether a mask is right for all tokens with a quote, for some others, and for all that are not text.

    Walking every token is the oracle of the other tests; where each captured text is a state of its own, that takes
    seconds a mask.
    """
    others = chooser.sample(range(vocabulary.width), 1_500)
    quoted = [number for number, token in enumerate(vocabulary.tokens) if token is None or b'"' in token]
    for number in {*others, *quoted} - set(vocabulary.stop_ids):
        token = vocabulary.tokens[number]
        if mask[number] != (token is not None and state.walk(token) is not state.arena.empty):
            return False
    return all(mask[stop] == state.nullable for stop in vocabulary.stop_ids)


@pytest.mark.model
@pytest.mark.parametrize("schema", [TICKET, OPEN], ids=["declared keys", "free keys"])
def test_masks_over_the_bundled_vocabulary_are_exact(bundled: LocalModel, schema: dict[str, object]) -> None:
    engine = bundled.engine
    chooser = random.Random(5)
    matcher = engine.matcher(Contract.of(schema))
    for _ in range(40):
        mask = matcher.mask()
        if matcher.is_finished:
            break
        assert agree(engine.vocabulary, matcher.state, mask, chooser), matcher.explain()
        stops = set(engine.vocabulary.stop_ids)
        legal = [number for number in np.flatnonzero(mask).tolist() if number not in stops]
        assert legal
        matcher.advance(chooser.choice(legal))


@pytest.mark.model
@pytest.mark.parametrize(("least", "most"), [(0, None), (0, 10_000), (3, 3), (0, 1), (0, 90), (70, 200)])
def test_inside_of_a_string_is_exact(bundled: LocalModel, oracle: Oracle, least: int, most: int | None) -> None:
    vocabulary = bundled.engine.vocabulary
    spelling = Spelling(is_canonical=True, alphabet=vocabulary.alphabet)
    arena = Arena()
    body = StringBody.make(arena, Length(least, most), spelling, "")
    start = arena.sequence(body, arena.literal(b', "n": "x"}'))
    for text in ("", "a", "\u65e5".encode()[:1], "\U0001f600".encode()[:2], b"\\", b"\\u0"):
        state = start.walk(text.encode() if isinstance(text, str) else text)
        if state is not arena.empty:
            mask = bundled.engine.matcher_of(state).mask()
            assert np.array_equal(mask, oracle(vocabulary, state))


@pytest.mark.model
def test_captured_keys_over_the_bundled_vocabulary_are_exact(bundled: LocalModel) -> None:
    vocabulary = bundled.engine.vocabulary
    spelling = Spelling(is_canonical=True, alphabet=vocabulary.alphabet)
    arena = Arena()
    head = StringBody.make(arena, none_of(("id", "name"), Length(0, 64)), spelling, "")
    start = Capture.make(arena, head, b"", NotTwice(frozenset({b'a"', b'note"', b'"'}), b": 1}"))
    for text in (b"", b"n", b"not", b"nam"):
        state = start.walk(text)
        assert agree(vocabulary, state, bundled.engine.matcher_of(state).mask(), random.Random(3))
