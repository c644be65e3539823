"""Ask a model in each of the three ways: itself, by the client, and over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from commitgate import Client, Contract
from commitgate.backends.base import Event, Finish, GenerationRequest, Message, TextDelta
from commitgate.backends.local import LocalBackend
from commitgate.ledger import MemoryLedger
from commitgate_local.local_model import LocalModel
from commitgate_local.server.app import admission_of, create_app
from commitgate_local.server.model_list import ServedModel
from commitgate_local.server.server_limits import ServerLimits

PATH = "/v1/chat/completions"
GOOD: dict[str, Any] = {"enum": ["low", "high"]}
"""A schema that every model can answer by."""


def written(model: LocalModel, schema: Any = GOOD, prompt: str = "a", **options: Any) -> list[Event]:
    events: list[Event] = []
    contract = schema if isinstance(schema, Contract) else Contract.json_schema(schema)
    request = GenerationRequest(model="", contract=contract, messages=(Message("user", prompt),), **options)
    model.generate(request, events.append, lambda: False)
    return events


def is_well(model: LocalModel) -> bool:
    """Return whether a good question is answered as it should be."""
    *texts, _, finish = written(model)
    text = b"".join(event.data for event in texts if isinstance(event, TextDelta))
    return isinstance(finish, Finish) and json.loads(text) in GOOD["enum"]


def client_over(model: LocalModel) -> Client:
    return Client(backends={"local": LocalBackend(load=lambda _: model)}, ledger=MemoryLedger())


class Server:
    """Hold a server over a model, and ask it."""

    def __init__(self, model: LocalModel, **limits: Any) -> None:
        backend = LocalBackend(load=lambda _: model)
        self.app = create_app(backend, models=[ServedModel(name="small", created=0)], limits=ServerLimits(**limits))

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            yield client

    async def ask(self, schema: Any = GOOD, prompt: str = "a", **fields: Any) -> httpx.Response:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        body = {"model": "small", "messages": [{"role": "user", "content": prompt}], "response_format": form}
        async with self.client() as client:
            return await client.post(PATH, json={**body, "temperature": 0, **fields})

    async def is_well(self) -> bool:
        found = (await self.ask()).json()
        admission = admission_of(self.app)
        is_empty = (admission.in_flight, admission.queued) == (0, 0)
        return is_empty and json.loads(found["choices"][0]["message"]["content"]) in GOOD["enum"]
