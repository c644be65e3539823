"""Feed text instead of bytes, cut anywhere, also between the halves of a surrogate pair."""

from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import CASES, DOCUMENTS, case_reader, content, read_at_once, shown, unhurried

from commitgate.backends.text_join import TextJoiner
from commitgate.errors import MisuseError
from commitgate.preview import PreviewReader

units = st.text(st.characters(codec=None) | st.characters(categories=("Cs",)), max_size=12)


def halves(text: str) -> list[str]:
    """Return the UTF-16 units of a text, each as one character."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [chr(int.from_bytes(data[at : at + 2], "little")) for at in range(0, len(data), 2)]


def joined(parts: list[str]) -> bytes:
    joiner = TextJoiner()
    return b"".join(map(joiner.feed, parts))


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_text_without_cuts_is_utf_8_and_so_it_is_cut_between_all_units(text: str) -> None:
    assert joined([text]) == joined(halves(text)) == text.encode()


@given(units, st.lists(st.integers(0, 24), max_size=4))
def test_where_text_is_cut_never_matters(text: str, cuts: list[int]) -> None:
    parts = halves(text)
    edges = [0, *sorted(cut for cut in cuts if cut < len(parts)), len(parts)]
    grouped = ["".join(parts[start:end]) for start, end in pairwise(edges)]
    assert joined(grouped) == joined(parts) == joined([text])


@given(units)
def test_a_half_without_the_other_is_not_utf_8(text: str) -> None:
    whole = "".join(halves(text)).encode("utf-16-le", "surrogatepass")
    data = joined([text])
    try:
        expected = whole.decode("utf-16-le")
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            data.decode()
    else:
        assert data.decode() == expected


@pytest.mark.parametrize("text", DOCUMENTS)
def test_text_cut_between_any_two_units_shows_what_bytes_show(text: bytes) -> None:
    parts = halves(text.decode())
    for first, second in combinations(range(len(parts) + 1), 2):
        reader = PreviewReader()
        preview = [reader.feed("".join(part)) for part in (parts[:first], parts[first:second], parts[second:])][-1]
        assert content(preview) == content(read_at_once(text))


@pytest.mark.parametrize(
    "case", [case for case in CASES if all(isinstance(step["chunk"], str) for step in case["steps"])]
)
def test_case_fed_as_text_shows_what_it_says(case: dict[str, Any]) -> None:
    whole, single = case_reader(case), case_reader(case)
    for step in case["steps"]:
        preview = whole.feed(step["chunk"])
        assert (shown(preview), preview.state) == (step["shown"], step["state"])
        for part in halves(step["chunk"]):
            preview = single.feed(part)
        assert (shown(preview), preview.state) == (step["shown"], step["state"])


def test_halves_are_joined_across_deltas_and_none_is_shown() -> None:
    reader = PreviewReader()
    previews = [reader.feed(delta) for delta in ('["a\ud83d', "", "\ude00", 'b"]')]
    assert [shown(preview) for preview in previews] == [[["a"]], [["a"]], [["a😀"]], [["a😀b"]]]
    assert previews[-1].state == "accept"
    assert previews[-1].text_bytes == len('["a😀b"]'.encode())


@pytest.mark.parametrize("after", ["x", '"', "\ud83d\ude00", "\ud83d", "é", "\\"])
def test_first_half_alone_is_found_with_the_unit_that_follows(after: str) -> None:
    for deltas in (['["a\ud83d' + after], ['["a\ud83d', after], ['["a', "\ud83d", after]):
        reader = PreviewReader()
        preview = [reader.feed(delta) for delta in deltas][-1]
        assert (preview.state, reader.position, preview.value) == ("invalid:utf8", len('["a') + 2, ["a"])


def test_second_half_alone_is_found_at_once() -> None:
    reader = PreviewReader()
    preview = reader.feed('["a\ude00')
    assert (preview.state, reader.position, preview.value) == ("invalid:utf8", len('["a') + 1, ["a"])


@pytest.mark.parametrize("before", ["", "{", "[1,", '{"a":1}'])
def test_half_outside_a_string_is_found_at_once(before: str) -> None:
    reader = PreviewReader()
    assert reader.feed(before + "\ud83d").state.is_invalid
    assert reader.position == len(before)


def test_half_at_the_end_leaves_the_text_incomplete() -> None:
    reader = PreviewReader()
    reader.feed('["a\ud83d')
    assert reader.finish().state == "incomplete"


def test_half_in_a_key_is_joined_too() -> None:
    reader = PreviewReader()
    reader.feed('{"\ud83d')
    assert reader.feed('\ude00":1}').value == {"😀": 1}


@unhurried
@given(st.sampled_from(DOCUMENTS), st.lists(st.integers(0, 80), max_size=5), st.integers(0, 1))
def test_bytes_and_text_may_be_mixed(text: bytes, cuts: list[int], turn: int) -> None:
    decoded = text.decode()
    edges = [0, *sorted(cut for cut in cuts if cut < len(decoded)), len(decoded)]
    reader, preview = PreviewReader(), PreviewReader().feed(b"")
    for number, (start, end) in enumerate(pairwise(edges)):
        part = decoded[start:end]
        preview = reader.feed(part if number % 2 == turn else part.encode())
    assert content(preview) == content(read_at_once(text))


def test_bytes_after_a_first_half_do_not_join_it() -> None:
    reader = PreviewReader()
    reader.feed('["\ud83d')
    assert reader.feed(b"a").state == "invalid:utf8"


@pytest.mark.parametrize("data", [None, 1, ["a"], {"a": 1}])
def test_anything_else_is_misuse(data: Any) -> None:
    with pytest.raises(MisuseError, match="bytes or str"):
        PreviewReader().feed(data)
