"""``commitgate check`` in a child process: what each layer says of a text."""

import json
from typing import Any

import pytest
from cli.command_shell import WHOLE, Shell


def layers(shell: Shell, text: str | bytes) -> dict[str, dict[str, Any]]:
    shell.write("text.json", text)
    done = shell.commitgate("check", "--schema", "schema.json", "--json", "text.json")
    (found,) = done.report["texts"]
    assert done.code == (0 if found["accepted"] else 19)
    assert done.report["accepted"] == found["accepted"] == all(layer["passed"] for layer in found["layers"])
    return {layer["layer"]: layer for layer in found["layers"]}


def passed(found: dict[str, dict[str, Any]]) -> dict[str, bool | None]:
    return {name: layer["passed"] for name, layer in found.items()}


@pytest.mark.parametrize("text", [WHOLE, WHOLE + "\n", ' { "summary" : "x" , "priority" : "\\u006cow" } '])
def test_every_spelling_of_a_valid_value_is_accepted(shell: Shell, text: str) -> None:
    assert passed(layers(shell, text)) == {"accept": True, "parse": True, "schema": True}


def test_value_outside_the_schema_is_named_by_byte_and_pointer(shell: Shell) -> None:
    found = layers(shell, '{"priority": "urgent", "summary": "x"}')
    assert passed(found) == {"accept": False, "parse": True, "schema": False}
    (walked,) = found["accept"]["failures"]
    assert walked["data"]["position"] == 14
    assert "/properties/priority" in walked["message"]
    assert found["schema"]["failures"][0]["data"]["pointer"] == "/priority"


def test_cut_text_is_incomplete_where_it_ends(shell: Shell) -> None:
    found = layers(shell, WHOLE[:-1])
    assert passed(found) == {"accept": False, "parse": False, "schema": None}
    (walked,) = found["accept"]["failures"]
    assert walked["code"] == "incomplete"
    assert walked["message"].startswith("the text ends here; expected ")
    assert walked["data"]["position"] == len(WHOLE) - 1


@pytest.mark.parametrize("text", [WHOLE + "x", "", b"\xff", '{"priority": "low", "priority": "low", "summary": ""}'])
def test_text_that_is_no_value_passes_neither_layer(shell: Shell, text: str | bytes) -> None:
    assert passed(layers(shell, text)) == {"accept": False, "parse": False, "schema": None}


def test_several_texts_are_told_one_by_one(shell: Shell) -> None:
    shell.write("good.json", WHOLE)
    shell.write("bad.json", "[]")
    done = shell.commitgate("check", "--schema", "schema.json", "good.json", "bad.json")
    assert done.code == 19
    assert "good.json: accepted" in done.out
    assert "bad.json: not accepted" in done.out
    assert "byte 0: expected" in done.out
    assert done.err == ""


def test_text_may_come_from_standard_input(shell: Shell) -> None:
    assert shell.commitgate("check", "--schema", "schema.json", "-", stdin=WHOLE).code == 0


def test_text_that_cannot_be_read_is_a_usage_error(shell: Shell) -> None:
    done = shell.commitgate("check", "--schema", "schema.json", "gone.json")
    assert done.code == 2
    assert "gone.json" in done.err


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"pattern": r"(.)\1"}, 15),
        ({"$ref": "https://example.com/b"}, 15),
        ({"$schema": "https://example.com/new-draft"}, 15),
        ({"type": 3}, 16),
        ({"minimum": 2, "maximum": 1, "type": "number"}, 16),
        (False, 16),
    ],
)
def test_schema_that_cannot_be_used_has_the_code_of_its_ending(shell: Shell, schema: object, code: int) -> None:
    shell.write("schema.json", json.dumps(schema))
    done = shell.commitgate("check", "--schema", "schema.json", "-", stdin="1")
    assert done.code == code
    assert done.out == ""
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("schema", "text"),
    [('{"const": 1e23}', "1e23"), ('{"const": 0.10000000000000000000001}', "0.10000000000000000000001")],
)
def test_numbers_of_a_schema_file_keep_every_digit(shell: Shell, schema: str, text: str) -> None:
    shell.write("schema.json", schema)
    assert passed(layers(shell, text)) == {"accept": True, "parse": True, "schema": True}
    assert passed(layers(shell, text.replace("1", "2")))["schema"] is False
    shell.write("schema.json", '{"const": 0.1}')
    assert passed(layers(shell, "0.10000000000000000000001")) == {"accept": False, "parse": True, "schema": False}


@pytest.mark.parametrize(
    ("draft", "items"),
    [
        ("http://json-schema.org/draft-04/schema#", '{"items": [{"type": "integer"}], "additionalItems": false}'),
        ("http://json-schema.org/draft-07/schema#", '{"items": [{"type": "integer"}], "additionalItems": false}'),
        ("https://json-schema.org/draft/2020-12/schema", '{"prefixItems": [{"type": "integer"}], "items": false}'),
    ],
)
def test_schema_is_read_in_its_own_draft(shell: Shell, draft: str, items: str) -> None:
    shell.write("schema.json", json.dumps({"$schema": draft, **json.loads(items)}))
    assert passed(layers(shell, "[1]")) == {"accept": True, "parse": True, "schema": True}
    assert passed(layers(shell, "[1, 2]")) == {"accept": False, "parse": True, "schema": False}


def test_formats_constrain_unless_they_are_to_annotate(shell: Shell) -> None:
    shell.write("schema.json", '{"format": "date"}')
    assert shell.commitgate("check", "--schema", "schema.json", "-", stdin='"soon"').code == 19
    done = shell.commitgate("check", "--schema", "schema.json", "--formats", "annotate", "-", stdin='"soon"')
    assert done.code == 0


def test_references_reach_the_documents_that_are_given(shell: Shell) -> None:
    shell.write("schema.json", '{"$ref": "https://example.com/b#/$defs/x"}')
    shell.write("b.json", '{"$defs": {"x": {"type": "integer"}}}')
    given = ("check", "--schema", "schema.json", "--document", "https://example.com/b=b.json")
    assert shell.commitgate(*given, "-", stdin="1").code == 0
    assert shell.commitgate(*given, "-", stdin='"1"').code == 19


@pytest.mark.parametrize("given", ["b.json", "b=b.json", "https://example.com/b=", "http://[=b.json"])
def test_document_without_an_absolute_uri_and_a_file_is_a_usage_error(shell: Shell, given: str) -> None:
    done = shell.commitgate("check", "--schema", "schema.json", "--document", given, "-", stdin="1")
    assert (done.code, done.out) == (2, "")
    assert "URI" in done.err


def test_document_given_twice_is_a_usage_error(shell: Shell) -> None:
    twice = ("--document", "https://example.com/b=b.json") * 2
    assert shell.commitgate("check", "--schema", "schema.json", *twice, "-", stdin="1").code == 2


MIXED = {"properties": {"n": {"minimum": 1}, "u": {"uniqueItems": True}, "x": {"format": "of-ours"}}}


def test_support_says_level_keyword_place_and_reason(shell: Shell) -> None:
    shell.write("schema.json", json.dumps(MIXED))
    done = shell.commitgate("check", "--schema", "schema.json", "--support")
    assert (done.code, done.err) == (0, "")
    rows = {line.split()[1]: line.split() for line in done.out.splitlines()}
    assert rows["minimum"] == ["decoded", "minimum", "/properties/n"]
    assert (rows["uniqueItems"][0], rows["uniqueItems"][2]) == ("checked", "/properties/u")
    assert len(rows["uniqueItems"]) > 5
    assert rows["format"][0] == "annotation"


def test_support_in_json_stands_beside_the_texts(shell: Shell) -> None:
    shell.write("schema.json", json.dumps(MIXED))
    done = shell.commitgate("check", "--schema", "schema.json", "--support", "--json", "-", stdin="1")
    assert done.code == 0
    assert [text["accepted"] for text in done.report["texts"]] == [True]
    (row,) = [row for row in done.report["support"] if row["level"] == "checked"]
    assert (row["keyword"], row["pointer"]) == ("uniqueItems", "/properties/u")
    assert row["reason"]


def test_nothing_to_check_and_nothing_to_show_is_a_usage_error(shell: Shell) -> None:
    done = shell.commitgate("check", "--schema", "schema.json")
    assert done.code == 2
    assert "--support" in done.err


@pytest.mark.parametrize("schema", ["{}", "true", '{"title": "anything"}'])
def test_support_of_a_schema_that_constrains_nothing_says_so(shell: Shell, schema: str) -> None:
    shell.write("schema.json", schema)
    done = shell.commitgate("check", "--schema", "schema.json", "--support")
    assert done.code == 0
    assert done.out.startswith("nothing constrains")
    assert shell.commitgate("check", "--schema", "schema.json", "--support", "--json").report["support"] == []


def test_misspelled_keyword_is_shown_with_what_was_likely_meant(shell: Shell) -> None:
    shell.write("schema.json", '{"type": "string", "maxLenght": 3}')
    lines = shell.commitgate("check", "--schema", "schema.json", "--support").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["decoded", "type"], ["annotation", "maxLenght"]]
    assert "did you mean maxLength?" in lines[1]


def test_missing_document_is_named_with_the_option_that_passes_it(shell: Shell) -> None:
    shell.write("schema.json", '{"$ref": "https://example.com/address#/$defs/zip"}')
    shell.write("address.json", '{"$defs": {"zip": {"type": "string"}}}')
    given = ("--document", "https://example.com/addres=address.json")
    done = shell.commitgate("check", "--schema", "schema.json", *given, "-", stdin="1")
    assert done.code == 15
    named = ("https://example.com/address", "https://example.com/addres", "--document URI=FILE")
    assert all(words in done.err for words in named)
