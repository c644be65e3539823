"""A server in memory whose honesty can be switched off, lie by lie."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from commitgate.backends.base import (
    BackendIdentity,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    RefusalDelta,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.json_value import JsonObject

ENFORCING = {
    "invalid_schema": "rejected",
    "invalid_pattern": "rejected",
    "invalid_grammar": "rejected",
    "enum": "enforced",
    "property": "enforced",
    "count": "enforced",
    "order": "enforced",
    "choice": "enforced",
    "pattern": "enforced",
    "grammar": "enforced",
    "tool": "enforced",
    "echo": "not_told",
    "cut": "yes",
    "whole": "yes",
}
"""What a probe says of a server that enforces; how it behaves otherwise comes on top."""

FACTS = ServerFacts(
    name="vllm_chat",
    title="a server of tests",
    vendor="vllm",
    base_url="http://server.test/v1",
    base_url_variable="TEST_BASE_URL",
    version_segment="v1",
    key_variables=(),
    forms=frozenset({"json_schema", "regex", "choices", "grammar"}),
    notations=frozenset({"gbnf"}),
    proof_of_end="a finish_reason",
    offers_tools=True,
)


def value_of(schema: Any) -> Any:
    """Return the simplest value of the schemas that probes send."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": "object"}:
            return {name: value_of(schema["properties"][name]) for name in schema["required"]}
        case {"type": "array"}:
            return [value_of(schema["items"])] * schema["minItems"]
        case {"type": "boolean"}:
            return True
        case _:
            raise AssertionError(schema)


def constrained(request: GenerationRequest) -> str:
    """Return a text that keeps to the constraint."""
    sent = request.translation
    assert sent is not None
    match sent.form:
        case "json_schema":
            return json.dumps(value_of(sent.schema))
        case "regex":
            return re.sub(r"\[A-F\]\{3\}", "ABC", str(sent.pattern))
        case "choices":
            return sent.choices[0]
        case "grammar":
            return re.findall(r'"(\w+)"', str(sent.grammar))[0] + "42"
        case _:
            raise AssertionError(sent.form)


def obeying(request: GenerationRequest) -> str:
    """Return what a model writes that follows its prompt and knows of no constraint."""
    prompt = request.messages[-1].content
    if "2+2" in prompt:
        return "4"
    if "JSON object" in prompt:
        return '{"answer": true}'
    if "keys a, m and z" in prompt:
        return '{"a": 1, "m": 1, "z": 1}'
    if "empty list" in prompt:
        return "[]"
    return "hello"


def shown(request: GenerationRequest) -> str:
    """Return what a model writes that is shown the schema and obeys it, and miscounts."""
    assert request.translation is not None
    text = constrained(request)
    return text.replace("0, ", "", 1) if request.translation.form == "json_schema" else text


def invalid(request: GenerationRequest) -> bool:
    sent = request.translation
    assert sent is not None
    return sent.schema == {"type": "no_such_type"} or sent.pattern == "(" or sent.grammar in ("root ::= (", "start: (")


REFUSED = Fault("constraint", "the server refused the constraint", status=400, detail="unrecognized type no_such_type")


@dataclass(frozen=True)
class Speech:
    """Be as much of a dialect as probes look at."""

    facts: ServerFacts

    def write(self, request: GenerationRequest) -> Outgoing:
        assert request.translation is not None
        body: JsonObject = {"stream": True, "stream_options": {}, "schema": request.translation.schema}
        return Outgoing(path="/chat", body=body)


@dataclass
class ScriptedServer:
    """Answer in memory. Every part of its honesty can be replaced.

    Attributes:
        write: the text of an answer.
        refuses: it refuses what cannot be enforced.
        tells_cut: it says ``length`` where it cut an answer.
        finish: the finish of a whole answer.
        keeps_keys: it answers a repeated key as it did before.
        answer: replaces all events of an answer, where it gives any.
    """

    write: Callable[[GenerationRequest], str] = constrained
    refuses: bool = True
    tells_cut: bool = True
    finish: FinishReason = FinishReason.STOP
    keeps_keys: bool = False
    answer: Callable[[GenerationRequest], list[Any] | None] = lambda request: None
    facts: ServerFacts = FACTS
    identity: ServerIdentity = field(default_factory=lambda: ServerIdentity(is_ready=True, version="0.33.0"))
    exchanged: Callable[[Outgoing], Answer] = lambda outgoing: Answer(status=404, headers={}, body=b"")
    requests: list[GenerationRequest] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    name: str = "scripted"
    base_url: str = "http://server.test/v1"

    @property
    def dialect(self) -> Any:
        return Speech(self.facts)

    async def handshake(self, model: str) -> ServerIdentity:
        return self.identity

    async def exchange(self, outgoing: Outgoing, *, timeout_s: float = 10.0) -> Answer:
        key = outgoing.headers.get("idempotency-key")
        if key is None:
            return self.exchanged(outgoing)
        self.keys.append(key)
        number = self.keys.index(key) if self.keeps_keys else len(self.keys)
        return Answer(status=200, headers={}, body=json.dumps({"id": f"answer-{number}"}).encode())

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncIterator["Stream"]:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        events = self.answer(request)
        identity = BackendIdentity(backend=self.name, model=request.model)
        yield Stream(list(self.events(request)) if events is None else events, identity)

    def events(self, request: GenerationRequest) -> Iterator[Any]:
        if self.refuses and invalid(request):
            yield REFUSED
            return
        if request.tools is not None:
            yield from self.call(request)
            return
        text = "hello" if invalid(request) else self.write(request)
        # A token is two characters here.
        kept = text[: 2 * request.sampling.max_tokens]
        is_cut = kept != text
        if kept:
            yield TextDelta(kept.encode("utf-8", "surrogatepass"))
        yield Usage(input_tokens=10, output_tokens=(len(kept) + 1) // 2)
        yield Finish(FinishReason.LENGTH, "length") if is_cut and self.tells_cut else Finish(self.finish, "stop")

    def call(self, request: GenerationRequest) -> Iterator[Any]:
        assert request.translation is not None
        (name,) = request.translation.tools
        value = value_of(request.translation.tools[name]) if self.write is constrained else {"v": "hello"}
        yield ToolDelta(0, id="call-1", name=name)
        yield ToolDelta(0, arguments=json.dumps(value).encode())
        yield Finish(FinishReason.STOP, "tool_calls")

    def with_facts(self, **changed: Any) -> "ScriptedServer":
        return replace(self, facts=replace(self.facts, **changed))


class Stream:
    """Play events."""

    def __init__(self, events: list[Any], identity: BackendIdentity) -> None:
        self.identity = identity
        self._events = iter(events)

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Any:
        await anyio.lowlevel.checkpoint()
        for event in self._events:
            return event
        raise StopAsyncIteration


def declined(request: GenerationRequest) -> list[Any]:
    return [RefusalDelta("I cannot do that."), Finish(FinishReason.STOP, "stop")]
