"""Treat the items of a run: previews, resets, and the reader's own life."""

from decimal import Decimal

import pytest

from commitgate.errors import MisuseError
from commitgate.preview import PreviewReader, Reset


def test_repr_shows_no_text() -> None:
    reader = PreviewReader()
    preview = reader.feed(b'{"secret":"swordfish')
    assert "secret" not in repr(preview)
    assert "swordfish" not in repr(preview) + repr(reader)


def test_what_the_call_knows_is_noted_on_a_copy() -> None:
    preview = PreviewReader().feed(b'["a')
    marked = preview.noted(attempt=2, legal_mass=0.25)
    assert (preview.attempt, preview.legal_mass) == (1, None)
    assert (marked.attempt, marked.legal_mass) == (2, 0.25)
    assert marked.value == preview.value == ["a"]


def test_preview_cannot_be_changed() -> None:
    preview = PreviewReader().feed(b"[]")
    with pytest.raises(AttributeError):
        preview.text_bytes = 3  # pyright: ignore[reportAttributeAccessIssue] - what is tested is that it fails


def test_null_is_told_from_nothing() -> None:
    reader = PreviewReader()
    assert not reader.feed(b"nul").has_value
    preview = reader.feed(b"l")
    assert preview.has_value
    assert preview.value is None


def test_reading_after_the_end_is_misuse() -> None:
    reader = PreviewReader()
    reader.feed(b"[1")
    assert reader.finish().state == "incomplete"
    assert reader.finish().value == []
    with pytest.raises(MisuseError, match="finished"):
        reader.feed(b"]")


def test_nothing_at_all_is_incomplete() -> None:
    preview = PreviewReader().finish()
    assert (preview.state, preview.has_value, preview.text_bytes) == ("incomplete", False, 0)


def test_number_at_the_root_is_shown_by_white_space_too() -> None:
    reader = PreviewReader()
    assert reader.feed(b"42").state == "accept_if_eof"
    preview = reader.feed(b"\n")
    assert (preview.state, preview.value) == ("accept", 42)
    assert not PreviewReader().feed(b"-").has_value


def test_cut_number_at_the_root_is_incomplete() -> None:
    for text in (b"-", b"1.", b"1e", b"1e+"):
        reader = PreviewReader()
        assert reader.feed(text).state == "open"
        assert reader.finish().state == "incomplete"


def test_numbers_keep_their_spelling() -> None:
    value = PreviewReader().feed(b"[1.50,123456789012345678901234567890,1E400,0.1] ").value
    assert value == [Decimal("1.50"), 123456789012345678901234567890, Decimal("1E400"), Decimal("0.1")]
    assert [str(item) for item in value if isinstance(item, Decimal)] == ["1.50", "1E+400", "0.1"]


def test_defaults_are_not_filled_in() -> None:
    schema = {"properties": {"a": {"type": "string", "default": "x"}}, "default": {"a": "x"}}
    reader = PreviewReader(schema)
    assert not reader.feed(b"").has_value
    assert reader.feed(b"{}").value == {}


def test_text_that_is_streamed_ends_and_another_begins_in_one_chunk() -> None:
    reader = PreviewReader()
    reader.feed(b'["one')
    preview = reader.feed(b' more","two","thr')
    assert preview.value == ["one more", "two", "thr"]
    assert preview.final_paths == {"/0", "/1"}
    assert reader.feed(b'ee"]').value == ["one more", "two", "three"]


def test_pointers_are_quoted() -> None:
    assert PreviewReader().feed(b'{"a/b~c":1}').final_paths == {"", "/a~1b~0c"}


def test_reset_names_the_attempt_that_begins() -> None:
    assert Reset(attempt=2, reason="disconnected") == Reset(2, "disconnected")


def test_string_at_the_root_is_shown_while_it_is_open() -> None:
    reader = PreviewReader()
    previews = [reader.feed(piece) for piece in (b'"', b"ab", b'c"')]
    assert [(preview.has_value, preview.value) for preview in previews] == [(True, ""), (True, "ab"), (True, "abc")]
    assert [preview.final_paths for preview in previews] == [set(), set(), {""}]
