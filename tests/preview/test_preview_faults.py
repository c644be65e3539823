"""Find the first impossible byte, at its exact offset, under its right name."""

import json
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from preview_oracle import verdict
from preview_reading import DOCUMENTS, unhurried

from commitgate.preview import PreviewReader

FAULTS: list[tuple[bytes, str, int]] = [
    (b"Sure", "syntax", 0),
    (b"[1,]", "syntax", 3),
    (b"[1}", "syntax", 2),
    (b'{"a":1]', "syntax", 6),
    (b"[1 2", "syntax", 3),
    (b"[,", "syntax", 1),
    (b"{a", "syntax", 1),
    (b'{"a" 1', "syntax", 5),
    (b'{"a":}', "syntax", 5),
    (b'{"a":1,}', "syntax", 7),
    (b"[NaN]", "syntax", 1),
    (b"[Infinity]", "syntax", 1),
    (b"[1 //", "syntax", 3),
    (b"[\xc2\xa0", "syntax", 1),
    (b"\xef\xbb\xbf{}", "bom", 2),
    (b"\xefx", "syntax", 1),
    (b" \xef\xbb", "syntax", 1),
    (b"[-I", "number", 2),
    (b"[01", "number", 2),
    (b"[-01", "number", 3),
    (b"[1.]", "number", 3),
    (b"[1.e", "number", 3),
    (b"[1e]", "number", 3),
    (b"[1e+ ", "number", 4),
    (b"[1x", "number", 2),
    (b"[1.5.", "number", 4),
    (b"[+1", "syntax", 1),
    (b"[.5", "syntax", 1),
    (b"42x", "number", 2),
    (b"42,", "trailing_data", 2),
    (b"42 1", "trailing_data", 3),
    (b"{}x", "trailing_data", 2),
    (b"[]]", "trailing_data", 2),
    (b'"a""', "trailing_data", 3),
    (b"truee", "trailing_data", 4),
    (b"[trux", "literal", 4),
    (b"[nu]", "literal", 3),
    (b"[True", "syntax", 1),
    (b'["a\nb"]', "control_char", 3),
    (b'["\x00', "control_char", 2),
    (b'{"a\tb', "control_char", 3),
    (b'["\\x', "escape", 3),
    (b'["\\u00g', "escape", 6),
    (b'["\\U', "escape", 3),
    (b'["\\ud83d"', "lone_surrogate", 8),
    (b'["\\ud83d\\n', "lone_surrogate", 9),
    (b'["\\ud83d\\u0', "lone_surrogate", 10),
    (b'["\\ud83d\\ud83d', "lone_surrogate", 11),
    (b'["\\ud83d\\udcx', "escape", 12),
    (b'["\\ude00', "lone_surrogate", 5),
    (b'["\\udd{', "lone_surrogate", 5),
    (b'{"\\uDFFF', "lone_surrogate", 5),
    (b'["\xff', "utf8", 2),
    (b'["\x80', "utf8", 2),
    (b'["\xc0\x80', "utf8", 2),
    (b'["\xc3(', "utf8", 3),
    (b'["\xe0\x80', "utf8", 3),
    (b'["\xed\xa0\x80', "utf8", 3),
    (b'["\xf0\x80', "utf8", 3),
    (b'["\xf4\x90', "utf8", 3),
    (b'["\xf0\x9f\x98"', "utf8", 5),
    (b'{"a":1,"a":2}', "duplicate_key", 9),
    (b'{"a":1,"\\u0061":2}', "duplicate_key", 14),
    (b'{"x":{"a":1},"a":2,"a":[\x00', "duplicate_key", 21),
]


@pytest.mark.parametrize(("text", "reason", "offset"), FAULTS)
def test_fault_has_its_name_and_exact_offset(text: bytes, reason: str, offset: int) -> None:
    reader = PreviewReader()
    preview = reader.feed(text)
    assert (preview.state, reader.position, preview.text_bytes) == (f"invalid:{reason}", offset, offset)


@pytest.mark.parametrize(("text", "reason", "offset"), FAULTS)
def test_fault_is_found_at_the_same_byte_when_bytes_come_singly(text: bytes, reason: str, offset: int) -> None:
    reader = PreviewReader()
    states = [reader.feed(bytes((byte,))).state for byte in text]
    assert not any(state.is_invalid for state in states[:offset])
    assert set(states[offset:]) == {f"invalid:{reason}"}
    assert reader.position == offset


def test_key_that_begins_like_another_is_no_fault_before_its_quote() -> None:
    reader = PreviewReader()
    assert reader.feed(b'{"to":1,"to').state == "open"
    assert reader.feed(b'm":2}').value == {"to": 1, "tom": 2}


def test_invalid_text_stays_invalid_and_shows_what_it_showed() -> None:
    reader = PreviewReader()
    reader.feed(b'{"a":[1,tru')
    for chunk in (b"x", b"e]}", b"", b'{"b":2}'):
        preview = reader.feed(chunk)
        assert (preview.state, preview.value, reader.position) == ("invalid:literal", {"a": [1]}, 11)
    assert reader.finish().state == "invalid:literal"


fragments = st.lists(
    st.sampled_from(
        [
            bytes((byte,))
            for byte in b'{}[],:"\\u0123e.+- \ndDcCfFab\xc3\xa9\xe0\xed\xf0\xf4\x80\x9f\xa0\xef\xbb\xbf\x1f'
        ]
        + [b"true", b"nul", b'"a"', b'"a":', b'"b":', b"\\ud83d", b"\\ude00", b"\xf0\x9f", b"\x98\x80", b"0.5", b"1e"]
    ),
    max_size=9,
)
openings = st.sampled_from([b"", b"[", b"{", b'["', b'{"', b'{"a":', b'{"a":1,', b'["\\u', b'["\\ud83d', b'{"a":"'])


@settings(unhurried, max_examples=400)
@given(opening=openings, rest=fragments)
@example(opening=b'["', rest=[b"\xed", b"\xa0"])
@example(opening=b'{"a":1,', rest=[b'"a"', b"}"])
def test_verdict_is_that_of_a_recursive_descent(opening: bytes, rest: list[bytes]) -> None:
    text = opening + b"".join(rest)
    reader = PreviewReader()
    state, found = reader.feed(text).state, verdict(text)
    assert (reader.position if state.is_invalid else None) == found


@unhurried
@given(opening=openings, rest=fragments)
def test_what_is_accepted_is_json(opening: bytes, rest: list[bytes]) -> None:
    text = opening + b"".join(rest)
    reader = PreviewReader()
    reader.feed(text)
    if reader.finish().state == "accept":
        json.loads(text)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("put", ["in place of a byte", "before a byte"])
def test_text_fed_singly_turns_invalid_with_its_first_impossible_byte(document: bytes, put: str) -> None:
    for at, byte in product(range(len(document)), b'{}[]:,"\\u0-.e tx\x00\x80\xc3\xed\xf4'):
        text = document[:at] + bytes((byte,)) + document[at + (put == "in place of a byte") :]
        reader = PreviewReader()
        first = next(
            (offset for offset in range(len(text)) if reader.feed(text[offset : offset + 1]).state.is_invalid), None
        )
        if reader.state == "invalid:number_size":
            continue  # a bound of the reader's own, which the descent does not know
        assert first == verdict(text)
        assert first is None or reader.position == first


@pytest.mark.parametrize(("text", "value"), [(b"[1}", []), (b'{"a":1]', {}), (b"[1.5:", []), (b'{"a":-2"', {})])
def test_number_before_a_byte_that_cannot_follow_it_is_not_shown_in_any_chunks(text: bytes, value: object) -> None:
    whole, singly = PreviewReader(), PreviewReader()
    previews = [whole.feed(text), *[singly.feed(bytes((byte,))) for byte in text][-1:]]
    assert [(preview.value, preview.state) for preview in previews] == [(value, "invalid:syntax")] * 2
