"""A request is honoured field by field, or refused by the field's name; nothing of it is dropped in silence."""

import json
from typing import Any

import pytest
from chats import CITY, LIMITS, USER, body, function, json_schema, parsed
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import Message, Sampling
from commitgate.languages import Choices, Grammar, Regex
from commitgate_local.server.chat_format import JsonFormat, SchemaFormat, TextFormat
from commitgate_local.server.chat_request import (
    DEFAULT_TEMPERATURE,
    EMPTY,
    HONOURED,
    IGNORED,
    MODALITIES,
    NEUTRAL,
    NOT_OFFERED,
    parse_chat_request,
)
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.server_limits import ServerLimits


def refused(limits: ServerLimits = LIMITS, **fields: Any) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        parsed(limits, **fields)
    return caught.value


def refused_bytes(data: bytes, limits: ServerLimits = LIMITS) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        parse_chat_request(data, limits=limits)
    return caught.value


def test_plain_request_has_the_defaults_of_the_reference() -> None:
    found = parsed()
    assert found.model == "small"
    assert found.messages == (Message("user", USER["content"]),)
    assert found.sampling == Sampling(temperature=DEFAULT_TEMPERATURE, max_tokens=LIMITS.default_max_tokens)
    assert (found.stream, found.include_usage, found.answer_format, found.tools) == (False, False, None, None)


def test_sampling_is_taken_as_it_is_given() -> None:
    found = parsed(temperature=0.25, top_p=0.5, top_k=40, seed=-3, max_completion_tokens=17).sampling
    assert found == Sampling(temperature=0.25, top_p=0.5, top_k=40, seed=-3, max_tokens=17)


@pytest.mark.parametrize("top_k", [-1, 0, None])
def test_top_k_of_all_tokens_is_none(top_k: int | None) -> None:
    assert parsed(top_k=top_k).sampling.top_k is None


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("temperature", -0.1, "invalid_value"),
        ("temperature", 2.1, "invalid_value"),
        ("temperature", "0", "invalid_type"),
        ("temperature", True, "invalid_type"),
        ("top_p", 0, "invalid_value"),
        ("top_p", 1.01, "invalid_value"),
        ("top_k", -2, "invalid_value"),
        ("seed", 2**63, "invalid_value"),
        ("seed", 1.0, "invalid_type"),
        ("seed", True, "invalid_type"),
        ("max_tokens", 0, "invalid_value"),
        ("max_tokens", LIMITS.max_tokens + 1, "invalid_value"),
        ("max_completion_tokens", 10**30, "invalid_value"),
        ("stream", 1, "invalid_type"),
        ("model", 3, "invalid_type"),
        ("messages", "hi", "invalid_type"),
        ("messages", [], "invalid_value"),
        ("messages", ["hi"], "invalid_type"),
        ("stream_options", [], "invalid_type"),
        ("response_format", "json", "invalid_type"),
        ("tools", {}, "invalid_type"),
        ("tool_choice", "any", "invalid_value"),
        ("parallel_tool_calls", 1, "invalid_type"),
    ],
)
def test_field_of_another_kind_or_out_of_range_is_refused_by_its_name(name: str, value: Any, code: str) -> None:
    error = refused(**{name: value})
    assert (error.status, error.code) == (400, code)
    assert error.param is not None
    assert error.param.partition("[")[0] == name


def test_range_is_told_with_the_refusal() -> None:
    assert "above 0 to 1" in refused(top_p=0).message
    assert "from 0 to 2" in refused(temperature=3).message


@pytest.mark.parametrize("spelled", [b"1e-400", b"-0.0", b"0e400"])
def test_top_p_that_no_float_tells_from_zero_is_refused(spelled: bytes) -> None:
    error = refused_bytes(body(top_p="X").replace(b'"X"', spelled))
    assert (error.code, error.param) == ("invalid_value", "top_p")


@pytest.mark.parametrize("name", ["model", "messages"])
def test_field_that_is_needed_is_missed_by_its_name(name: str) -> None:
    error = refused(**{name: None})
    assert (error.status, error.code, error.param) == (400, "missing_required_parameter", name)


def test_two_bounds_on_tokens_must_agree() -> None:
    assert parsed(max_tokens=9, max_completion_tokens=9).sampling.max_tokens == 9
    assert refused(max_tokens=9, max_completion_tokens=8).param == "max_tokens"


def test_tokens_up_to_the_limit_are_given_and_more_are_refused_not_lowered() -> None:
    limits = ServerLimits(max_tokens=50, default_max_tokens=20)
    assert parsed(limits, max_tokens=50).sampling.max_tokens == 50
    assert parsed(limits).sampling.max_tokens == 20
    assert refused(limits, max_tokens=51).param == "max_tokens"


# Fields


@pytest.mark.parametrize("name", ["foo", "guided_xml", "json_schema", "grammar", "min_tokens", "chat_template"])
def test_unknown_field_is_refused_by_its_name(name: str) -> None:
    error = refused(**{name: 1})
    assert (error.status, error.code, error.param) == (400, "unknown_parameter", name)
    assert name in error.message


def test_unknown_field_whose_name_is_no_word_is_refused_without_quoting_it() -> None:
    error = refused(**{"my secret\n": 1})
    assert (error.code, error.param) == ("unknown_parameter", None)
    assert "secret" not in json.dumps(error.error_object())


@pytest.mark.parametrize("name", [*sorted(NEUTRAL), *sorted(EMPTY), *sorted(NOT_OFFERED), MODALITIES, "foo"])
def test_field_that_is_null_counts_as_left_out(name: str) -> None:
    assert parsed(**{name: None}) == parsed()


@pytest.mark.parametrize("name", sorted(IGNORED))
@pytest.mark.parametrize("value", ["x", {"a": "b"}, 1])
def test_field_that_changes_no_answer_is_taken(name: str, value: Any) -> None:
    assert parsed(**{name: value}) == parsed()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, each in NEUTRAL.items() for value in each])
def test_field_at_its_neutral_value_is_taken(name: str, value: Any) -> None:
    assert parsed(**{name: value}) == parsed()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2),
        ("n", True),
        ("n", 1.5),
        ("store", True),
        ("store", 0),
        ("logprobs", True),
        ("top_logprobs", 5),
        ("frequency_penalty", 0.5),
        ("presence_penalty", -1),
        ("verbosity", "low"),
        ("service_tier", "priority"),
        ("stop", "\n"),
        ("stop", ["a"]),
        ("logit_bias", {"5": 100}),
        ("modalities", ["text", "audio"]),
        ("audio", {}),
        ("functions", []),
        ("function_call", "auto"),
        ("web_search_options", {}),
    ],
)
def test_field_that_is_not_offered_is_refused_by_its_name(name: str, value: Any) -> None:
    error = refused(**{name: value})
    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", name)


def test_refusal_of_a_value_names_those_that_are_taken() -> None:
    assert "n must be 1 or left out" in refused(n=2).message
    assert "store must be false or left out" in refused(store=True).message
    assert "service_tier must be auto or default or left out" in refused(service_tier="flex").message


@pytest.mark.parametrize("value", [[], "", {}])
@pytest.mark.parametrize("name", sorted(EMPTY))
def test_field_that_holds_nothing_is_taken(name: str, value: Any) -> None:
    assert parsed(**{name: value}) == parsed()


def test_groups_of_fields_have_no_field_in_common() -> None:
    groups = [HONOURED, IGNORED, frozenset(NEUTRAL), EMPTY, NOT_OFFERED, frozenset({MODALITIES})]
    assert sum(map(len, groups)) == len(frozenset[str]().union(*groups))


def test_every_field_of_the_official_client_is_known() -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase

    known = {*HONOURED, *IGNORED, *NEUTRAL, *EMPTY, *NOT_OFFERED, MODALITIES}
    assert set(CompletionCreateParamsBase.__annotations__) - known == set()


# Streams


def test_stream_may_tell_its_usage() -> None:
    found = parsed(stream=True, stream_options={"include_usage": True, "include_obfuscation": False})
    assert (found.stream, found.include_usage) == (True, True)
    assert not parsed(stream=True, stream_options={}).include_usage


def test_options_of_a_stream_without_one_are_refused() -> None:
    assert refused(stream_options={"include_usage": True}).param == "stream_options"


@pytest.mark.parametrize("name", ["continuous_usage_stats", "foo"])
def test_options_of_a_stream_that_are_not_offered_are_refused(name: str) -> None:
    assert refused(stream=True, stream_options={name: True}).param == f"stream_options.{name}"


# Bodies


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\xff", "not_json"),
        (b'{"a": "\xff"}', "not_utf8"),
        (b'\xef\xbb\xbf{"a": 1}', "not_json"),
        (b'{"a": 1, "a": 2}', "duplicate_key"),
        (b'{"a": 1, "\\u0061": 2}', "duplicate_key"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": -Infinity}', "not_json"),
        (b'{"a": "\\ud800"}', "lone_surrogate"),
        (b'{"a": 1e999999}', "number_size"),
        (b'{"a": ' + b"9" * 2_000 + b"}", "number_size"),
        (b"[" * 100_000, "nesting"),
        (b'{"a":' * 201 + b"1" + b"}" * 201, "nesting"),
        (b"[]", "invalid_type"),
        (b"null", "invalid_type"),
        (b'"text"', "invalid_type"),
    ],
)
def test_body_that_is_no_strict_json_object_is_refused(data: bytes, code: str) -> None:
    error = refused_bytes(data)
    assert (error.status, error.code, error.param) == (400, code, None)


def test_body_is_bounded() -> None:
    data = body()
    assert parse_chat_request(data, limits=ServerLimits(body_bytes=len(data))).model == "small"
    error = refused_bytes(data, ServerLimits(body_bytes=len(data) - 1))
    assert (error.status, error.code) == (413, "request_too_large")


# The form of the answer


def test_text_is_no_form() -> None:
    assert parsed(response_format={"type": "text"}).answer_format is None


def test_json_object_is_any_object() -> None:
    assert parsed(response_format={"type": "json_object"}).answer_format == JsonFormat(param="response_format")


@pytest.mark.parametrize(("strict", "is_strict"), [(True, True), (False, False), (None, True)])
def test_schema_is_strict_unless_the_client_says_otherwise(strict: bool | None, is_strict: bool) -> None:
    given = json_schema(CITY, strict=strict, description="a city")
    expected = SchemaFormat(
        schema=CITY,
        param="response_format.json_schema.schema",
        name="answer",
        is_strict=is_strict,
    )
    assert parsed(response_format=given).answer_format == expected


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({}, "response_format.type"),
        ({"type": "xml"}, "response_format.type"),
        ({"type": "json_object", "schema": {}}, "response_format.schema"),
        ({"type": "json_schema"}, "response_format.json_schema"),
        ({"type": "json_schema", "schema": {}}, "response_format.schema"),
        ({"type": "json_schema", "json_schema": {"schema": {}}}, "response_format.json_schema.name"),
        ({"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}, "response_format.json_schema.name"),
        ({"type": "json_schema", "json_schema": {"name": "a" * 65, "schema": {}}}, "response_format.json_schema.name"),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, "response_format.json_schema.schema"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": []}}, "response_format.json_schema.schema"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "x": 1}}, "response_format.json_schema.x"),
    ],
)
def test_response_format_that_would_be_read_as_another_is_refused(given: Any, param: str) -> None:
    assert refused(response_format=given).param == param


def test_schema_that_is_missing_is_told_from_one_of_another_kind() -> None:
    for schema, code in ((None, "missing_required_parameter"), (3, "invalid_type")):
        assert refused(response_format=json_schema(schema)).code == code


@pytest.mark.parametrize(
    ("given", "language"),
    [
        ({"regex": "a+"}, Regex("a+")),
        ({"choice": ["yes", "no"]}, Choices(["yes", "no"])),
        ({"grammar": 'root ::= "a"'}, Grammar('root ::= "a"', "gbnf")),
        ({"grammar": 'start: "a"'}, Grammar('start: "a"', "lark")),
    ],
)
def test_structured_outputs_are_languages_of_text(given: dict[str, Any], language: Any) -> None:
    (kind,) = given
    expected = TextFormat(language=language, param=f"structured_outputs.{kind}")
    assert parsed(structured_outputs=given).answer_format == expected
    old = parsed(**{f"guided_{kind}": given[kind]}).answer_format
    assert old == TextFormat(language=language, param=f"guided_{kind}")


@pytest.mark.parametrize("schema", [CITY, json.dumps(CITY)])
def test_structured_outputs_take_a_schema_or_its_text(schema: Any) -> None:
    found = parsed(structured_outputs={"json": schema, "disable_any_whitespace": True}).answer_format
    assert isinstance(found, SchemaFormat)
    assert (found.schema, found.is_strict, found.is_compact) == (CITY, True, True)


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({}, "structured_outputs"),
        ({"json_object": False}, "structured_outputs"),
        ({"json": {}, "regex": "a"}, "structured_outputs"),
        ({"json": "{"}, "structured_outputs.json"),
        ({"json": 3}, "structured_outputs.json"),
        ({"json_object": "yes"}, "structured_outputs.json_object"),
        ({"regex": 3}, "structured_outputs.regex"),
        ({"choice": "a"}, "structured_outputs.choice"),
        ({"choice": ["a", 1]}, "structured_outputs.choice[1]"),
        ({"structural_tag": "x"}, "structured_outputs.structural_tag"),
        ({"regex": "a", "disable_any_whitespace": True}, "structured_outputs.disable_any_whitespace"),
        ({"json": {}, "disable_additional_properties": True}, "structured_outputs.disable_additional_properties"),
        ({"json": {}, "whitespace_pattern": " "}, "structured_outputs.whitespace_pattern"),
    ],
)
def test_structured_outputs_that_cannot_be_honoured_are_refused(given: Any, param: str) -> None:
    assert refused(structured_outputs=given).param == param


def test_form_is_said_once() -> None:
    error = refused(response_format={"type": "json_object"}, structured_outputs={"regex": "a"})
    assert (error.param, error.status) == ("structured_outputs.regex", 400)
    assert refused(guided_regex="a", guided_json={}).param == "guided_regex"
    assert parsed(response_format={"type": "text"}, guided_regex="a").answer_format is not None


# Laws

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted({*HONOURED, *IGNORED, *NEUTRAL, *EMPTY, *NOT_OFFERED, MODALITIES, "foo"})
GOOD: dict[str, Any] = {
    "messages": [USER, {"role": "assistant", "tool_calls": []}, {"role": "tool", "tool_call_id": "a", "content": "b"}],
    "tools": [function()],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
    "response_format": json_schema(CITY),
    "structured_outputs": {"json": CITY},
    "stream_options": {"include_usage": True},
    "stream": True,
}


@st.composite
def near_bodies(draw: st.DrawFn) -> bytes:
    """Draw a request in which any value may be any JSON."""

    def spoiled(value: Any) -> Any:
        if draw(st.integers(0, 9)) == 0:
            return draw(JSON)
        if isinstance(value, dict):
            found = {key: spoiled(member) for key, member in value.items()}
            return found if draw(st.integers(0, 9)) else {**found, draw(st.text(max_size=5)): draw(JSON)}
        return [spoiled(item) for item in value] if isinstance(value, list) else value

    chosen = draw(st.lists(st.sampled_from(NAMES), max_size=5, unique=True))
    fields = {name: GOOD[name] if name in GOOD else draw(JSON) for name in chosen}
    return json.dumps(spoiled({"model": "small", "messages": [USER], **fields})).encode()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode) | near_bodies())
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    refusal = None
    try:
        parse_chat_request(data, limits=LIMITS)
    except RequestRefused as error:
        refusal = error
    if refusal is not None:
        assert 400 <= refusal.status < 500
        assert json.loads(refusal.body())["error"]["message"]
