"""Answers of a server that speaks chat completions, and a backend that asks it."""

from __future__ import annotations

import json
from typing import Unpack

from backends.remote.loopback import Asked, Line, Loopback, Respond

from commitgate import Contract
from commitgate.backends.base import GenerationRequest, Message, StreamEvent
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.backends.translation import Translation
from commitgate.backends.translation.shapes import SAME
from commitgate.json_value import JsonObject
from commitgate.timeouts import Timeouts

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
CONTRACT = Contract.of(SCHEMA)
TRANSLATION = Translation(sent=CONTRACT, form="json_schema", schema=SCHEMA, shape=SAME)


def delta(text: str) -> bytes:
    """One event with text of the answer."""
    return _event({"index": 0, "delta": {"content": text}})


def finish(word: str = "stop") -> bytes:
    """The event that ends the answer."""
    return _event({"index": 0, "delta": {}, "finish_reason": word})


def _event(choice: dict[str, object]) -> bytes:
    return b"data: " + json.dumps({"id": "c-1", "choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
ANSWER = delta('{"a": ') + delta("1}") + finish() + DONE


def answering(*pieces: bytes) -> Respond:
    """Answer every request with one chunked body, cut as given."""

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        for piece in pieces or (ANSWER,):
            await line.chunk(piece)
        await line.end()

    return respond


def backend_at(server: Loopback | str, **options: Unpack[RemoteOptions]) -> RemoteBackend:
    """Return a backend that asks a server with the key ``k``."""
    url = server if isinstance(server, str) else server.url
    given: RemoteOptions = {"base_url": url, "api_key": "k", **options}
    return RemoteBackend(OpenAIChatDialect(), **given)


def request(**changes: object) -> GenerationRequest:
    """Return a request for an answer of ``CONTRACT``."""
    given: dict[str, object] = {
        "model": "m",
        "contract": CONTRACT,
        "messages": (Message("user", "say"),),
        "idempotency_key": "key-1",
        "timeouts": Timeouts(),
        "translation": TRANSLATION,
        **changes,
    }
    return GenerationRequest(**given)  # type: ignore[arg-type]


async def events_of(backend: RemoteBackend, asked: GenerationRequest | None = None) -> list[StreamEvent]:
    """Make one attempt and return all its events."""
    async with backend.open(asked or request()) as stream:
        return [event async for event in stream]
