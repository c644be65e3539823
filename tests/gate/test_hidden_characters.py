"""Texts that act on their reader or hide from him are refused, and writing of any script is not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.gate.hidden_characters import WANTED, hidden_characters


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("a\x1b[31mred", "terminal_escape", 1),
        ("\x1b]0;title\x07", "terminal_escape", 0),
        ("\x9b31m", "terminal_escape", 0),
        ("\x90q", "terminal_escape", 0),
        ("a\x00", "control_character", 1),
        ("a\x08b", "control_character", 1),
        ("a\rb", "control_character", 1),
        ("a\x7f", "control_character", 1),
        ("a\x85", "control_character", 1),
        ("a\ud800", "control_character", 1),
        ("\u202eevil", "bidi_control", 0),
        ("a\u202a", "bidi_control", 1),
        ("a\u2066b\u2069", "bidi_control", 1),
        ("a\u206a", "bidi_control", 1),
        ("pass\u200bword", "invisible_character", 4),
        ("\ufeffa", "invisible_character", 0),
        ("a\u2060b", "invisible_character", 1),
        ("a\u3164b", "invisible_character", 1),
        ("a\U000e0041", "invisible_character", 1),
        ("\U0001f3f4\U000e0041\U000e007f", "invisible_character", 1),
        ("a\u200db", "invisible_character", 1),
        ("\u200da", "invisible_character", 0),
        ("a\ufe01b", "invisible_character", 1),
        ("😀\U000e0100\U000e0101", "invisible_character", 1),
        ("a\u200e\u200f", "invisible_character", 1),
        ("a\u00ad\u00ad", "invisible_character", 1),
        ("می\u200c\u200cخواهم", "invisible_character", 2),
    ],
)
def test_hidden_character_is_found_where_it_stands(text: str, code: str, position: int) -> None:
    assert hidden_characters(text)[code] == position
    assert code in WANTED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "two lines\n\tand a tab",
        "Grüße, señor, 日本語, עברית, العربية, हिन्दी",
        "می‌خواهم",
        "क्‍ष",
        "👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👩🏽‍⚕️ 🙂‍↔️ 1️⃣ ⚠️",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "葛\U000e0100飾区",
        "Donau\u00addampf\u00adschiff",
        "abc\u200f!",
        "a\u00a0b\u2028c",
        "\ue000",
    ],
)
def test_writing_is_not_refused(text: str) -> None:
    assert hidden_characters(text) == {}


def test_each_kind_is_found_once_at_its_first_place() -> None:
    assert hidden_characters("a\u200b\x1b[0m\x1b[1m\u200b") == {"invisible_character": 1, "terminal_escape": 2}


BLANK_LETTERS = "\u3164\u115f\u1160\uffa0"


@given(st.text())
def test_text_of_visible_characters_alone_is_never_refused(text: str) -> None:
    plain = "".join(
        each for each in text if unicodedata.category(each)[0] in "LNPSZ" and each not in "\u3164\u115f\u1160\uffa0"
    )
    assert hidden_characters(plain) == {}


@given(st.text(), st.characters(categories=["Cc"], exclude_characters="\n\t"), st.text())
def test_control_character_is_found_anywhere(before: str, control: str, after: str) -> None:
    assert {"control_character", "terminal_escape"} & hidden_characters(before + control + after).keys()


@given(st.text(), st.integers(0x20, 0x7E), st.text(alphabet="abc "))
def test_letters_spelled_in_tags_are_found(before: str, letter: int, after: str) -> None:
    assert "invisible_character" in hidden_characters(f"{before} {chr(0xE0000 + letter)}{after}")
