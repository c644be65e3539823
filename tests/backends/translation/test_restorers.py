"""A text as received is put into the contract's shape, byte by byte, however it is cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from backends.translation.vendor_servers import server
from hypothesis import given
from hypothesis import strategies as st

from commitgate import Choices, Contract
from commitgate.backends.translation import SAME, Translation, translate
from commitgate.json_value import JsonValue

PERSON: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "nick": {"type": ["string", "null"]},
        'a "b"\\é': {"type": "boolean"},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
"""Of whose optional properties ``nick`` alone has a null of its own."""


BARE: JsonValue = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}


def restored(translation: Translation, text: bytes, cuts: tuple[int, ...] = ()) -> bytes:
    """Return a text in the contract's shape, fed in the pieces between some offsets."""
    restorer = translation.shape.restorer()
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    found = b"".join(restorer.feed(text[start:end]) for start, end in pairwise(edges))
    return found + restorer.finish()


def byte_by_byte(translation: Translation, text: bytes) -> bytes:
    return restored(translation, text, tuple(range(1, len(text))))


def of_openai(schema: dict[str, JsonValue] | bool) -> Translation:
    return translate(Contract.json_schema(schema), server("openai"))


person = of_openai(PERSON)


@pytest.mark.parametrize(
    ("received", "wanted"),
    [
        ('{"name":"x","age":null}', '{"name":"x"}'),
        ('{"age":null,"name":"x"}', '{"name":"x"}'),
        ('{"age": null}', "{}"),
        ('{ "age": null, "friends": null }', "{ }"),
        ('{"name": "x", "age": null, "nick": "y"}', '{"name": "x", "nick": "y"}'),
        ('{\n  "age": null,\n  "name": "x"\n}', '{\n  "name": "x"\n}'),
        ('{\n  "name": "x",\n  "age": null\n}\n', '{\n  "name": "x"\n}\n'),
        ('{"name":"x" , "age" : null , "nick":null}', '{"name":"x" , "nick":null}'),
        ('{"name":"null","nick":null,"age":7}', '{"name":"null","nick":null,"age":7}'),
        ('{"\\u0061ge":null,"name":"x"}', '{"name":"x"}'),
        ('{"a \\"b\\"\\\\é":null,"name":"é"}', '{"name":"é"}'),
        ('{"a \\"b\\"\\\\\\u00e9":null,"name":"x"}', '{"name":"x"}'),
        (
            '{"friends":[{"name":"y","age":null},{"friends":[{"age":null}]}],"age":null}',
            '{"friends":[{"name":"y"},{"friends":[{}]}]}',
        ),
        ('{"friends":[ ],"age":1.50e0}', '{"friends":[ ],"age":1.50e0}'),
        ('{"name":"\\"age\\":null,","age":null}', '{"name":"\\"age\\":null,"}'),
    ],
)
def test_added_nulls_are_taken_out_with_their_commas(received: str, wanted: str) -> None:
    assert restored(person, received.encode()).decode() == wanted
    assert byte_by_byte(person, received.encode()).decode() == wanted


def test_a_null_of_the_users_own_stays() -> None:
    text = b'{"name":"x","nick":null,"age":1}'
    assert restored(person, text) == text


def test_nulls_are_taken_out_by_the_branch_that_the_place_belongs_to() -> None:
    translation = of_openai(
        {
            "type": "object",
            "properties": {
                "pet": {
                    "anyOf": [
                        {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}},
                        {"type": "object", "properties": {"kind": {"const": "dog"}, "tail": {"type": "null"}}},
                    ]
                }
            },
            "required": ["pet"],
        }
    )
    assert restored(translation, b'{"pet":{"kind":"cat","lives":null}}') == b'{"pet":{"kind":"cat"}}'
    assert restored(translation, b'{"pet":{"kind":"dog","tail":null}}') == b'{"pet":{"kind":"dog","tail":null}}'


def test_what_may_still_be_taken_out_is_held_back_and_nothing_else() -> None:
    restorer = person.shape.restorer()
    assert restorer.feed(b'{"name":"a long ') == b'{"name":"a long '
    assert restorer.feed(b'text", "ag') == b'text"'
    assert restorer.feed(b'e": ') == b""
    assert restorer.feed(b"7") == b', "age": 7'


def test_a_key_longer_than_all_that_matter_is_not_held_back() -> None:
    restorer = person.shape.restorer()
    key = b'{"' + b"x" * 1_000
    assert restorer.feed(key) == key
    assert restorer.feed(b'y":null,"age":null}') == b'y":null}'


@pytest.mark.parametrize(
    ("value", "around"),
    [
        (b"[1, 2 ]", b'{"value": %s}'),
        (b"[]", b' { "value" :\n%s } '),
        (b'["]}", {"a": [3]}]', b'{"value":%s}\n'),
    ],
)
def test_a_wrapped_value_comes_out_as_it_is_spelled(value: bytes, around: bytes) -> None:
    translation = of_openai({"type": "array", "items": True})
    assert translation.shape.is_wrapped
    assert restored(translation, around % value) == value
    assert byte_by_byte(translation, around % value) == value


@pytest.mark.parametrize("value", [b"-1.50e+3", b"0", b"true", b"null", b'"\\u00e9 \\"}"'])
def test_a_wrapped_scalar_comes_out_as_it_is_spelled(value: bytes) -> None:
    translation = of_openai({"type": ["number", "boolean", "null", "string"]})
    for text in (b'{"value":%s}' % value, b'{ "v\\u0061lue" : %s }' % value, b'{"value":%s\n}' % value):
        assert restored(translation, text) == value
        assert byte_by_byte(translation, text) == value


def test_nulls_are_taken_out_of_a_wrapped_value() -> None:
    translation = of_openai({"type": "array", "items": BARE})
    text = b'{"value": [{"name": "x", "age": null}]}'
    assert byte_by_byte(translation, text) == b'[{"name": "x"}]'


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@given(texts, st.booleans(), st.lists(st.integers(0, 200), max_size=6))
def test_a_wrapped_text_is_decoded_however_it_is_spelled_and_cut(text: str, is_ascii: bool, cuts: list[int]) -> None:
    translation = translate(Contract.of(Choices([text, "other"])), server("openai"))
    received = json.dumps({"value": text}, ensure_ascii=is_ascii).encode()
    assert restored(translation, received, tuple(cuts)) == text.encode()


def test_a_short_escape_stands_for_its_character() -> None:
    translation = translate(Contract.of(Choices(["/\b\f"])), server("openai"))
    assert byte_by_byte(translation, b'{"value":"\\/\\b\\f"}') == b"/\b\f"


people = st.recursive(
    st.fixed_dictionaries({"name": texts, "age": st.none() | st.integers(), "nick": st.none() | texts}),
    lambda inner: st.fixed_dictionaries(
        {"name": texts, "age": st.none() | st.integers(), "friends": st.none() | st.lists(inner, max_size=3)}
    ),
    max_leaves=5,
)


def without_added_nulls(value: JsonValue) -> JsonValue:
    """Return a person without the nulls that are not its own: the slow and plain way."""
    assert isinstance(value, dict)
    found: dict[str, JsonValue] = {}
    for key, member in value.items():
        if member is None and key in ("age", "friends"):
            continue
        found[key] = [without_added_nulls(each) for each in member] if isinstance(member, list) else member
    return found


@given(people, st.sampled_from([None, 1]), st.booleans(), st.lists(st.integers(0, 400), max_size=8))
def test_any_cut_gives_the_same_text(value: JsonValue, indent: int | None, is_ascii: bool, cuts: list[int]) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode()
    whole = restored(person, text)
    assert json.loads(whole) == without_added_nulls(value)
    assert restored(person, text, tuple(cuts)) == whole


@given(people, st.booleans())
def test_a_text_without_added_nulls_is_restored_to_itself(value: JsonValue, is_ascii: bool) -> None:
    text = json.dumps(without_added_nulls(value), ensure_ascii=is_ascii).encode()
    assert restored(person, text) == text


def test_a_text_that_needs_nothing_passes_as_it_is() -> None:
    assert SAME.is_same
    assert SAME.restorer().feed(b'{"a": null') == b'{"a": null'
