"""A refusal has the status, headers and error object by which clients know what to do."""

import json
from typing import get_args

import openai
import pytest

from commitgate.backends.base import DeadEndReached, Fault, FaultKind
from commitgate.backends.wire.errors import read_answer
from commitgate.errors import ModelLoadError, ModelRunError, NotationError, SchemaError, UnsupportedError
from commitgate_local.server.model_list import ServedModel, model_list
from commitgate_local.server.refusal import (
    CONTEXT_LENGTH,
    RequestRefused,
    bad_request,
    cut_off,
    ended_early,
    key_in_progress,
    key_reused,
    of_backend,
    of_contract,
    of_dead_end,
    of_fault,
    overloaded,
    too_large,
    unknown_model,
    wrong_key,
)

STATUS = {
    "rate_limit": 429,
    "overload": 503,
    "quota": 429,
    "server": 500,
    "auth": 500,
    "bad_request": 400,
    "constraint": 400,
    "unreachable": 502,
    "untrusted": 500,
    "in_progress": 409,
    "conflict": 422,
    "protocol": 500,
    "unknown_finish": 500,
    "model": 500,
}


def read(error: RequestRefused) -> FaultKind:
    """Return what sort of failure this library's own clients take a refusal for."""
    found = read_answer(error.status, {"content-type": "application/json"}, error.body(), now=0.0)
    assert isinstance(found, Fault)
    return found.kind


def test_error_object_has_the_members_of_the_reference_and_the_place_in_a_schema() -> None:
    error = RequestRefused(400, "c", "m", param="tools[0].function", keyword="not", pointer="/a", position=3)
    assert json.loads(error.body()) == {
        "error": {
            "message": "m",
            "type": "invalid_request_error",
            "param": "tools[0].function",
            "code": "c",
            "keyword": "not",
            "pointer": "/a",
            "position": 3,
        }
    }
    assert set(json.loads(bad_request("m").body())["error"]) == {"message", "type", "param", "code"}
    assert bad_request("m – é").body().isascii()


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_of_fault_has_a_status_and_is_read_as_what_it_is(kind: FaultKind) -> None:
    error = of_fault(Fault(kind, "it failed"))
    assert (error.status, error.message) == (STATUS[kind], "it failed")
    ours = {"auth", "unreachable", "untrusted", "protocol", "unknown_finish", "model"}
    expected = "server" if kind in ours else kind
    assert read(error) == expected


@pytest.mark.parametrize(
    ("given_s", "header"), [(None, "1"), (0.2, "1"), (2.1, "3"), (30, "30"), (float("inf"), "1"), (-4, "1")]
)
def test_waiting_is_told_in_whole_seconds(given_s: float | None, header: str) -> None:
    for error in (
        of_fault(Fault("overload", "full", retry_after_s=given_s)),
        of_fault(Fault("rate_limit", "x", retry_after_s=given_s)),
    ):
        assert error.headers == {"Retry-After": header}
    assert of_fault(Fault("server", "x")).headers == {}
    assert of_fault(Fault("server", "x", retry_after_s=5)).headers == {"Retry-After": "5"}


def test_prompt_longer_than_the_context_is_the_client_s() -> None:
    error = of_fault(Fault("bad_request", "the prompt has 9 tokens", code=CONTEXT_LENGTH))
    assert (error.status, error.code, error.param) == (400, CONTEXT_LENGTH, "messages")
    assert of_fault(Fault("bad_request", "x", code="no word at all!")).code == "invalid_request"


def test_dead_end_is_no_failure_that_asking_again_would_mend() -> None:
    error = of_dead_end(DeadEndReached("schema", 4, "expected a digit"))
    assert (error.status, error.code) == (422, "dead_end")
    assert "expected a digit" in error.message


@pytest.mark.parametrize(
    ("error", "status", "kind", "headers"),
    [
        (wrong_key(), 401, "auth", {"WWW-Authenticate": "Bearer"}),
        (unknown_model(), 404, "bad_request", {}),
        (too_large("m"), 413, "bad_request", {}),
        (key_in_progress(), 409, "in_progress", {"Retry-After": "1"}),
        (key_in_progress(7.5), 409, "in_progress", {"Retry-After": "8"}),
        (key_reused(), 422, "conflict", {}),
        (overloaded(), 503, "overload", {"Retry-After": "1"}),
        (cut_off(5), 504, "server", {"x-should-retry": "false"}),
        (ended_early(), 500, "server", {}),
    ],
)
def test_refusals_of_the_server_are_read_as_what_they_are(
    error: RequestRefused, status: int, kind: FaultKind, headers: dict[str, str]
) -> None:
    assert (error.status, dict(error.headers)) == (status, headers)
    assert read(error) == kind


def test_what_a_model_s_failure_says_of_this_machine_stays_here() -> None:
    for failure in (ModelLoadError("/home/x/model.gguf is cut short"), ModelRunError("nan in layer 3")):
        error = of_backend(failure)
        assert (error.status, error.code, error.type) == (500, "model_error", "server_error")
        assert str(failure) not in error.message
        assert ("loaded" in error.message) is isinstance(failure, ModelLoadError)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnsupportedError("m", pointer="/a", keyword="not", reason="r"), "unsupported_schema"),
        (SchemaError("m", pointer="/a", keyword="not"), "given"),
        (NotationError("m", pointer="/a", keyword="not", position=3), "given"),
    ],
)
def test_fault_of_a_contract_keeps_its_place(error: SchemaError, code: str) -> None:
    refused = of_contract(error, param="response_format", code="given")
    assert (refused.status, refused.code, refused.param) == (400, code, "response_format")
    assert (refused.keyword, refused.pointer, refused.position) == ("not", "/a", error.position)


def test_param_that_is_no_plain_name_is_left_out() -> None:
    assert bad_request("m", param="messages[0].content").param == "messages[0].content"
    assert bad_request("m", param="a b").param is None


def test_official_client_finds_its_members_in_the_error_object() -> None:
    import httpx2

    response = httpx2.Response(400, request=httpx2.Request("POST", "http://localhost"))
    error = openai.BadRequestError("x", response=response, body=json.loads(unknown_model().body())["error"])
    assert (error.code, error.param, error.type) == ("model_not_found", "model", "invalid_request_error")


def test_models_are_listed_in_the_official_client_s_form() -> None:
    from openai.types import Model

    found = json.loads(model_list([ServedModel(name="small", created=5), ServedModel(name="é", created=6)]))
    assert found["object"] == "list"
    assert [Model.model_validate(each, strict=True).id for each in found["data"]] == ["small", "é"]
