"""Patterns and formats in the schema layer: what ECMA-262 and the formats' own definitions say, in every draft."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.regex import pattern_language
from commitgate.errors import SchemaError
from commitgate.gate.pattern_search import PatternSearch
from commitgate.gate.rust_pattern import MOST_COUNTED, NEVER, rust_pattern
from commitgate.gate.schema_layer import SchemaLayer

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)

EXPLODING = "^(a|b)*a(a|b){18}$"
"""A pattern whose automaton has more than half a million states."""

FOUND = [
    ("^\\d$", "7", "٣"),
    ("^\\w$", "a", "ä"),
    ("^\\s$", "\ufeff", "\x85"),
    ("^\\S+$", "\x85", "a b"),
    ("^a$", "a", "a\n"),
    ("^.$", "😀", "\u2028"),
    ("^(?!x-)[a-z-]+$", "y-a", "x-a"),
    ("(?<=a)b", "ab", "cb"),
    ("^[^]$", "\n", ""),
    ("\\bfoo\\b", "a foo", "äfoo1"),
    ("^\\p{Lu}$", "Ä", "ä"),
    ("^\\cA$", "\x01", "A"),
    ("^a{2,3}$", "aa", "aaaa"),
    ("", "", None),
    ("[]", None, "x"),
]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(("pattern", "right", "wrong"), FOUND)
def test_pattern_means_what_the_automaton_reads(draft: str, pattern: str, right: str | None, wrong: str | None) -> None:
    layer = SchemaLayer({"$schema": draft, "pattern": pattern})
    if right is not None:
        assert layer.judge(right) == ()
    if wrong is not None:
        assert [failure.code for failure in layer.judge(wrong)] == ["pattern"]
    assert layer.judge(7) == ()


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(("pattern", "right", "wrong"), FOUND)
def test_pattern_of_a_key_means_the_same(draft: str, pattern: str, right: str | None, wrong: str | None) -> None:
    schema = {"$schema": draft, "patternProperties": {pattern: {"type": "null"}}, "additionalProperties": False}
    layer = SchemaLayer(schema)
    if right is not None:
        assert layer.judge({right: None}) == ()
        assert [failure.code for failure in layer.judge({right: 1})] == ["type"]
    if wrong is not None:
        assert [failure.code for failure in layer.judge({wrong: None})] == ["additionalProperties"]


def test_key_pattern_counts_as_evaluated() -> None:
    schema = {"allOf": [{"patternProperties": {"^\\d$": True}}], "unevaluatedProperties": False}
    layer = SchemaLayer(schema)
    assert layer.judge({"7": 1}) == ()
    assert [failure.code for failure in layer.judge({"٣": 1})] == ["unevaluatedProperties"]


def test_two_spellings_of_one_pattern_both_hold() -> None:
    layer = SchemaLayer({"patternProperties": {"^\\d$": {"type": "integer"}, "^[0-9]$": {"minimum": 5}}})
    assert layer.judge({"1": 7}) == ()
    assert [failure.code for failure in layer.judge({"1": 3})] == ["minimum"]
    assert [failure.code for failure in layer.judge({"1": 5.5})] == ["type"]


def test_reference_through_a_key_pattern_is_followed() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/patternProperties/%5E%5Cd~1%24"}},
        "patternProperties": {"^\\d/$": {"type": "null"}},
    }
    layer = SchemaLayer(schema)
    assert layer.judge({"a": None}) == ()
    assert [failure.code for failure in layer.judge({"a": 1})] == ["type"]


def test_failure_names_the_schemas_own_words() -> None:
    schema = {"patternProperties": {"^\\d$": {"pattern": "^\\w+$"}}}
    (failure,) = SchemaLayer(schema).judge({"7": "canary!"})
    assert failure.message == "the text must match the pattern ^\\w+$"
    assert failure.data == {"pointer": "/7", "schema_pointer": "/patternProperties/^\\d$/pattern"}
    assert "canary" not in repr(failure)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"pattern": "("}, "", "pattern"),
        ({"properties": {"a": {"items": {"pattern": "a{2,1}"}}}}, "/properties/a/items", "pattern"),
        ({"patternProperties": {"[b-a]": True}}, "", "patternProperties"),
        ({"pattern": "(a)\\1"}, "", "pattern"),
    ],
)
def test_malformed_pattern_is_an_error_with_its_place(schema: object, pointer: str, keyword: str) -> None:
    with pytest.raises(SchemaError) as caught:
        SchemaLayer(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)
    assert "character" in str(caught.value)


def test_word_pattern_elsewhere_is_no_pattern() -> None:
    layer = SchemaLayer({"properties": {"pattern": {"type": "null"}}, "const": {"pattern": "("}, "default": "("})
    assert layer.judge({"pattern": "("})[0].code == "type"


def test_schema_where_no_keyword_holds_one_has_its_pattern() -> None:
    layer = SchemaLayer({"$ref": "#/x-shared/a", "x-shared": {"a": {"pattern": "^[a-z]$"}}})
    assert layer.judge("a") == ()
    assert layer.judge("1") != ()


def test_own_word_in_a_schema_means_nothing() -> None:
    assert SchemaLayer({"x-commitgate-pattern": "^a$"}).judge("b") == ()


@pytest.mark.parametrize("place", ["pattern", "patternProperties"])
def test_pattern_too_large_for_an_automaton_is_looked_for_all_the_same(place: str) -> None:
    right, wrong = "a" + "b" * 18, "b" * 19
    if place == "pattern":
        layer = SchemaLayer({"pattern": EXPLODING})
        assert layer.judge(right) == ()
        assert layer.judge(wrong)[0].code == "pattern"
    else:
        layer = SchemaLayer({"patternProperties": {EXPLODING: True}, "additionalProperties": False})
        assert layer.judge({right: 1}) == ()
        assert layer.judge({wrong: 1})[0].code == "additionalProperties"


TEXTS = st.text(st.sampled_from("abx-1٣ \n\u2028😀]^\\"), max_size=8)


@settings(deadline=None, max_examples=200)
@given(text=TEXTS)
@pytest.mark.parametrize(
    "pattern",
    ["^a", "b$", "x-", "^[a-b]{0,3}$", "^.{2,}$", "(ab|ba)+", "^[^a]*$", "^(?!a)", "\\]\\^", "^(a|b1)*-?$", "\\\\"],
)
def test_written_pattern_is_found_where_the_read_one_is(pattern: str, text: str) -> None:
    language = pattern_language(pattern)
    written = rust_pattern(language)
    assert language is not None
    assert written is not None
    from jsonschema_rs import validator_for

    assert validator_for({"pattern": written}).is_valid(text) == language.contains(text)


def test_pattern_that_is_found_nowhere_is_written_as_one() -> None:
    assert rust_pattern(pattern_language("[]")) == NEVER


@pytest.mark.parametrize(("most", "is_written"), [(MOST_COUNTED, True), (MOST_COUNTED + 1, False)])
def test_long_counts_are_not_written(most: int, is_written: bool) -> None:
    assert (rust_pattern(pattern_language(f"^[ab]{{1,{most}}}$")) is not None) == is_written


def test_patterns_are_read_once() -> None:
    search = PatternSearch()
    assert search.finds("^a") is search.finds("^a")


@pytest.mark.parametrize("draft", DRAFTS)
def test_format_is_asserted_in_every_draft_unless_it_only_annotates(draft: str) -> None:
    schema = {"$schema": draft, "properties": {"a": {"format": "uuid"}, "b": {"format": "date"}}}
    value = {"a": "canary", "b": "2026-02-30"}
    failures = SchemaLayer(schema).judge(value)
    assert [(failure.code, failure.pointer) for failure in failures] == [("format", "/a"), ("format", "/b")]
    assert failures[0].message == "the text must be of the format uuid"
    assert failures[0].data == {"pointer": "/a", "schema_pointer": "/properties/a/format"}
    assert SchemaLayer(schema, formats="annotate").judge(value) == ()
    assert SchemaLayer(schema).judge({"a": 1, "b": None}) == ()


def test_unknown_format_annotates() -> None:
    assert SchemaLayer({"format": "phone"}).judge("canary") == ()


@pytest.mark.parametrize("draft", DRAFTS)
def test_content_keywords_annotate(draft: str) -> None:
    schema = {"$schema": draft, "contentMediaType": "application/json", "contentEncoding": "base64"}
    assert SchemaLayer(schema).judge("{") == ()
