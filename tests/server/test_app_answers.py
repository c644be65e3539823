"""The application answers requests for completions, models, health and metrics."""

import json
from typing import Any

import pytest
from asgi_calls import ANSWER, app_of, client_of, numbers, post
from chats import CITY, data_of, function, joined, json_schema

from commitgate.errors import MisuseError
from commitgate_local.server.app import create_app
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio


async def test_answer_comes_whole() -> None:
    app, backend = app_of()
    async with client_of(app) as client:
        response = await post(client)
    assert response.status_code == 200
    found = response.json()
    assert found["choices"][0]["message"]["content"] == "It is warm."
    assert found["usage"]["total_tokens"] == 12
    assert found["model"] == "small"
    assert backend.open_streams == 0


async def test_answer_comes_as_a_stream() -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        response = await post(client, stream=True, stream_options={"include_usage": True})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert joined(response.content)["content"] == "It is warm."
    assert data_of(response.content)[-1] == "[DONE]"


async def test_contract_reaches_the_backend() -> None:
    app, backend = app_of([{"text": '{"city": "Oslo"}'}, {"finish": "stop"}])
    async with client_of(app) as client:
        response = await post(client, response_format=json_schema(CITY))
    assert json.loads(response.json()["choices"][0]["message"]["content"]) == {"city": "Oslo"}
    (request,) = backend.requests
    assert request.is_constrained
    assert request.model == "small"


async def test_backend_may_know_a_model_by_another_name() -> None:
    app, backend = app_of(backend_names={"small": ""})
    async with client_of(app) as client:
        assert (await post(client)).json()["model"] == "small"
    assert backend.requests[0].model == ""


async def test_calls_of_tools_come_as_calls() -> None:
    app, _ = app_of([{"text": '{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}'}, {"finish": "stop"}])
    async with client_of(app) as client:
        found = (await post(client, tools=[function()], tool_choice="required")).json()
    (call,) = found["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo"}


@pytest.mark.parametrize("streams", [True, False])
async def test_schema_that_cannot_be_enforced_is_refused_before_the_backend_is_asked(streams: bool) -> None:
    app, backend = app_of()
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    async with client_of(app) as client:
        response = await post(client, response_format=json_schema(schema), stream=streams)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["keyword"], error["pointer"]) == ("unsupported_schema", "uniqueItems", "")
    assert backend.requests == []


async def test_model_that_is_not_served_is_refused() -> None:
    app, backend = app_of()
    async with client_of(app) as client:
        response = await post(client, model="large")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "model_not_found")
    assert backend.requests == []


FAILURES: list[tuple[Any, int, str]] = [
    ([{"fault": "overload", "retry_after_s": 3}], 503, "overloaded"),
    ([{"fault": "bad_request", "code": "context_length_exceeded"}], 400, "context_length_exceeded"),
    ([{"dead_end": "tokenizer"}], 422, "dead_end"),
    ([{"raise": ValueError("a secret")}], 500, "server_error"),
    ([{"close": "eof"}], 500, "incomplete"),
]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(("script", "status", "code"), FAILURES)
async def test_failure_before_any_text_has_a_status(script: Any, status: int, code: str, streams: bool) -> None:
    app, backend = app_of(script)
    async with client_of(app) as client:
        response = await post(client, stream=streams)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert response.headers["content-type"] == "application/json"
        assert "secret" not in response.text
        counted = numbers((await client.get("/metrics")).text)
    assert backend.open_streams == 0
    assert counted['commitgate_requests_total{outcome="completed"}'] == 0


@pytest.mark.parametrize("step", [{"fault": "server"}, {"raise": "a secret"}, {"close": "rst"}])
async def test_failure_behind_text_is_the_last_frame(step: Any) -> None:
    app, backend = app_of([{"text": "It"}, step])
    async with client_of(app) as client:
        response = await post(client, stream=True)
    assert response.status_code == 200
    frames = data_of(response.content)
    assert "error" in frames[-1]
    assert "[DONE]" not in frames
    assert "secret" not in response.text
    assert backend.open_streams == 0


async def test_server_goes_on_after_a_request_that_failed() -> None:
    app, _ = app_of([{"text": "It"}, {"raise": "bug"}], ANSWER)
    async with client_of(app) as client:
        assert (await post(client)).status_code == 500
        assert (await post(client)).status_code == 200


async def test_models_are_listed() -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        found = (await client.get("/v1/models")).json()
    assert [each["id"] for each in found["data"]] == ["small"]


async def test_health_is_told() -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        response = await client.get("/health")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_metrics_count_what_happened() -> None:
    app, _ = app_of(gauges=lambda: {"masks_asked": 3})
    async with client_of(app) as client:
        await post(client)
        await post(client, model="large")
        response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = numbers(response.text)
    assert found['commitgate_requests_total{outcome="completed"}'] == 1
    assert found['commitgate_requests_total{outcome="refused"}'] == 1
    assert found['commitgate_tokens_total{kind="completion"}'] == 5
    assert found["commitgate_first_token_seconds_count"] == 1
    assert found['commitgate_request_seconds_bucket{le="+Inf"}'] == 2
    assert found["commitgate_requests_in_flight"] == 0
    assert found["commitgate_masks_asked"] == 3


@pytest.mark.parametrize(
    ("method", "path", "status", "told"),
    [
        ("GET", "/v1/chat/completions", 405, "use POST"),
        ("POST", "/v1/models", 405, "use GET"),
        ("POST", "/v1/responses", 404, "/v1/chat/completions"),
    ],
)
async def test_other_paths_and_methods_are_errors_that_say_what_there_is(
    method: str, path: str, status: int, told: str
) -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        response = await client.request(method, path)
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert told in error["message"]


async def test_every_answer_says_that_it_is_not_to_be_kept_nor_guessed_at() -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        responses = [await post(client), await post(client, model="large"), await client.get("/health")]
    for response in responses:
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
    assert len({response.headers["x-request-id"] for response in responses}) == 3


@pytest.mark.parametrize("arguments", [{"models": []}, {"limits": 3}, {"token": "short"}, {"token": "with space 123"}])
async def test_misuse_is_found_at_once(arguments: Any) -> None:
    _, backend = app_of()
    with pytest.raises(MisuseError):
        create_app(backend, **{"models": [], "limits": ServerLimits(), **arguments})
