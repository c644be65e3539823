"""What a terminal shows of a growing object."""

from decimal import Decimal

import pytest
from rich.text import Text

from commitgate.cli.drawing import FINAL_STYLE, OPEN_MARK, OPEN_STYLE, draw_bar, draw_value
from commitgate.harmless import harmless
from commitgate.json_value import JsonValue


def styles_of(line: Text) -> set[str]:
    return {str(span.style) for span in line.spans}


def plain(value: JsonValue, final_paths: set[str]) -> str:
    return "\n".join(line.plain for line in draw_value(value, final_paths))


def test_final_and_open_fields_differ_in_style() -> None:
    lines = draw_value({"id": "T-1", "summary": "Pum"}, {"/id"})
    assert FINAL_STYLE in styles_of(lines[1])
    assert OPEN_STYLE in styles_of(lines[2])
    assert OPEN_STYLE not in styles_of(lines[1])


def test_final_and_open_fields_differ_without_colour() -> None:
    shown = plain({"id": "T-1", "summary": "Pum"}, {"/id"})
    assert '"id": "T-1",' in shown
    assert f'"summary": "Pum{OPEN_MARK}' in shown


def test_open_object_has_no_closing_bracket() -> None:
    assert "}" not in plain({"a": [1, 2]}, set())
    assert plain({"a": [1]}, {""}).endswith("}")


def test_everything_below_a_final_path_is_final() -> None:
    assert OPEN_MARK not in plain({"a": {"b": ["x"]}}, {""})
    assert OPEN_MARK not in plain({"a": {"b": ["x"]}}, {"/a"}).splitlines()[2]


def test_pointer_escapes_are_honoured() -> None:
    assert '"a/b~c": 1' in plain({"a/b~c": 1}, {"/a~1b~0c"})
    assert f'"a/b~c": 1{OPEN_MARK}' not in plain({"a/b~c": 1}, {"/a~1b~0c"})


def test_number_keeps_its_digits() -> None:
    assert plain(Decimal("0.10"), {""}) == "0.10"


@pytest.mark.parametrize("value", [[], {}, None, True, "", 0])
def test_every_kind_of_value_makes_one_line(value: JsonValue) -> None:
    assert len(draw_value(value, {""})) == 1


def test_markup_in_model_text_is_shown_as_it_is() -> None:
    (line,) = draw_value("[bold red]APPROVED[/bold red]", {""})
    assert line.plain == '"[bold red]APPROVED[/bold red]"'
    assert styles_of(line) == {FINAL_STYLE}


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x7f", "\x9b", "\u202e", "\u2028", "\u200b", "\ue000"])
def test_characters_that_steer_a_terminal_are_escaped(character: str) -> None:
    shown = plain({character: [f"a{character}b"]}, {""})
    assert character not in shown
    assert f"{ord(character):04x}" in shown


def test_private_characters_beyond_16_bits_are_escaped() -> None:
    assert harmless("\U000f0000") == "\\U000f0000"


@pytest.mark.parametrize("text", ["plain", "Größe — 温度 שלום", "tab-free"])
def test_text_that_is_meant_to_be_seen_stays(text: str) -> None:
    assert harmless(text) == text


def test_kept_characters_stay() -> None:
    assert harmless("a\nb\x1b", keep="\n") == "a\nb\\u001b"


@pytest.mark.parametrize(("share", "full"), [(0.0, 0), (0.04, 0), (0.5, 5), (1.0, 10), (1.0000001, 10)])
def test_bar_shows_the_share(share: float, full: int) -> None:
    assert draw_bar(share).plain.count("█") == full


def test_unknown_share_draws_no_number() -> None:
    assert not any(character.isdigit() for character in draw_bar(None).plain)
