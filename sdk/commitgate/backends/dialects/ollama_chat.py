"""Know Ollama's own chat API: what it is asked, how its answer is read, and who answers.

Source: Ollama fb30760, ``api/types.go`` and ``server/routes.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from commitgate.backends.base import (
    GenerationRequest,
    ProseDelta,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
)
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity, UnwritableError
from commitgate.backends.dialects.chat_dialect import asked
from commitgate.backends.dialects.chat_writing import (
    drawing_of,
    model_of,
    not_in_form,
    translation_of,
)
from commitgate.backends.dialects.fields import count_of, name_of, object_of, objects_of, text_of
from commitgate.backends.dialects.native_reading import NativeReader
from commitgate.backends.dialects.native_request import no_marks, schema_of
from commitgate.backends.dialects.ollama_v1_chat import identify_ollama
from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonValue

_SAID_BY_REQUESTS: Final = frozenset({"num_predict", "temperature", "top_k", "top_p", "seed"})
_FACTS: Final = ServerFacts(
    name="ollama_chat",
    title="Ollama",
    vendor="llama_cpp",
    base_url=None,
    base_url_variable="OLLAMA_BASE_URL",
    version_segment=None,
    key_variables=("OLLAMA_API_KEY",),
    forms=frozenset({"json_schema"}),
    framing="ndjson",
    proof_of_end="a line with done: true and its done_reason",
)


class OllamaChatDialect:
    """Speak Ollama's own chat API.

    A model that thinks does so, and its thoughts count among ``Sampling.max_tokens``; ``Reasoning(max_tokens=0)`` turns
    them off. Some versions then leave out the constraint of such a model; the gate finds it, and a probe too.

    Tools are not offered in the server's own form, in which it enforces nothing of what they are called with, but as
    text of the contract, which it does enforce.

    Args:
        options: further ``options`` of every request, as ``num_ctx``; none that a request says itself.

    Raises:
        MisuseError: an option is one that a request says itself.
    """

    def __init__(self, *, options: Mapping[str, JsonValue] | None = None) -> None:
        self._options = {} if options is None else dict(options)
        if taken := sorted(self._options.keys() & _SAID_BY_REQUESTS):
            raise MisuseError(f"options must not hold {taken[0]}: give Sampling in its place")

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return _FACTS

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a stream.

        Raises:
            UnsupportedError: the constraint is of another form.
            UnwritableError: no model is named, or it is to think up to a limit.
        """
        body = model_of(_FACTS, request.model, is_needed=True)
        body["messages"] = [{"role": each.role, "content": each.content} for each in request.messages]
        # Without the last two, a context that is too small would lose words at the beginning in silence.
        body |= {"stream": True, "truncate": False, "shift": False}
        body |= _constraint(request, _FACTS)
        body |= _thinking(request, _FACTS)
        body["options"] = {**self._options, **_drawing(request)}
        return Outgoing(path="//api/chat", body=body)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return that nothing but text is expected."""
        return Expected()

    def reader(self, expected: Expected) -> OllamaChatReader:
        """Return a reader for one answer."""
        return OllamaChatReader(expected)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Ask for the server's version, and for its models and their digests."""
        return asked("//api/version", "//api/tags")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the version, and the digest of the model's files."""
        return identify_ollama(model, answers)


class OllamaChatReader(NativeReader):
    """Read one answer.

    Args:
        expected: what it is expected to hold.
    """

    MEMBERS = frozenset({"error", "message", "done"})
    API = "/api/chat"

    def __init__(self, expected: Expected) -> None:
        super().__init__()
        self._text_kind = ProseDelta if expected.offers_tools else TextDelta
        self._thoughts = TextJoiner()
        self._calls = 0

    def _read(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        message = object_of(value, "message")
        events = [] if message is None else list(self._answer(message, data))
        done = value.get("done")
        if done is not None and not isinstance(done, bool):
            raise WireFaultError("wrong_type", "done is something else than true or false")
        if done:
            events.extend(self._end(value))
        return events

    def _answer(self, message: JsonObject, data: bytes) -> Iterator[StreamEvent]:
        thoughts, text = text_of(message, "thinking"), text_of(message, "content")
        if thoughts:
            yield ReasoningDelta(self._thoughts.feed(thoughts))
        if text:
            yield self._text_kind(self._text.feed(text))
        calls = objects_of(message, "tool_calls")
        raw_calls = items_of(raw_value(data, ("message", "tool_calls"))) if calls else []
        for call, raw in zip(calls, raw_calls, strict=True):
            yield self._call(call, raw)

    def _call(self, call: JsonObject, raw: bytes) -> ToolDelta:
        function = object_of(call, "function") or {}
        name = text_of(function, "name")
        if not name:
            raise WireFaultError("call_without_name", "a call has no name")
        has_arguments = object_of(function, "arguments") is not None
        arguments = raw_value(raw, ("function", "arguments")) if has_arguments else b"{}"
        # Calls come whole, so each is another one, whatever index the server gives them.
        index, self._calls = self._calls, self._calls + 1
        return ToolDelta(index, id=name_of(call, "id") or None, name=name, arguments=arguments)

    def _end(self, value: JsonObject) -> Iterator[StreamEvent]:
        return self._ended(
            text_of(value, "done_reason"),
            read=count_of(value, "prompt_eval_count"),
            written=count_of(value, "eval_count"),
        )


def _constraint(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    translation = translation_of(request)
    match translation.form:
        case "json_schema":
            return {"format": schema_of(request)}
        case "prompt":
            return {}
        case _:
            raise not_in_form(facts, translation)


def _thinking(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    if request.reasoning is None:
        return {}
    no_marks(request.reasoning, facts)
    if request.reasoning.max_tokens > 0:
        raise UnwritableError(
            f"reasoning: {facts.title} takes no number of thoughts; leave it out, and the model decides, or allow 0"
        )
    return {"think": False}


def _drawing(request: GenerationRequest) -> JsonObject:
    sampling = request.sampling
    return {
        "num_predict": sampling.max_tokens,
        "top_k": sampling.top_k or 0,  # 0 keeps all; left out, it would be 40
        **drawing_of(sampling),
    }


__all__ = ["OllamaChatDialect", "OllamaChatReader"]
