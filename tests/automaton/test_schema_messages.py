"""Errors about a schema say what was found, what was wanted and the way out; what is ignored is visible."""

from __future__ import annotations

import pytest

from commitgate.automaton import SupportRow, compile
from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.excerpt import MAX_CHARACTERS, excerpt
from commitgate.errors import ContractError, MisuseError, SchemaError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue

ROOT = "https://example.com/schemas/root"
OTHER = "https://example.com/other"
DRAFT_4, DRAFT_7 = Draft.DRAFT_4.uri, Draft.DRAFT_7.uri


def message(schema: JsonValue, documents: dict[str, JsonSchema] | None = None) -> str:
    with pytest.raises(ContractError) as caught:
        compile(schema, documents=documents)
    return str(caught.value)


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "strng"}, 'found "strng"'),
        ({"$schema": 7}, "found 7"),
        ({"minLength": "3"}, 'found "3"'),
        ({"required": ["a", "a"]}, 'found ["a","a"]'),
        ({"uniqueItems": None}, "found null"),
        ({"properties": [True]}, "found [true]"),
        ({"multipleOf": 0}, "found 0"),
    ],
)
def test_value_of_the_wrong_form_is_shown(schema: JsonValue, found: str) -> None:
    assert found in message(schema)


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        ({"exclusiveMinimum": True, "minimum": 1}, DRAFT_4),
        ({"exclusiveMaximum": False, "maximum": 1}, DRAFT_4),
        ({"$schema": DRAFT_4, "exclusiveMinimum": 1, "minimum": 1}, Draft.DRAFT_2020_12.uri),
        ({"items": [{}]}, "write prefixItems, or name an older draft with $schema"),
        ({"properties": {"a": {"required": True}}}, "in the required of the object"),
    ],
)
def test_form_of_another_draft_comes_with_the_way_out(schema: JsonValue, advice: str) -> None:
    found = message(schema)
    assert advice in found
    assert found.index("; found ") < found.index(advice)


def test_excerpts_are_short_and_printable() -> None:
    for value in ("x" * 100_000, ["\n\u202e"] * 1_000, {"k" * 500: 1}, [["y" * 1_000]], 10**300, "\U0001f600"):
        shown = excerpt(value)
        assert len(shown) <= MAX_CHARACTERS
        assert shown.isascii()
        assert shown.isprintable()
    assert excerpt({"a": [1.5, None, True]}) == '{"a":[1.5,null,true]}'
    assert excerpt("x" * (MAX_CHARACTERS - 2)) == f'"{"x" * (MAX_CHARACTERS - 2)}"'
    assert excerpt("x" * (MAX_CHARACTERS - 1)).endswith("...")


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("https://json-schema.org/draft/2020-12", Draft.DRAFT_2020_12),
        ("https://json-schema.org/draft/2019-09/schemas", Draft.DRAFT_2019_09),
        ("http://json-schema.org/draft-7/schema", Draft.DRAFT_7),
    ],
)
def test_unknown_draft_is_shown_with_the_nearest(uri: str, meant: Draft) -> None:
    found = message({"$schema": uri})
    assert f'"{uri}"' in found
    assert f"did you mean {meant.uri}?" in found


def test_draft_that_is_like_none_is_told_the_latest() -> None:
    assert Draft.DRAFT_2020_12.uri in message({"$schema": "urn:mine"})


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_missing_document_is_named_as_it_was_resolved_beside_those_that_were_passed(keyword: str) -> None:
    schema: JsonValue = {"$id": ROOT, "properties": {"q": {keyword: "a.json#/definitions/x"}}}
    found = message(schema, {OTHER: {}})
    assert found.startswith(f"{keyword} at /properties/q ")
    assert '"https://example.com/schemas/a.json"' in found
    assert f'Passed in: "{OTHER}"' in found
    assert "--document URI=FILE" in found


def test_few_of_many_documents_are_named() -> None:
    found = message({"$ref": ROOT}, {f"https://example.com/{number:03d}": {} for number in range(100)})
    assert '"https://example.com/004" and 95 more' in found
    assert len(found) < 700


def test_relative_reference_without_a_base_is_told_what_it_lacks() -> None:
    found = message({"$ref": "a.json"})
    assert '"a.json"' in found
    assert "give the schema an $id" in found
    assert "'#" not in found
    assert '"#/definitions/x"' in message({"$ref": "/definitions/x"})


def test_reason_of_what_cannot_be_enforced_has_the_advice() -> None:
    with pytest.raises(UnsupportedError) as caught:
        compile({"pattern": r"(a)\1"})
    assert caught.value.reason.endswith("check it in a rule")
    assert str(caught.value).endswith(caught.value.reason)


def test_malformed_pattern_is_shown() -> None:
    with pytest.raises(SchemaError, match=r'character \d+ of "a\("'):
        compile({"pattern": "a("})


@pytest.mark.parametrize(
    "documents",
    [
        {"a.json": {}},
        {"": {}},
        {"https://example.com/a#part": {}},
        {3: {}},
        {"http://[": {}},
        {"urn:\ud800": {}},
        [{}],
        "https://x.org",
    ],
)
def test_documents_that_no_absolute_uri_names_are_misuse(documents: dict[str, JsonSchema]) -> None:
    with pytest.raises(MisuseError, match="document"):
        compile({}, documents=documents)


def test_empty_fragment_of_a_document_counts_as_none() -> None:
    assert compile({"$ref": OTHER}, documents={f"{OTHER}#": {"type": "null"}}).accepts(b"null")


def ignored(schema: JsonValue) -> dict[tuple[str, str], str]:
    rows = compile(schema).support
    assert all(row.reason for row in rows if row.level == "annotation")
    return {(row.keyword, row.pointer): row.reason for row in rows if row.level == "annotation"}


def test_word_that_is_no_keyword_of_the_draft_has_a_row() -> None:
    found = ignored({"type": "string", "maxLenght": 3, "properties": {"a": {"proprties": {}, "nullable": True}}})
    assert found == {
        ("maxLenght", ""): "no keyword of 2020-12; did you mean maxLength?",
        ("proprties", "/properties/a"): "no keyword of 2020-12; did you mean properties?",
        ("nullable", "/properties/a"): "no keyword of 2020-12",
    }


def test_keyword_of_another_draft_has_a_row() -> None:
    assert ignored({"$schema": DRAFT_4, "const": 1}) == {("const", ""): "no keyword of draft 4"}
    assert ignored({"additionalItems": False}) == {("additionalItems", ""): "no keyword of 2020-12"}


def test_what_an_old_draft_ignores_beside_a_reference_has_a_row() -> None:
    schema: JsonValue = {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#/definitions/x", "maxLength": 3}}}
    found = ignored({**schema, "definitions": {"x": {"title": "t"}}})
    assert found == {("maxLength", "/properties/a"): "draft 7 ignores what stands beside $ref"}


def test_keyword_that_the_vocabulary_leaves_out_has_a_row() -> None:
    meta: JsonSchema = {
        "$schema": Draft.DRAFT_2020_12.uri,
        "$id": OTHER,
        "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True},
    }
    (row,) = compile({"$schema": OTHER, "type": "null"}, documents={OTHER: meta}).support
    assert row == SupportRow("type", "", "annotation", "the meta-schema that $schema names leaves it out")


def test_prose_names_and_words_of_ones_own_have_no_row() -> None:
    assert ignored({"title": "t", "$comment": "c", "x-own": 1, "id": "u", "definitions": {}, "$anchor": "a"}) == {}


def test_rows_of_what_is_ignored_come_last_and_decide_nothing() -> None:
    rows = compile({"maxLenght": 3, "type": "string"}).support
    assert [(row.keyword, row.level) for row in rows] == [("type", "decoded"), ("maxLenght", "annotation")]


def test_many_unknown_words_are_all_told() -> None:
    words = {f"{number}" + "w" * 30: number for number in range(2_000)}
    assert len(ignored(dict(words))) == 2_000
