"""What holds for every pattern, grammar, list of choices, machine and for any JSON."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from random import Random

import pytest
from automaton.text_making import Walked, choices, grammars, machines, regexes
from automaton.text_walking import finish, write
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import Automaton, Term, compile
from commitgate.errors import UnsatisfiableError
from commitgate.languages import AnyJson, Choices, Regex, TextSource

ASCII = bytes(range(0x80))
GAPS = bytes(byte for byte in range(256) if byte not in (0x00, 0x01, 0x1F, 0x7F, 0xF1, 0xF2))
"""The bytes of a vocabulary that lacks some, as that of the bundled model does."""

LINE_ENDS = set("\n\r\u2028\u2029")

ANY_JSON = [AnyJson(), AnyJson(nesting=1), AnyJson(nesting=3, root="object")]

sources: st.SearchStrategy[TextSource | AnyJson] = st.one_of(
    regexes(), grammars(), choices(), machines().map(lambda walked: walked.machine), st.sampled_from(ANY_JSON)
)
seeds = st.integers(0, 2**32).map(Random)


def both(source: TextSource | AnyJson, alphabet: bytes | None = None) -> tuple[Automaton, Automaton] | None:
    """Return the automata that read and that write; None where no text satisfies the source."""
    try:
        return compile(source), compile(source, dialect="generate", alphabet=alphabet)
    except UnsatisfiableError:
        return None


@settings(max_examples=60, deadline=None)
@given(source=sources, draw=seeds)
def test_what_is_written_is_accepted(source: TextSource | AnyJson, draw: Random) -> None:
    if (pair := both(source)) is None:
        return
    accept, generate = pair
    for _ in range(4):
        text = write(generate.start, draw, length=20)
        assert accept.accepts(text), text
        assert text.decode("utf-8").encode() == text


@settings(max_examples=60, deadline=None)
@given(source=sources, draw=seeds, alphabet=st.sampled_from([ASCII, GAPS, None]))
def test_a_walk_over_the_bytes_there_are_can_always_be_finished(
    source: TextSource | AnyJson, draw: Random, alphabet: bytes | None
) -> None:
    if (pair := both(source, alphabet)) is None:
        return
    accept, generate = pair
    state: Term = generate.start
    text = b""
    for _ in range(25):
        if state is state.arena.empty:
            assert not text
            return
        rest = finish(state)
        assert rest is not None, text
        assert set(text + rest) <= set(range(256) if alphabet is None else alphabet)
        assert accept.accepts(text + rest), text + rest
        ways = list(state.successors())
        if not ways:
            return
        members, state = draw.choice(ways)
        text += bytes((draw.choice(members),))


@settings(max_examples=60, deadline=None)
@given(
    source=sources,
    draw=seeds,
    spoiled=st.sampled_from([b"", b"", b"!", b"\xff", b"\xc3", b'"', b"a"]),
    cuts=st.lists(st.integers(0, 40), max_size=5),
)
def test_acceptance_depends_on_no_cut(
    source: TextSource | AnyJson, draw: Random, spoiled: bytes, cuts: list[int]
) -> None:
    if (pair := both(source)) is None:
        return
    accept, generate = pair
    text = write(generate.start, draw, length=20)
    place = draw.randrange(len(text) + 1)
    text = text[:place] + spoiled + text[place:]
    whole, single, pieces = (accept.acceptor() for _ in range(3))
    whole.feed(text)
    for byte in text:
        single.feed(bytes((byte,)))
    for start, end in pairwise([0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]):
        pieces.feed(text[start:end])
    found = [(each.position, each.is_accepting, each.is_dead, each.explain()) for each in (whole, single, pieces)]
    assert found[0] == found[1] == found[2]
    assert whole.is_accepting == accept.accepts(text)


@settings(max_examples=60, deadline=None)
@given(source=regexes(), texts=st.lists(st.text("abABZ1.éÉ😀\n-", max_size=6), max_size=8), draw=seeds)
def test_a_pattern_accepts_what_python_matches(source: Regex, texts: list[str], draw: Random) -> None:
    if (pair := both(source)) is None:
        return
    flags = (re.IGNORECASE if "i" in source.flags else 0) | (re.DOTALL if "s" in source.flags else 0)
    written = [write(pair[1].start, draw, length=8).decode() for _ in range(3)]
    # Of what else is written, other characters end lines there, and others are cases of one letter.
    for text in [*texts, *(text for text in written if "i" not in source.flags and not LINE_ENDS & set(text))]:
        assert pair[0].accepts(text.encode()) == (re.fullmatch(source.pattern, text, flags) is not None), text


@settings(max_examples=60, deadline=None)
@given(source=choices(), others=st.lists(st.text('ab"\\\n. é', max_size=4), max_size=8))
def test_choices_accept_their_texts_and_no_other(source: Choices, others: list[str]) -> None:
    automaton = compile(source)
    members = set(source.texts)
    near = [text[:-1] for text in members] + [text + "a" for text in members]
    for text in [*members, *near, *others]:
        assert automaton.accepts(text.encode()) == (text in members), text


@settings(max_examples=60, deadline=None)
@given(walked=machines(), draw=seeds, cut=st.integers(0, 12), others=st.lists(st.text("ab0é[", max_size=5), max_size=4))
def test_a_machine_accepts_what_a_walk_over_its_edges_reads(
    walked: Walked, draw: Random, cut: int, others: list[str]
) -> None:
    accept, generate = compile(walked.machine), compile(walked.machine, dialect="generate")
    written = [write(generate.start, draw, length=10).decode() for _ in range(3)]
    for text in [*written, *(text[:cut] for text in written), *(text + "a" for text in written), *others]:
        assert accept.accepts(text.encode()) == walked.accepts(text), text
    assert all(map(walked.accepts, written))


@pytest.mark.parametrize("source", ANY_JSON, ids=str)
def test_any_json_is_written_within_its_bounds(source: AnyJson) -> None:
    generate = compile(source, dialect="generate")
    for seed in range(12):
        text = write(generate.start, random.Random(seed), length=50)
        value = json.loads(text)
        assert depth(value) <= source.nesting
        assert isinstance(value, dict) or source.root == "any"


def depth(value: object) -> int:
    match value:
        case dict():
            return 1 + max(map(depth, value.values()), default=0)
        case list():
            return 1 + max(map(depth, value), default=0)
        case _:
            return 0


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (["no", "not sure", "now", "n"], ["", "not", "not sur", "not sure ", "yes", "No"]),
        (["a.b", "a+b", "(x)", "[y]", "$5^", "a|b", "\\d"], ["axb", "aab", "x", "y", "$5", "a", "5"]),
        (
            ["first\nsecond", 'she said "so"', "back\\slash", "it's"],
            ["firstsecond", "first\\nsecond", "she said so", "back\\\\slash", '"it\'s"'],
        ),
        (["", "a"], [" ", "aa"]),
        (["é", "e\u0301", "日本", "日", "😀"], ["e", "本", "\u0301", "😁"]),
    ],
    ids=["begin each other", "signs of patterns", "quotes and line feeds", "the empty text", "beyond ASCII"],
)
def test_choices_are_taken_word_for_word(texts: list[str], others: list[str]) -> None:
    automaton = compile(Choices(texts))
    assert [text for text in texts if not automaton.accepts(text.encode())] == []
    assert [text for text in others if automaton.accepts(text.encode())] == []
