"""Masks over texts that are no JSON: exact, never empty before the end, and always on a way to it."""

from __future__ import annotations

import ast
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from automaton.text_making import choices, grammars, machines, regexes
from automaton.text_walking import finish
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import Term, compile
from commitgate.contract import Contract
from commitgate.errors import UnsatisfiableError
from commitgate.languages import AnyJson, Choices, Edge, Grammar, Machine, Regex, TextSource
from commitgate_local.engine import MaskEngine, Matcher
from commitgate_local.local_model import LocalModel
from commitgate_local.vocabulary import Vocabulary
from commitgate_local.walk import Mask

Oracle = Callable[[Vocabulary, Term], Mask]

EXAMPLE = Path(__file__).parents[2] / "examples" / "grammars"
SQL = Grammar((EXAMPLE / "orders.gbnf").read_text(encoding="utf-8"))
ARITHMETIC = Grammar((EXAMPLE / "arithmetic.lark").read_text(encoding="utf-8"), syntax="lark")

MISSING = b"\x00\x01\x1f\x7f\xf1\xf2"
TOKENS: list[bytes | None] = [
    *(bytes((byte,)) for byte in range(256) if byte not in MISSING),
    # They cross from one rule into the next, hold halves of characters, and begin in one and end in another.
    *(b"ab", b"ba", b"aab", b"bb", b"a\xc3", b"\xa9a", b"\xa9", b"\xc3\xa9\xc3", b"\xf0\x9f", b"\x98\x80", b"\x80b"),
    *(b"\xf0\x9f\x98", b'"a', b'a"', b'":', b'{"', b'"}', b"}{", b"\n\n", b"\\n", b"). ", b" + ", b"1)", b"((", b"[t"),
    *(b"rue", b", ", b"]a", b"1a", b"9\xc3\xa9", b"\xf1\x80", b"\xff\xfe", b"abababab", "日本".encode()[1:5]),
]
ODD = Vocabulary([*TOKENS, None, None], [len(TOKENS), len(TOKENS) + 1], width=len(TOKENS) + 9)
STOPS = set(ODD.stop_ids)

sources: st.SearchStrategy[TextSource | AnyJson] = st.one_of(
    regexes(), grammars(), choices(), machines().map(lambda walked: walked.machine), st.just(AnyJson(nesting=3))
)


@pytest.fixture(scope="session")
def odd() -> MaskEngine:
    return MaskEngine(ODD)


def draw_token(matcher: Matcher, vocabulary: Vocabulary, draw: random.Random) -> bytes | None:
    """Write one legal token, longer ones more often; None where the text ends here."""
    stops = set(vocabulary.stop_ids)
    legal = np.flatnonzero(matcher.mask()).tolist()
    if matcher.is_finished:
        return None
    assert legal, "no token is legal before the end"
    texts = [(token, vocabulary.tokens[token]) for token in legal if token not in stops]
    if not texts or (len(texts) < len(legal) and draw.random() < 0.2):
        return None
    token, text = max(draw.choices(texts, k=2), key=lambda each: len(each[1] or b""))
    assert text is not None
    matcher.advance(token)
    return text


@settings(max_examples=60, deadline=None)
@given(source=sources, seed=st.integers(0, 2**32))
def test_masks_are_exact_and_every_walk_can_end(
    odd: MaskEngine, oracle: Oracle, source: TextSource | AnyJson, seed: int
) -> None:
    try:
        accept, matcher = compile(source), odd.matcher(Contract[object].of(source))
    except UnsatisfiableError:
        return
    draw = random.Random(seed)
    text = b""
    for _ in range(12):
        state: Term = matcher.state
        if not matcher.is_finished:
            assert matcher.mask().tolist() == oracle(ODD, state).tolist(), text
        assert all(matcher.mask()[stop] == state.nullable for stop in STOPS)
        rest = finish(state)
        assert rest is not None, text
        assert not set(MISSING) & set(text + rest), "single bytes are tokens, so that it can be written"
        assert accept.accepts(text + rest), text + rest
        written = draw_token(matcher, ODD, draw)
        if written is None:
            return
        text += written


CASES: list[tuple[TextSource, list[str], list[str]]] = [
    (Regex("[一-龥]+"), ["道", "部金"], ["a", "あ", "龦", ""]),
    (Regex(r"\S+"), ["[", "a[b]"], [" ", "a b", ""]),
    (Regex("(a|)b(c|d|)"), ["ab", "b", "bc", "abd"], ["a", "abcd", ""]),
    (Regex("a+?b{2,3}?"), ["abb", "aaabbb"], ["ab", "bb", "abbbb"]),
    (Regex(".{1,2}"), ["😀", "a😀", "é"], ["", "abc", "😀😀😀"]),
    (Grammar('root ::= root "+" num | num\nnum ::= [0-9]+'), ["1", "1+2+33"], ["", "+1", "1+", "1++2"]),
    (Grammar('root ::= "a" root "b" | "ab"'), ["ab", "aaabbb"], ["", "aab", "abb", "ba"]),
    (
        Grammar('root ::= free "<|s|>" [0-9]+\nfree ::= ([^<] | "<" [^|])*'),
        ["say <b> <|s|>12", "<|s|>7"],
        ["say", "<|s|>", "say <|s|>x"],
    ),
    (Choices(["no", "not sure", "now", "n"]), ["no", "not sure", "now", "n"], ["", "not", "yes"]),
    (Choices(["a.b", "a+b", "(x)", "$5^"]), ["a.b", "a+b", "(x)", "$5^"], ["axb", "aab", "x", "$5"]),
    (Choices(["one\ntwo", 'a "b"', "c\\d"]), ["one\ntwo", 'a "b"', "c\\d"], ["onetwo", "a b", "c\\\\d"]),
    (
        Machine(
            start="idle",
            accepting=["done"],
            edges=[Edge("idle", "go ", "run"), Edge("run", {"type": "boolean"}, "done")],
        ),
        ["go true", "go false"],
        ["go ", "true", "go tru", "go true "],
    ),
]


def is_written(matcher: Matcher, vocabulary: Vocabulary, text: bytes) -> bool:
    """Return whether legal tokens, the longest that fits each time, spell the text and the end is legal behind it."""
    numbers = {token: number for number, token in reversed([*enumerate(vocabulary.tokens)]) if token is not None}
    at = 0
    while at < len(text):
        pieces = (text[at : at + size] for size in range(min(vocabulary.longest, len(text) - at), 0, -1))
        piece = next((piece for piece in pieces if piece in numbers), None)
        if piece is None or not matcher.mask()[numbers[piece]]:
            return False
        matcher.advance(numbers[piece])
        at += len(piece)
    return bool(matcher.is_accepting and (matcher.is_finished or matcher.mask()[vocabulary.stop_ids[0]]))


@pytest.mark.parametrize(("source", "valid", "invalid"), CASES)
def test_valid_texts_pass_masks_and_others_do_not(
    odd: MaskEngine, source: TextSource, valid: list[str], invalid: list[str]
) -> None:
    assert [
        text for text in valid if not is_written(odd.matcher(Contract[object].of(source)), ODD, text.encode())
    ] == []
    assert [text for text in invalid if is_written(odd.matcher(Contract[object].of(source)), ODD, text.encode())] == []


@pytest.mark.model
@pytest.mark.parametrize(("source", "valid", "invalid"), CASES)
def test_valid_texts_pass_the_masks_of_the_bundled_vocabulary(
    bundled: LocalModel, source: TextSource, valid: list[str], invalid: list[str]
) -> None:
    engine = bundled.engine
    assert [
        text
        for text in valid
        if not is_written(engine.matcher(Contract[object].of(source)), engine.vocabulary, text.encode())
    ] == []
    assert [
        text
        for text in invalid
        if is_written(engine.matcher(Contract[object].of(source)), engine.vocabulary, text.encode())
    ] == []


def write(engine: MaskEngine, source: TextSource, seed: int, *, most_tokens: int) -> bytes:
    """Draw legal tokens, then those of a short way to an end."""
    matcher, draw = engine.matcher(Contract[object].of(source)), random.Random(seed)
    text = b""
    for _ in range(most_tokens):
        written = draw_token(matcher, engine.vocabulary, draw)
        if written is None:
            return text
        text += written
    rest = finish(matcher.state)
    assert rest is not None, text
    assert is_written(matcher, engine.vocabulary, rest), "the way to the end is one of tokens"
    return text + rest


@pytest.mark.model
@pytest.mark.timeout(600)
def test_sql_written_by_tokens_is_sql(bundled: LocalModel) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript((EXAMPLE / "orders.sql").read_text(encoding="utf-8"))
    for seed in range(20):
        text = write(bundled.engine, SQL, seed, most_tokens=40).decode()
        database.execute(f"EXPLAIN {text}").close()


@pytest.mark.model
@pytest.mark.timeout(600)
def test_arithmetic_written_by_tokens_is_arithmetic(bundled: LocalModel) -> None:
    for seed in range(20):
        ast.parse(write(bundled.engine, ARITHMETIC, seed, most_tokens=25).decode(), mode="eval")


@pytest.mark.model
@pytest.mark.parametrize("source", [SQL, ARITHMETIC, CASES[4][0], CASES[7][0]], ids=["sql", "arithmetic", "dot", "tag"])
def test_masks_over_the_bundled_vocabulary_are_exact(bundled: LocalModel, oracle: Oracle, source: TextSource) -> None:
    engine, draw = bundled.engine, random.Random(3)
    matcher = engine.matcher(Contract[object].of(source))
    for _ in range(12):
        if matcher.is_finished:
            return
        assert np.array_equal(matcher.mask(), oracle(engine.vocabulary, matcher.state))
        if draw_token(matcher, engine.vocabulary, draw) is None:
            return
