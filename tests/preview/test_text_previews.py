"""A text that is no JSON is shown as it comes: in whole characters, however it was cut, and final at its end alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import content

from commitgate import AnyJson, Choices, Contract, Grammar, Machine, Preview, Regex
from commitgate.errors import MisuseError
from commitgate.json_value import JsonValue
from commitgate.languages import Edge, TextSource
from commitgate.preview import ItemCursor, PreviewReader, ReaderState

ANY = Contract.of(Regex("(?s:.*)"))
SOURCES = [
    Regex("a+"),
    Grammar('root ::= "a"+'),
    Machine(start="s", accepting=["s"], edges=[Edge("s", "a", "s")]),
]


def shown(preview: Preview) -> tuple[object, ...]:
    return preview.has_value, preview.value, preview.final_paths, preview.state, preview.text_bytes


@pytest.mark.parametrize("source", SOURCES)
def test_text_is_shown_as_far_as_it_came(source: TextSource) -> None:
    reader = PreviewReader(Contract.of(source))
    assert [reader.feed(b"a").value, reader.feed(b"").value, reader.feed(b"aa").value] == ["a", "a", "aaa"]


@pytest.mark.parametrize("source", [*SOURCES, Choices(["a", "ab"])])
def test_source_and_its_contract_are_shown_alike(source: TextSource) -> None:
    one, other = PreviewReader(source), PreviewReader(Contract.of(source))
    assert shown(one.feed(b"a")) == shown(other.feed(b"a"))
    assert shown(one.finish()) == shown(other.finish())


@pytest.mark.parametrize("asked", [AnyJson(), AnyJson(root="object"), Contract.of(AnyJson())])
def test_any_json_is_shown_as_json(asked: AnyJson | Contract[JsonValue]) -> None:
    assert PreviewReader(asked).feed(b'{"a": [1, ').value == {"a": [1]}


def test_nothing_is_shown_before_the_first_character() -> None:
    reader = PreviewReader(ANY)
    assert not reader.feed(b"").has_value
    cut = reader.feed("é".encode()[:1])
    assert (cut.has_value, cut.value, cut.state) == (False, None, ReaderState.OPEN)
    assert reader.feed("é".encode()[1:]).value == "é"


def test_only_the_end_makes_it_final() -> None:
    reader = PreviewReader(ANY)
    growing = reader.feed(b'{"a": 1}')
    assert (growing.value, growing.final_paths, growing.state) == ('{"a": 1}', frozenset(), ReaderState.ACCEPT_IF_EOF)
    ended = reader.finish()
    assert shown(ended) == (True, '{"a": 1}', frozenset({""}), ReaderState.ACCEPT, 8)
    assert reader.finish().value == ended.value
    assert growing.final_paths == frozenset()


def test_empty_text_is_a_value_at_its_end() -> None:
    assert shown(PreviewReader(ANY).finish()) == (True, "", frozenset({""}), ReaderState.ACCEPT, 0)


def test_end_inside_a_character_leaves_it_incomplete() -> None:
    reader = PreviewReader(ANY)
    reader.feed(b"ab\xe2\x82")
    ended = reader.finish()
    assert (ended.value, ended.state, ended.final_paths) == ("ab", ReaderState.INCOMPLETE, frozenset())


@pytest.mark.parametrize(
    ("text", "passed", "value"),
    [(b"a\xffb", 1, "a"), (b"a\xc3\x28", 2, "a"), (b"\xed\xa0\x80", 1, None), (b"\xf5", 0, None), (b"a\x80", 1, "a")],
)
@pytest.mark.parametrize("is_bytewise", [False, True])
def test_impossible_byte_ends_the_text(text: bytes, passed: int, value: str | None, is_bytewise: bool) -> None:
    reader = PreviewReader(ANY)
    for piece in [bytes((byte,)) for byte in text] if is_bytewise else [text]:
        reader.feed(piece)
    assert (reader.state, reader.position) == (ReaderState.INVALID_UTF8, passed)
    assert reader.feed(b"more").value == value
    assert reader.position == passed


def test_one_of_several_choices_is_held_until_its_end() -> None:
    reader = PreviewReader(Contract.of(Choices(["no", "not sure"])))
    assert [reader.feed(b"no").has_value, reader.feed(b"t sure").has_value] == [False, False]
    assert reader.finish().value == "not sure"


def test_caller_may_have_any_text_held() -> None:
    reader = PreviewReader(ANY, atomic_paths=[""])
    assert not reader.feed(b"ab").has_value
    assert reader.finish().value == "ab"


@given(st.text(max_size=12), st.lists(st.integers(0, 30), max_size=4))
def test_cuts_never_matter(text: str, cuts: list[int]) -> None:
    data = text.encode()
    ends = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = PreviewReader(ANY)
    for start, end in pairwise(ends):
        preview = reader.feed(data[start:end])
        at_once = PreviewReader(ANY).feed(data[:end])
        assert shown(preview) == shown(at_once)
        assert preview.value is None or text.startswith(str(preview.value))
    assert shown(reader.finish())[:2] == (True, text)


def test_preview_never_changes_and_old_ones_can_be_read_late() -> None:
    reader = PreviewReader(ANY)
    previews = [reader.feed(character.encode()) for character in "aé€😀b"]
    assert [preview.value for preview in reversed(previews)] == ["aé€😀b", "aé€😀", "aé€", "aé", "a"]
    assert previews[2].value is previews[2].value


def test_surrogate_pair_may_be_cut() -> None:
    reader = PreviewReader(ANY)
    assert not reader.feed("\ud83d").has_value
    assert reader.feed("\ude00").value == "😀"


@pytest.mark.parametrize("pointer", ["", "/a", "/0"])
def test_there_are_no_items_in_a_text(pointer: str) -> None:
    reader, cursor = PreviewReader(ANY), ItemCursor(pointer)
    for preview in (reader.feed(b"[1,"), reader.feed(b"2]")):
        with pytest.raises(MisuseError, match=r"must name an array, found a text that is no JSON"):
            cursor.take(preview)


def test_json_contracts_are_read_as_before() -> None:
    contract = Contract.of({"type": "string"})
    assert content(PreviewReader(contract).feed(b'"a')) == content(PreviewReader({"type": "string"}).feed(b'"a'))
    assert PreviewReader(contract).feed(b"a").state is ReaderState.INVALID_SYNTAX
