"""The bundled model behind the server: enforced answers, streams, replays, and a stop within a forward pass."""

import json
import threading
from typing import Any

import anyio
import httpx
import pytest

from commitgate.backends.base import Event, GenerationRequest
from commitgate.backends.local import LocalBackend
from commitgate_local import LocalModel
from commitgate_local.server.app import admission_of, create_app
from commitgate_local.server.model_list import ServedModel

pytestmark = [pytest.mark.model, pytest.mark.anyio]

SCHEMA = {
    "type": "object",
    "properties": {"device": {"enum": ["printer", "door", "heating"]}, "floor": {"type": "integer", "maximum": 99}},
    "required": ["device", "floor"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "repair", "parameters": SCHEMA, "strict": True}}
PATH = "/v1/chat/completions"


class CountedModel:
    """Count the events of the model, and tell when a run of it is over."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self.over = threading.Event()
        self.events = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, request: GenerationRequest, emit: Any, cancelled: Any) -> None:
        def counted(event: Event) -> None:
            self.events += 1
            emit(event)

        try:
            self._model.generate(request, counted, cancelled)
        finally:
            self.over.set()


@pytest.fixture(scope="module")
def model(bundled: LocalModel) -> CountedModel:
    return CountedModel(bundled)


@pytest.fixture
def app(model: CountedModel) -> Any:
    model.over.clear()
    model.events = 0
    backend = LocalBackend(load=lambda _: model)
    served = [ServedModel(name="small", created=1_790_000_000)]
    return create_app(backend, models=served, prompt_schema="append")


def question(**fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": "The printer on floor 3 is broken."}
    return {"model": "small", "messages": [message], "temperature": 0, "max_tokens": 80, **fields}


async def test_model_answers_by_the_schema_and_replays_it(app: Any) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "ticket", "schema": SCHEMA}}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        key = {"Idempotency-Key": "ticket-1"}
        first = await client.post(PATH, json=question(response_format=form, stream=True), headers=key)
        again = await client.post(PATH, json=question(response_format=form, stream=True), headers=key)
        whole = (await client.post(PATH, json=question(response_format=form))).json()
    assert set(json.loads(whole["choices"][0]["message"]["content"])) == {"device", "floor"}
    assert whole["system_fingerprint"].startswith("fp_")
    assert again.content == first.content
    assert first.content.endswith(b"data: [DONE]\n\n")


async def test_model_calls_a_tool(app: Any) -> None:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        found = (await client.post(PATH, json=question(tools=[TOOL], tool_choice="required"))).json()
    message = found["choices"][0]["message"]
    assert set(json.loads(message["tool_calls"][0]["function"]["arguments"])) == {"device", "floor"}


async def test_client_that_leaves_stops_the_model(app: Any, model: CountedModel) -> None:
    left = anyio.Event()
    parts = iter([{"type": "http.request", "body": json.dumps(question(stream=True, max_tokens=2_000)).encode()}])
    events_then = 0

    async def receive() -> Any:
        if (part := next(parts, None)) is not None:
            return part
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal events_then
        if b'"content"' in message.get("body", b"") and not left.is_set():
            events_then = model.events
            left.set()

    scope = {"type": "http", "method": "POST", "path": PATH, "headers": [(b"content-type", b"application/json")]}
    await app({**scope, "query_string": b"", "root_path": ""}, receive, send)
    assert model.over.is_set()
    assert admission_of(app).in_flight == 0
    # What was on its way when the client left, and one step.
    assert model.events - events_then <= 3
