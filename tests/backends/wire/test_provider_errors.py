"""Errors of every provider are read to what sort of failure they are, and their words stay out of messages."""

import json
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from commitgate.backends.base import MAX_DETAIL_CHARACTERS, Fault, Finish, FinishReason
from commitgate.backends.wire.errors import read_answer, read_error, tells_error

Head = dict[str, str]


def answer(status: int, body: object = b"", headers: Head | None = None, *, now: float = 0.0) -> Fault:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = read_answer(status, headers or {}, raw, now=now)
    assert isinstance(found, Fault)
    return found


def error(holder: object, **arguments: int) -> Fault:
    assert isinstance(holder, dict)
    found = read_error(holder, **arguments)
    assert isinstance(found, Fault)
    return found


def openai(message: str = "secret words", **members: object) -> dict[str, object]:
    return {"error": {"message": message, "type": None, "param": None, "code": None, **members}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (400, openai(type="invalid_request_error", param="messages"), "bad_request", "invalid_request_error"),
        (401, openai(type="invalid_request_error"), "auth", "invalid_request_error"),
        (401, openai(type="invalid_request_error", code="invalid_api_key"), "auth", "invalid_api_key"),
        (401, {"error": "Unauthorized"}, "auth", None),
        (401, b"", "auth", None),
        (402, {"type": "error", "error": {"type": "billing_error"}}, "quota", "billing_error"),
        (403, openai(code="unsupported_country_region_territory"), "auth", "unsupported_country_region_territory"),
        (404, openai(type="invalid_request_error", code="model_not_found"), "bad_request", "model_not_found"),
        (404, {"error": "model 'x' not found"}, "bad_request", None),
        (404, b"<html><title>404</title></html>", "bad_request", None),
        (405, b"Method Not Allowed", "bad_request", None),
        (408, {}, "server", None),
        (409, {"code": "idempotency_in_progress"}, "in_progress", "idempotency_in_progress"),
        (413, {"type": "error", "error": {"type": "request_too_large"}}, "bad_request", "request_too_large"),
        (422, {"code": "idempotency_key_reused"}, "conflict", "idempotency_key_reused"),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "required", "type": "missing"}]}, "bad_request", None),
        (422, {"error": "too many tokens", "error_type": "validation"}, "bad_request", "validation"),
        (424, {"error": "failed", "error_type": "generation"}, "server", "generation"),
        (429, openai(type="tokens", code="rate_limit_exceeded"), "rate_limit", "rate_limit_exceeded"),
        (429, openai(type="insufficient_quota", code="insufficient_quota"), "quota", "insufficient_quota"),
        (429, {"error": "overloaded", "error_type": "overloaded"}, "rate_limit", "overloaded"),
        (429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], "rate_limit", "RESOURCE_EXHAUSTED"),
        (500, openai(type="server_error"), "server", "server_error"),
        (500, b"Internal Server Error", "server", None),
        (501, {"error": {"code": 501, "type": "not_supported_error"}}, "bad_request", "not_supported_error"),
        (502, b"<html>Bad gateway</html>", "server", None),
        (503, openai(type="server_error"), "overload", "server_error"),
        (503, {"object": "health.response", "message": "not ready", "status": "not_ready"}, "overload", "not_ready"),
        (504, {"error": {"code": 504, "status": "DEADLINE_EXCEEDED"}}, "server", "DEADLINE_EXCEEDED"),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, "overload", "overloaded_error"),
        (400, {"error": {"code": 400, "status": "FAILED_PRECONDITION"}}, "bad_request", "FAILED_PRECONDITION"),
        (
            400,
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}},
            "auth",
            "API_KEY_INVALID",
        ),
        (
            400,
            b'event: error\ndata: {"error":{"code":"invalid_request","message":"m"}}\n\n',
            "bad_request",
            "invalid_request",
        ),
        (429, b'event: error\ndata: {"error":{"code":"resource_exhausted"}}\n\n', "rate_limit", "resource_exhausted"),
        (500, b"\xff\xfe\x00", "server", None),
        (500, b"[[[[" * 10_000, "server", None),
        (400, b"\xef\xbb\xbf" + json.dumps(openai(code="model_not_found")).encode(), "bad_request", "model_not_found"),
    ],
)
def test_failure_of_an_answer_is_of_its_kind(status: int, body: object, kind: str, code: str | None) -> None:
    fault = answer(status, body)
    assert (fault.kind, fault.status, fault.code) == (kind, status, code)
    assert fault.message == f"the server answered with status {status}"
    assert "secret" not in repr(fault)


@pytest.mark.parametrize(
    ("event", "kind", "code"),
    [
        (openai(type="server_error"), "server", "server_error"),
        ({"type": "error", "code": "server_error", "message": "m"}, "server", "server_error"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "overload", "overloaded_error"),
        (
            {"type": "error", "error": {"type": "insufficient_quota", "code": "insufficient_quota"}},
            "quota",
            "insufficient_quota",
        ),
        ({"object": "error", "message": "m", "type": "BadRequestError", "code": 400}, "bad_request", "BadRequestError"),
        (
            {"error": {"object": "error", "message": "m", "type": "InternalServerError", "code": 500}},
            "server",
            "InternalServerError",
        ),
        ({"error": {"code": 503, "status": "UNAVAILABLE"}}, "overload", "UNAVAILABLE"),
        ({"error": {"message": "m", "http_status_code": 424}}, "server", None),
        ({"error": "m", "error_type": "generation"}, "server", "generation"),
        ({"error": "m", "error_type": "overloaded"}, "rate_limit", "overloaded"),
        ({"error": {"code": "internal"}, "event_type": "error"}, "server", "internal"),
        ({"error": {"code": 502, "message": "m"}}, "server", None),
        ({"error": {"code": "429", "message": "m"}}, "rate_limit", None),
        ({"error": "Unauthorized"}, "auth", None),
        ({"error": "model runner has stopped"}, "server", None),
        ({"error": {"code": "secret is sk-1"}}, "server", None),
        ({"error": [{"code": 503, "status": "UNAVAILABLE"}]}, "overload", "UNAVAILABLE"),
        ({"code": "rate_limit_exceeded", "message": "m"}, "rate_limit", "rate_limit_exceeded"),
    ],
)
def test_failure_within_a_stream_is_of_its_kind(event: dict[str, object], kind: str, code: str | None) -> None:
    fault = error(event)
    assert (fault.kind, fault.status, fault.code) == (kind, None, code)
    assert fault.message == "the provider reports an error"


REFUSED = [
    # OpenAI
    "Invalid schema for response_format 'city': In context=(), 'additionalProperties' is required to be supplied.",
    "Invalid schema for function 'search': In context=('properties', 'q'), 'default' is not permitted.",
    "Invalid schema: Objects provided via 'anyOf' must not share identical first keys",
    "6 levels of nesting exceeds limit of 5",
    # Anthropic
    "output_config.format.schema: For 'array' type, 'minItems' values other than 0 or 1 are not supported",
    "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    "tools.3.custom.input_schema.type: Input should be 'object'",
    "The compiled grammar is too large, which would cause performance issues.",
    "Schema is too complex for compilation",
    # Gemini
    "The specified schema produces a constraint that has too many states for serving.",
    "Invalid JSON payload received. Unknown name \"x\" at 'generation_config.response_schema': Cannot find field.",
    "Proto field is not repeating, cannot start list.",
    # vLLM
    "Failed to transform json schema into a grammar: unsupported",
    "Failed to transform regex into a grammar: unsupported",
    "The provided JSON schema contains features not supported by xgrammar.",
    "Invalid grammar specification.",
    "Grammar error: lexer",
    "Invalid structured outputs: x",
    "You can only use one kind of structured outputs constraint but multiple are specified: {}",
    "The JSON schema is nested too deeply: 80",
    "Structured output processing only supports one backend per engine.",
    # SGLang
    "Failed to compile json grammar: x",
    "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported",
    "JSON Schema at # is not supported by xgrammar: keyword(s) uniqueItems would be ignored",
    "Only one of json_schema, regex, ebnf, or structural_tag can be set.",
    # llama.cpp
    "Unable to generate parser for this template. JSON schema error at #/properties/a: unrecognized type x",
    "Field 'json_schema': \"json_schema\": JSON schema conversion failed:\nJSON schema error at #: unrecognized type x",
    "Failed to initialize samplers: failed to parse grammar",
    'response_format type must be one of "text" or "json_object", but got: xml',
    "Cannot use custom grammar constraints with tools.",
    # TGI
    "Input validation error: grammar is not valid: Grammar must have a 'properties' field",
    "Input validation error: cannot compile regex from schema: x",
    "Input validation error: grammar is not supported",
    "Tool error: Grammar and tools are mutually exclusive",
    # Ollama
    'invalid format: "xml"; expected "json" or a valid JSON Schema object',
]


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.parametrize("status", [400, 422])
def test_words_of_a_refused_constraint_are_known(message: str, status: int) -> None:
    assert answer(status, openai(message, type="invalid_request_error")).kind == "constraint"
    assert answer(status, {"error": message}).kind == "constraint"
    assert answer(status, message.encode()).kind == "constraint"
    assert error({"error": {"message": message, "type": "BadRequestError", "code": 400}}).kind == "constraint"
    assert error({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).kind == "constraint"


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.parametrize("status", [401, 403, 404, 429, 503])
def test_words_count_for_nothing_where_the_status_tells_more(message: str, status: int) -> None:
    assert answer(status, openai(message)).kind != "constraint"


@pytest.mark.parametrize(
    "message",
    [
        "request (900 tokens) exceeds the available context size (512 tokens), try increasing it",
        "This model's maximum context length is 4096 tokens.",
        "Request contains an invalid argument.",
        "messages: at least one message is required",
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
        "Please use a valid role: user, model.",
        'Invalid JSON payload received. Unknown name "foo": Cannot find field.',
        "Failed to deserialize the JSON body into the target type: missing field `messages` at line 1 column 20",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_words_that_may_mean_anything_are_no_refused_constraint(message: str) -> None:
    assert answer(400, openai(message, type="invalid_request_error")).kind == "bad_request"


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({"param": "response_format"}, "constraint"),
        ({"param": "text.format.schema"}, "constraint"),
        ({"param": "tools[0].function.parameters"}, "constraint"),
        ({"param": "structured_outputs"}, "constraint"),
        ({"code": "invalid_json_schema"}, "constraint"),
        ({"code": "invalid_function_parameters", "param": "tools[0]"}, "constraint"),
        ({"param": "tools[0].function.name"}, "bad_request"),
        ({"param": "messages[0].content"}, "bad_request"),
        ({"param": "max_tokens"}, "bad_request"),
        ({"details": [{"fieldViolations": [{"field": "generation_config.response_schema"}]}]}, "constraint"),
        ({"details": [{"fieldViolations": [{"field": "contents"}]}]}, "bad_request"),
    ],
)
def test_place_that_an_error_names_comes_before_its_words(members: dict[str, object], kind: str) -> None:
    assert answer(400, openai("no", type="invalid_request_error", **members)).kind == kind


def test_words_about_the_prompt_are_no_refused_constraint() -> None:
    message = "'messages' must contain the word 'json' to use 'response_format' of type 'json_object'."
    assert answer(400, openai(message, param="messages")).kind == "bad_request"
    assert answer(400, openai(message)).kind == "constraint"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Cannot use both json_schema and grammar", "constraint"),
        ("failed to parse grammar", "constraint"),
        ("tools param requires --jinja flag", "bad_request"),
        ("[json.exception.parse_error.101] parse error at line 1", "bad_request"),
        ("Context size has been exceeded.", "server"),
        ("Grammar accept_token failed", "server"),
        ("Compute error.", "server"),
    ],
)
def test_mistakes_of_a_client_that_come_as_errors_of_the_server_are_known(message: str, kind: str) -> None:
    body = {"error": {"code": 500, "message": message, "type": "server_error"}}
    assert (answer(500, body).kind, error(body).kind) == (kind, kind)


@pytest.mark.parametrize(
    ("headers", "body", "wanted_s"),
    [
        ({"Retry-After": "3"}, {}, 3.0),
        ({"retry-after-ms": "800", "retry-after": "1"}, {}, 0.8),
        ({"retry-after": format_datetime(datetime.fromtimestamp(1_060, UTC), usegmt=True)}, {}, 60.0),
        ({}, {"error": {"details": [{"retryDelay": "45.8s"}]}}, 45.8),
        ({"retry-after": "2"}, {"error": {"details": [{"retryDelay": "45.8s"}]}}, 2.0),
        ({}, openai("Rate limit reached. Please try again in 800ms."), 0.8),
        ({}, openai("Please try again in 2.5s. Visit"), 2.5),
        ({}, openai("Please try again in 6m0s."), 360.0),
        ({}, openai("Please try again in 1h2m3.5s."), 3_723.5),
        ({}, openai("Please retry in 12.5s."), 12.5),
        ({}, openai("Please try again in a while."), None),
        ({}, {"error": {"details": [{"retryDelay": "-1s"}, {"retryDelay": 3}, 3]}}, None),
        ({"retry-after": "soon"}, {}, None),
    ],
)
def test_wait_that_a_server_asks_for_is_read(headers: Head, body: object, wanted_s: float | None) -> None:
    assert answer(429, body, headers, now=1_000.0).retry_after_s == wanted_s


@pytest.mark.parametrize(
    ("quota", "kind"),
    [
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quota"),
        ("GenerateRequestsPerMinutePerProject", "rate_limit"),
    ],
)
def test_quota_of_a_day_is_no_limit_of_a_rate(quota: str, kind: str) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}]
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}
    assert answer(429, body).kind == kind


@pytest.mark.parametrize(
    ("value", "kind"), [("false", "quota"), ("False", "quota"), ("true", "rate_limit"), ("", "rate_limit")]
)
def test_limit_that_a_server_says_is_not_worth_asking_again_is_a_quota(value: str, kind: str) -> None:
    assert answer(429, {}, {"X-Should-Retry": value}).kind == kind


@pytest.mark.parametrize(
    "body",
    [
        openai(code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
        openai(type="invalid_request_error", innererror={"code": "ResponsibleAIPolicyViolation"}),
    ],
)
def test_filter_that_blocked_the_prompt_is_a_finish(body: dict[str, object]) -> None:
    found = read_answer(400, {}, json.dumps(body).encode(), now=0.0)
    assert isinstance(found, Finish)
    assert found.reason is FinishReason.CONTENT_FILTER


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://user:secret@api.example:8443/v1/chat?key=secret#secret", "https://api.example:8443/v1/chat"),
        ("//api.example/v1", "https://api.example/v1"),
        ("https://api.example/v1/The%20secret", "https://api.example/v1"),
        ("https://api.example/v1/Thesecret/v2", "https://api.example/v1"),
        ("https://api.example/v1/thesecretthesecretthesecret", "https://api.example/v1"),
        ("/login?next=secret", "where the API is"),
        ("", "where the API is"),
        ("https://" + "a" * 300 + ".example/", "where the API is"),
    ],
)
def test_redirect_says_where_the_base_url_should_point(location: str, shown: str) -> None:
    fault = answer(302, b"", {"Location": location})
    assert (fault.kind, fault.status) == ("bad_request", 302)
    assert fault.message.endswith(shown)
    assert "secret" not in fault.message


def test_request_id_comes_from_the_head_or_else_from_the_body() -> None:
    body = {"type": "error", "error": {"type": "api_error"}, "request_id": "req_body"}
    assert answer(500, body, {"Request-Id": "req_head"}).request_id == "req_head"
    assert answer(500, body).request_id == "req_body"
    assert answer(500, {**body, "request_id": "two words"}).request_id is None


def test_words_of_a_provider_are_cut_and_harmless() -> None:
    fault = answer(500, openai("\x1b[2J" + "x" * 100_000))
    assert fault.detail is not None
    assert len(fault.detail) == MAX_DETAIL_CHARACTERS
    assert fault.detail.startswith("\\u001b[2Jx")
    assert (
        answer(500, b"<html><style>p { }</style><script>x</script><p>Bad <b>gateway</b></p></html>").detail
        == "Bad gateway"
    )
    assert answer(500, {}).detail is answer(500).detail is None


@pytest.mark.parametrize(
    ("holder", "is_error"),
    [
        ({"error": {}}, False),
        ({"error": None, "type": "response.created"}, False),
        ({"error": "x"}, True),
        ({"type": "error"}, True),
        ({"object": "error"}, True),
        ({"choices": []}, False),
    ],
)
def test_errors_are_told_from_other_events(holder: dict[str, object], is_error: bool) -> None:
    assert tells_error(holder) is is_error
    assert tells_error(holder, name="error")


@pytest.mark.parametrize(
    "holder",
    [
        {"error": {"code": [], "type": {}, "status": True, "message": 3, "param": 4, "details": {}, "innererror": 1}},
        {"error": {"details": [None, 3, {"violations": 3, "reason": []}, {"fieldViolations": [3]}]}},
        {"error": 3},
        {"error": True, "detail": [3, {"loc": 3, "msg": []}]},
        {"errors": []},
        {"detail": {"loc": 1}},
        {},
    ],
)
def test_members_of_any_type_are_read_past(holder: dict[str, object]) -> None:
    assert error(holder).kind == "server"


def test_long_words_are_read_in_no_time() -> None:
    for text in (
        "failed to transform " + "x" * 1_000_000,
        "cannot " * 200_000,
        "try again in " * 100_000,
        "<" * 500_000,
    ):
        assert answer(400, text.encode()).kind in ("bad_request", "constraint")
