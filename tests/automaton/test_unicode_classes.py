"""Unicode properties in patterns: the tables against another engine's data, and names that are refused."""

from __future__ import annotations

import unicodedata

import pytest
import regex

from commitgate.automaton.regex import PatternError
from commitgate.automaton.regex.classes import property_set
from commitgate.automaton.regex.parser import parse

BINARY = ("Alphabetic", "Emoji", "White_Space", "ID_Start", "XIDC", "Uppercase", "Extended_Pictographic", "Ideographic")
SCRIPTS = ("Latin", "Grek", "Cyrillic", "Han", "Hiragana", "Arabic", "Common", "Old_Italic", "Zinh")
ASSIGNED = [chr(point) for point in range(0x20000) if unicodedata.category(chr(point)) not in ("Cn", "Cs")]


def members_of(name: str, value: str | None) -> set[str]:
    members = property_set(name, value)
    assert members is not None
    return {character for character in ASSIGNED if ord(character) in members}


@pytest.mark.parametrize("name", BINARY)
def test_binary_property_is_that_of_another_engine(name: str) -> None:
    expected = regex.compile(rf"\p{{{name}}}")
    assert members_of(name, None) == {character for character in ASSIGNED if expected.match(character)}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("kind", ["Script", "sc", "Script_Extensions", "scx"])
def test_script_is_that_of_another_engine(kind: str, name: str) -> None:
    expected = regex.compile(rf"\p{{{kind}={name}}}")
    assert members_of(kind, name) == {character for character in ASSIGNED if expected.match(character)}


@pytest.mark.parametrize("name", ["L", "Letter", "Lu", "LC", "P", "punct", "Space_Separator", "Nd", "Sc"])
def test_category_is_that_of_the_data_of_python(name: str) -> None:
    short = {"Letter": "L", "punct": "P", "Space_Separator": "Zs"}.get(name, name)
    starts = ("Lu", "Ll", "Lt") if short == "LC" else (short,)
    expected = {character for character in ASSIGNED if unicodedata.category(character).startswith(starts)}
    assert members_of(name, None) == members_of("gc", name) == expected


def test_script_of_no_script_is_the_rest() -> None:
    unknown = property_set("Script", "Unknown")
    assert unknown is not None
    assert 0x378 in unknown
    assert 0x61 not in unknown


@pytest.mark.parametrize("name", ["Latin", "letter", "Block=Greek", "Script=Nowhere", "gc=Nope", "Alphabetic=Yes", ""])
def test_unknown_property_is_refused(name: str) -> None:
    with pytest.raises(PatternError):
        parse(rf"\p{{{name}}}")
