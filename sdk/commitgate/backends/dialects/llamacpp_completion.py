"""Know the own API of llama.cpp's server for texts: what it is asked, how its answer is read, and who answers.

Source: llama.cpp 0c1e570, ``tools/server/server-context.cpp`` and ``server-schema.cpp``; streams as captured from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from commitgate.backends.base import (
    GenerationRequest,
    StreamEvent,
    TextDelta,
)
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import asked
from commitgate.backends.dialects.chat_writing import drawing_of, not_in_form, translation_of
from commitgate.backends.dialects.continuing import ContinuingDialect
from commitgate.backends.dialects.fields import count_of, flag_of, object_of, text_of
from commitgate.backends.dialects.identity_reading import is_ready, names, object_in, objects, word
from commitgate.backends.dialects.native_reading import NativeReader
from commitgate.backends.dialects.native_request import Template, schema_of
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.json_value import JsonObject

_FACTS: Final = ServerFacts(
    name="llamacpp_completion",
    title="llama.cpp's /completion",
    vendor="llama_cpp",
    base_url=None,
    base_url_variable="LLAMA_CPP_BASE_URL",
    version_segment=None,
    key_variables=("LLAMA_CPP_API_KEY",),
    forms=frozenset({"json_schema", "grammar"}),
    notations=frozenset({"gbnf"}),
    proof_of_end="the stop_type of the event with stop: true",
)


class LlamaCppCompletionDialect(ContinuingDialect):
    """Speak llama.cpp's own API, which continues a text.

    Args:
        template: writes a conversation as the text to continue; None takes one user message as it stands, and nothing
            else.
    """

    def __init__(self, *, template: Template | None = None) -> None:
        super().__init__(_FACTS, template)

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a stream.

        Raises:
            UnsupportedError: the constraint is of another form.
            UnwritableError: the conversation cannot be written as one text, or the model is to think.
        """
        body: JsonObject = {"prompt": self._prompt(request), "stream": True}
        body |= _drawing(request)
        body |= _constraint(request)
        return Outgoing(path="//completion", body=body)

    def reader(self, expected: Expected) -> LlamaCppCompletionReader:
        """Return a reader for one answer."""
        return LlamaCppCompletionReader()

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Ask whether the server is well, and what it and its model are."""
        return asked("//health", "//props", "//v1/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server said."""
        health, properties, models = answers
        about = object_in(properties)
        return ServerIdentity(
            is_ready=is_ready(health, properties),
            version=word(about, "build_info"),
            models=names(objects(object_in(models), "data"), "id"),
            revision=word(about, "model_path"),
            engine="llama.cpp",
        )


class LlamaCppCompletionReader(NativeReader):
    """Read one answer: events with pieces of text, the last of which tells how it ended.

    Attributes:
        grammar: the grammar that was in force, as the server tells with its end; empty where there was none, None
            while it did not tell.
    """

    MEMBERS = frozenset({"error", "content"})
    API = "/completion"

    def __init__(self) -> None:
        super().__init__()
        self.grammar: str | None = None

    def _read(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        del data
        if value.get("index"):  # another answer to the same prompt
            return ()
        text, stop = text_of(value, "content"), value.get("stop")
        events: list[StreamEvent] = [TextDelta(self._text.feed(text))] if text else []
        if stop is not None and not isinstance(stop, bool):
            raise WireFaultError("wrong_type", "stop is something else than true or false")
        if stop:
            events.extend(self._end(value))
        return events

    def _end(self, value: JsonObject) -> Iterator[StreamEvent]:
        self.grammar = text_of(object_of(value, "generation_settings") or {}, "grammar")
        return self._ended(
            text_of(value, "stop_type"),
            read=count_of(value, "tokens_evaluated"),
            written=count_of(value, "tokens_predicted"),
            is_cut=bool(flag_of(value, "truncated")),  # the context was full: some of it was dropped to go on
        )


def _constraint(request: GenerationRequest) -> JsonObject:
    translation = translation_of(request)
    match translation.form:
        case "json_schema":
            return {"json_schema": schema_of(request)}
        case "grammar":
            return {"grammar": translation.grammar}  # beside a schema it would win in silence
        case "prompt":
            return {}
        case _:
            raise not_in_form(_FACTS, translation)


def _drawing(request: GenerationRequest) -> JsonObject:
    sampling = request.sampling
    return {
        "n_predict": sampling.max_tokens,
        **drawing_of(sampling),
        "top_k": sampling.top_k or 0,  # 0 keeps all; left out, it would be 40
        "samplers": ["temperature", "top_k", "top_p"],  # left out, further ones would draw, in another order
    }


__all__ = ["LlamaCppCompletionDialect", "LlamaCppCompletionReader"]
