"""The inside of JSON strings: UTF-8, escapes, lengths in code points, listed and excluded texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import CharacterState, Length, none_of, one_of
from commitgate.automaton.terms import Arena

CHARACTERS = 'ab"\\/\n\x01\x7fé߿ࠀ\uffff😀\U0010ffff'
TEXTS = st.text(CHARACTERS, max_size=5)


def accepts(state: CharacterState, body: bytes, *, is_canonical: bool = False, alphabet: bytes | None = None) -> bool:
    return StringBody.make(Arena(), state, Spelling(is_canonical, alphabet)).walk(body).nullable


def spell(text: str, choices: list[int]) -> bytes:
    """Return one of the many spellings of ``text``, with its closing quote."""
    parts: list[str] = []
    for index, character in enumerate(text):
        choice = choices[index % len(choices)] if choices else 0
        units = character.encode("utf-16-be")
        escaped = "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2))
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        solidus = "\\/" if character == "/" else plain
        parts.append([plain, escaped, escaped.upper().replace("\\U", "\\u"), solidus][choice])
    return ("".join(parts) + '"').encode()


@given(text=TEXTS, choices=st.lists(st.integers(0, 3), max_size=5))
def test_every_spelling_of_a_text_is_accepted(text: str, choices: list[int]) -> None:
    assert accepts(Length(len(text), len(text)), spell(text, choices))
    assert not accepts(Length(len(text) + 1, None), spell(text, choices))


@given(text=TEXTS)
def test_canonical_spelling_is_the_one_of_json_dumps(text: str) -> None:
    canonical = json.dumps(text, ensure_ascii=False)[1:].encode()
    assert accepts(Length(0, None), canonical, is_canonical=True)
    assert Spelling(True).text(text) == canonical[:-1]


@settings(max_examples=300)
@given(table=st.lists(TEXTS, min_size=1, max_size=5, unique=True), text=TEXTS, choices=st.lists(st.integers(0, 3)))
def test_listed_and_excluded_texts_are_told_apart_by_their_characters(
    table: list[str], text: str, choices: list[int]
) -> None:
    known = tuple(sorted(table))
    body = spell(text, choices)
    assert accepts(one_of(known), body) == (text in table)
    assert accepts(none_of(known, Length(0, 3)), body) == (text not in table and len(text) <= 3)


@pytest.mark.parametrize(
    "body",
    [
        rb"\ud83d" + b'"',
        rb"\ude00" + b'"',
        rb"\ud83dA" + b'"',
        rb"\ud83d\n" + b'"',
        rb"\x41" + b'"',
        rb"\u00g0" + b'"',
        rb"\U0041" + b'"',
        b'\n"',
        b'\x00"',
        b'\xed\xa0\x80"',
        b'\xc0\x80"',
        b'\xc1\xbf"',
        b'\xe0\x80\x80"',
        b'\xe0\x9f\xbf"',
        b'\xf0\x8f\xbf\xbf"',
        b'\xf4\x90\x80\x80"',
        b'\xf5\x80\x80\x80"',
        b'\x80"',
        b'\xff"',
        b'\xc3"',
    ],
)
def test_ill_formed_characters_are_refused(body: bytes) -> None:
    assert not accepts(Length(0, None), body)


@pytest.mark.parametrize("body", [b"\xe0\xa0\x80", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xc2\x80"])
def test_edges_of_the_utf8_ranges_are_accepted(body: bytes) -> None:
    assert accepts(Length(1, 1), body + b'"')
    assert accepts(Length(1, 1), body + b'"', is_canonical=True)


def test_text_that_the_alphabet_cannot_spell_raw_is_escaped() -> None:
    alphabet = bytes(byte for byte in range(256) if byte != 0xF1)
    assert Spelling(True, alphabet).text("a\U00040000") == rb"a\ud8c0\udc00"


def test_free_string_leaves_out_characters_that_the_alphabet_cannot_spell() -> None:
    alphabet = bytes(byte for byte in range(256) if byte != 0xF1)
    assert not accepts(Length(0, None), '\U00040000"'.encode(), is_canonical=True, alphabet=alphabet)
    assert accepts(Length(0, None), '😀"'.encode(), is_canonical=True, alphabet=alphabet)


def test_long_string_costs_few_states() -> None:
    arena = Arena()
    term = StringBody.make(arena, Length(0, None), Spelling(False))
    assert term.walk("é😀a".encode() * 5000) is term
    assert len(arena) < 20


@given(text=TEXTS, choices=st.lists(st.integers(0, 3)), least=st.integers(0, 6), extra=st.integers(0, 3))
def test_counted_strings_hold_as_many_code_points_as_they_may(
    text: str, choices: list[int], least: int, extra: int
) -> None:
    is_allowed = least <= len(text) <= least + extra
    assert accepts(Length(least, least + extra), spell(text, choices)) == is_allowed
    assert accepts(Length(least, None), spell(text, choices)) == (least <= len(text))


def test_states_of_a_bounded_string_share_their_byte_classes() -> None:
    arena = Arena()
    term = StringBody.make(arena, Length(3, 2_000), Spelling(False))
    partitions = {id(term.walk(b"a" * length).partition) for length in range(10, 1_000, 10)}
    assert len(partitions) == 1
    halves = {id(term.walk(b"a" * length + b"\xf0\x9f").partition) for length in range(10, 1_000, 10)}
    assert len(halves) == 1
