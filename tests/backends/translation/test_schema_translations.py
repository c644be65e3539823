"""A schema is said in the words that a vendor takes, exactly where that can be, and whatever it loses is named."""

from __future__ import annotations

from typing import cast

import pytest
from backends.translation.vendor_servers import VENDOR_NAMES, server

from commitgate import AnyJson, Contract
from commitgate.automaton import compile
from commitgate.backends.translation import Translation, translate
from commitgate.difference import Difference
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.limits import Limits
from commitgate.lint.vendor_facts import TABLE_VERSION


def said(schema: JsonObject | bool, vendor: str | None, *, refuses: bool = True) -> Translation:
    return translate(Contract.json_schema(schema), server(vendor, refuses=refuses))


def schema_of(translation: Translation) -> JsonObject:
    assert isinstance(translation.schema, dict)
    return translation.schema


def listed(translation: Translation) -> set[tuple[str, str, str]]:
    """Return kind, place and keyword of each difference."""
    return {(each.kind, each.pointer, each.keyword) for each in translation.differences}


def closed(properties: JsonObject, **more: JsonValue) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


def test_a_server_of_our_own_is_sent_the_schema_as_it_is() -> None:
    schema: JsonObject = {"type": "object", "not": {"required": ["a"]}, "uniqueItems": True}
    translation = said(schema, None)
    assert (translation.schema, translation.differences, translation.table) == (schema, (), "")
    assert translation.shape.is_same


@pytest.mark.parametrize("vendor", VENDOR_NAMES)
def test_what_every_vendor_takes_is_sent_as_it_is(vendor: str) -> None:
    if vendor == "gemini_openapi":  # it has no word for closed objects
        return
    schema = closed({"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}})
    contract = Contract.json_schema(schema)
    translation = translate(contract, server(vendor))
    assert (translation.schema, translation.sent, translation.form) == (schema, contract, "json_schema")
    assert translation.is_decoded
    assert translation.table == TABLE_VERSION


def test_what_is_not_taken_is_left_out_and_named_with_what_the_vendor_does() -> None:
    schema = closed({"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}})
    translation = said(schema, "vllm")
    assert translation.differences == (
        Difference(
            kind="checked",
            pointer="/properties/a",
            keyword="uniqueItems",
            reason="the vllm server refuses uniqueItems (measured)",
        ),
    )
    assert not translation.is_decoded
    assert compile(translation.sent).accepts(b'{"a": [1, 1]}')


def test_a_keyword_below_one_that_reverses_is_not_left_out_alone() -> None:
    # Without the pattern, "not" would let nothing through.
    schema = closed({"a": {"type": "string", "not": {"pattern": "^x"}}})
    translation = said(schema, "vllm")
    assert schema_of(translation) == closed({"a": {"type": "string"}})
    assert listed(translation) == {("checked", "/properties/a", "not")}


def test_branches_of_one_of_stay_exclusive_only_where_nothing_in_them_is_left_out() -> None:
    branch = {"type": "string", "maxLength": 3, "pattern": "^a*$"}
    schema = closed({"a": {"oneOf": [branch, {"type": "integer"}]}})
    translation = said(schema, "sglang")
    assert schema_of(translation) == closed(
        {"a": {"anyOf": [{"type": "string", "pattern": "^a*$"}, {"type": "integer"}]}}
    )
    assert ("rewritten", "/properties/a", "oneOf") in listed(translation)
    assert ("checked", "/properties/a/oneOf/0", "maxLength") in listed(translation)


def test_a_reference_from_below_not_guards_what_it_refers_to() -> None:
    schema: JsonObject = {
        **closed({"a": {"$ref": "#/$defs/x"}, "b": {"oneOf": [{"$ref": "#/$defs/x"}, {"type": "integer"}]}}),
        "$defs": {"x": {"type": "string", "minLength": 2, "pattern": "^b*$"}},
    }
    translation = said(schema, "sglang")
    assert "oneOf" not in str(translation.schema)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ({"type": "string"}, {"type": "integer"}, "rewritten"),
        ({"const": 1}, {"enum": [2, "1"]}, "rewritten"),
        (closed({"k": {"const": "a"}}), closed({"k": {"const": "b"}}), "rewritten"),
        (closed({"k": {"type": "string"}}), closed({"n": {"type": "string"}}), "rewritten"),
        ({"type": "string"}, {"type": "string", "minLength": 1}, "checked"),
        ({"const": 1}, {"enum": [1.0, 2]}, "checked"),
        ({"type": "integer"}, {"type": "number"}, "checked"),
    ],
)
def test_one_of_is_any_of_where_branches_are_apart(first: JsonValue, second: JsonValue, kind: str) -> None:
    translation = said(closed({"a": {"oneOf": [first, second]}}), "openai")
    assert (kind, "/properties/a", "oneOf") in listed(translation)


def test_all_of_is_merged() -> None:
    schema: JsonObject = {
        "type": "object",
        "allOf": [
            {"properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
            {"properties": {"a": {"type": "number", "minimum": 3}, "b": {"type": "string"}}, "required": ["b"]},
        ],
        "additionalProperties": True,
    }
    translation = said(schema, "openai")
    assert schema_of(translation) == closed({"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}})
    assert {each.kind for each in translation.differences} == {"rewritten", "narrowed"}


def test_what_all_of_cannot_merge_is_left_out_and_named() -> None:
    schema = closed({"a": {"type": "string", "pattern": "^a", "allOf": [{"pattern": "b$"}, {"maxLength": 4}]}})
    translation = said(schema, "openai")
    assert schema_of(translation) == closed({"a": {"type": "string", "pattern": "^a", "maxLength": 4}})
    assert ("checked", "/properties/a/allOf/0", "pattern") in listed(translation)


def test_siblings_of_a_reference_are_said_with_what_it_refers_to() -> None:
    schema: JsonObject = {
        **closed({"a": {"$ref": "#/$defs/n", "maximum": 5}, "b": {"$ref": "#/$defs/n"}}),
        "$defs": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
    }
    translation = said(schema, "vllm")
    assert schema_of(translation)["properties"] == {
        "a": {"type": "integer", "minimum": 1, "maximum": 5},
        "b": {"$ref": "#/$defs/n"},
    }
    assert {each.kind for each in translation.differences} == {"rewritten"}


def test_merging_recursive_schemas_comes_to_an_end() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": closed({"v": {"type": "integer"}, "n": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]}}),
            "b": {"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"n": {"$ref": "#/$defs/c"}}}]},
            "c": {"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#/$defs/b"}, {"minProperties": 2}]}]},
        },
    }
    translation = said(schema, "openai")
    assert len(str(translation.schema)) < 3_000
    assert compile(translation.sent).accepts(b'{"v": 1, "n": {"v": 2, "n": null}}')


def test_merging_many_choices_stays_small_or_is_refused() -> None:
    choices: list[JsonValue] = [
        {"anyOf": [{"minimum": number, "type": "number"}, {"maxLength": number, "type": "string"}]}
        for number in range(1, 40)
    ]
    translation = said(closed({"a": {"allOf": choices}}), "openai")
    assert len(str(translation.schema)) < 20_000
    assert any(each.kind == "checked" for each in translation.differences)


def test_what_stands_beside_branches_is_said_in_each() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "anyOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}, {"properties": {"a": {"maximum": 1}}}],
        "title": "T",
    }
    translation = said(schema, "llama_cpp")
    assert schema_of(translation) == {
        "title": "T",
        "anyOf": [
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                "required": ["a", "b"],
            },
            {"type": "object", "properties": {"a": {"type": "integer", "maximum": 1}}, "required": ["a"]},
        ],
    }


def test_older_drafts_are_said_in_the_words_of_the_newest() -> None:
    schema: JsonObject = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.test/s",
        "type": "array",
        "items": [{"$ref": "#/definitions/low", "description": "stands beside"}, {"type": "boolean"}],
        "additionalItems": {"type": "null"},
        "definitions": {"low": {"type": "number", "maximum": 3, "exclusiveMaximum": True}},
    }
    translation = said(schema, "llguidance")
    assert schema_of(translation) == {
        "type": "array",
        "prefixItems": [{"description": "stands beside", "$ref": "#/$defs/low"}, {"type": "boolean"}],
        "items": {"type": "null"},
        "$defs": {"low": {"type": "number", "exclusiveMaximum": 3}},
    }


def test_an_integer_of_draft_4_may_not_be_written_with_a_point() -> None:
    schema: JsonObject = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
    assert listed(said(schema, "vllm")) == {("checked", "", "type")}


def test_documents_come_with_the_schema() -> None:
    contract = Contract.json_schema(
        closed({"a": {"$ref": "http://example.test/d#/$defs/x"}}),
        documents={"http://example.test/d": {"$defs": {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}}}},
    )
    for vendor in ("vllm", None):
        sent = schema_of(translate(contract, server(vendor)))
        assert sent["$defs"] == {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}}
        assert cast("JsonObject", sent["properties"])["a"] == {"$ref": "#/$defs/x"}


def test_prose_is_kept_or_stripped_as_the_contract_says() -> None:
    schema = closed({"a": {"type": "string", "description": "what", "x-note": 1}}, title="T")
    kept = schema_of(translate(Contract.json_schema(schema), server("gemini")))
    assert "what" in str(kept)
    stripped = translate(Contract.json_schema(schema, prose="strip"), server("gemini"))
    assert schema_of(stripped) == closed({"a": {"type": "string"}})


def test_formats_that_are_notes_are_not_sent() -> None:
    schema = closed({"a": {"type": "string", "format": "date-time"}})
    contract = Contract.json_schema(schema, formats="annotate")
    assert schema_of(translate(contract, server("vllm"))) == closed({"a": {"type": "string"}})


@pytest.mark.parametrize(
    ("given", "sent", "kind"),
    [
        ("^\\d{2}$", "^[0-9]{2}$", "rewritten"),
        ("^[\\d.]\\W$", "^[0-9.][^A-Za-z0-9_]$", "rewritten"),
        ("^\\\\d$", "^\\\\d$", None),
        ("^\\s$", None, "checked"),
        ("^[\\D]$", None, "checked"),
        ("ab", None, "checked"),
    ],
)
def test_classes_are_spelled_out_where_they_are_not_read(given: str, sent: str | None, kind: str | None) -> None:
    translation = said(closed({"a": {"type": "string", "pattern": given}}), "llama_cpp")
    wanted: JsonObject = {"type": "string"} if sent is None else {"type": "string", "pattern": sent}
    assert schema_of(translation) == closed({"a": wanted})
    assert {each.kind for each in translation.differences} == ({kind} if kind else set[str]())


def test_exclusive_bounds_of_integers_become_bounds() -> None:
    translation = said(
        closed({"a": {"type": "integer", "exclusiveMinimum": 1.5, "minimum": 0, "maximum": 7}}), "gemini"
    )
    assert schema_of(translation) == closed({"a": {"type": "integer", "minimum": 2, "maximum": 7}})


def test_the_end_of_a_tuple_is_said_by_its_length() -> None:
    schema: JsonObject = {"type": "array", "prefixItems": [{"type": "null"}, {"type": "null"}], "items": False}
    translation = said(schema, "outlines")
    assert schema_of(translation) == {"type": "array", "prefixItems": schema["prefixItems"], "maxItems": 2}
    assert {each.kind for each in translation.differences} == {"rewritten"}


def test_required_names_are_declared() -> None:
    schema: JsonObject = {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}
    translation = said(schema, "xgrammar")
    assert schema_of(translation)["properties"] == {"a": {"type": "integer"}}


def test_patterns_of_keys_go_with_what_hangs_on_them() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"b": {"type": "integer"}},
        "patternProperties": {"^a": {"type": "string"}},
        "additionalProperties": False,
    }
    translation = said(schema, "anthropic")
    assert listed(translation) == {("narrowed", "", "patternProperties")}
    assert schema_of(translation)["additionalProperties"] is False
    reaching: JsonObject = {**schema, "patternProperties": {"b": {"minimum": 3}}}
    assert ("checked", "", "patternProperties") in listed(said(reaching, "anthropic"))


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize("extras", [{"type": "integer"}, True, None])
def test_an_object_without_declared_keys_is_unsupported_where_objects_are_closed(
    vendor: str, extras: JsonValue
) -> None:
    inner: JsonObject = {"type": "object"} if extras is None else {"type": "object", "additionalProperties": extras}
    with pytest.raises(UnsupportedError, match=r"list of objects with a key and a value") as caught:
        said(closed({"m": inner}), vendor)
    assert caught.value.pointer == "/properties/m"


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_any_json_is_asked_for_by_the_prompt_alone(vendor: str) -> None:
    contract = Contract.of(AnyJson())
    translation = translate(contract, server(vendor))
    assert (translation.form, translation.sent) == ("prompt", contract)
    assert not translation.is_decoded


def test_a_server_without_a_form_for_schemas_is_told_nothing() -> None:
    translation = translate(Contract.json_schema(closed({"a": True})), server("vllm", "regex"))
    assert translation.form == "prompt"
    assert [each.kind for each in translation.differences] == ["checked"]


@pytest.mark.parametrize(
    ("vendor", "schema"),
    [
        ("openai", {"type": "array", "items": {"type": "integer"}}),
        ("openai", {"anyOf": [closed({"a": {"type": "null"}}), closed({"b": {"type": "null"}})]}),
        ("openai", {"type": "integer"}),
        ("tgi", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("anthropic", {"type": "integer"}),
    ],
)
def test_a_root_that_is_not_taken_is_wrapped(vendor: str, schema: JsonObject) -> None:
    translation = said(schema, vendor)
    assert translation.shape.is_wrapped
    assert {each.pointer for each in translation.differences if each.kind == "wrapped"} == {""}
    assert schema_of(translation)["required"] == ["value"]


def test_a_wrapped_value_may_be_as_deep_as_the_contract_says() -> None:
    contract = Contract.json_schema({"type": "array", "items": {"$ref": "#"}}, limits=Limits(nesting=3))
    accepts = compile(translate(contract, server("openai")).sent).accepts
    assert accepts(b'{"value": [[[]]]}')
    assert not accepts(b'{"value": [[[[]]]]}')


def test_optional_properties_are_nullable_or_required_by_what_null_means() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"enum": ["x"], "type": "string"},
            "c": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "d": {"type": ["string", "null"]},
            "e": {"$ref": "#/$defs/e"},
            "f": {"const": 1},
        },
        "additionalProperties": False,
        "$defs": {"e": {"type": "array", "items": {"type": "string"}}},
    }
    translation = said(schema, "openai")
    sent = schema_of(translation)
    assert sent["required"] == ["a", "b", "c", "d", "e", "f"]
    assert sent["properties"] == {
        "a": {"type": ["string", "null"]},
        "b": {"type": ["string", "null"], "enum": ["x", None]},
        "c": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "d": {"type": ["string", "null"]},
        "e": {"anyOf": [{"$ref": "#/$defs/e"}, {"type": "null"}]},
        "f": {"anyOf": [{"const": 1}, {"type": "null"}]},
    }
    kinds = {each.pointer: each.kind for each in translation.differences}
    assert {pointer for pointer, kind in kinds.items() if kind == "narrowed"} == {"/properties/d"}
    assert sum(kind == "nullable" for kind in kinds.values()) == 5


def test_a_null_that_would_mean_two_things_at_one_place_is_unsupported() -> None:
    def pet(name: JsonValue) -> JsonObject:
        return {"type": "object", "properties": {"name": name}, "additionalProperties": False}

    schema = closed({"pets": {"type": "array", "items": {"anyOf": [pet({"type": "string"}), pet({"type": "null"})]}}})
    with pytest.raises(UnsupportedError, match="null would be the user's own") as caught:
        said(schema, "openai")
    assert caught.value.pointer == "/properties/pets/items/anyOf/1/properties/name"


@pytest.mark.parametrize(
    ("vendor", "schema", "words"),
    [
        ("openai", closed({"a": {"enum": list(range(1_001))}}), "1,000 enum values"),
        ("anthropic", {"type": "object", "properties": {f"p{n}": {"type": "null"} for n in range(25)}}, "24 optional"),
        ("anthropic", closed({f"p{n}": {"type": ["null", "string"]} for n in range(17)}), "16 unions"),
    ],
)
def test_more_than_a_vendor_takes_is_unsupported_before_it_is_sent(vendor: str, schema: JsonObject, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        said(schema, vendor)


def test_nesting_beyond_what_openai_takes_is_unsupported() -> None:
    schema: JsonObject = {"type": "string"}
    for _ in range(11):
        schema = closed({"a": schema})
    with pytest.raises(UnsupportedError, match="at most 10 nesting"):
        said(schema, "openai")


def test_recursion_is_unsupported_where_it_is_refused() -> None:
    schema = closed({"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}})
    with pytest.raises(UnsupportedError, match="write out the levels"):
        said(schema, "anthropic")
    assert schema_of(said(schema, "openai")) == schema


def test_a_model_may_decline_in_the_schema_that_is_sent() -> None:
    contract = Contract.json_schema(closed({"a": {"type": "integer"}}), refusal=True)
    translation = translate(contract, server("llama_cpp"))
    branches = schema_of(translation)["anyOf"]
    assert isinstance(branches, list)
    assert branches[0] == closed({"a": {"type": "integer"}})
    accepts = compile(translation.sent).accepts
    assert accepts(b'{"refusal": "I may not"}')
    assert accepts(b'{"a": 1}')
    assert not accepts(b'{"refusal": ""}')
    own = translate(contract, server("llama_cpp", refuses=True))
    assert schema_of(own) == closed({"a": {"type": "integer"}})


def test_declining_is_wrapped_with_the_value() -> None:
    contract = Contract.json_schema({"type": "array", "items": {"type": "integer"}}, refusal=True)
    translation = translate(contract, server("tgi"))
    restorer = translation.shape.restorer()
    text = b'{"value": {"refusal": "no"}}'
    assert compile(translation.sent).accepts(text)
    assert restorer.feed(text) + restorer.finish() == b'{"refusal": "no"}'


@pytest.mark.parametrize("vendor", VENDOR_NAMES)
def test_no_value_of_a_schema_stands_in_a_reason(vendor: str) -> None:
    secret = "k9-secret"
    schema = closed({"a": {"type": "string", "pattern": f"{secret}\\b", "minLength": 4, "default": secret}})
    translation = said(schema, vendor)
    assert secret not in repr(translation)
