"""Know TGI's own API for texts: what it is asked, how its answer is read, and who answers.

Source: text-generation-inference db931fc, ``router/src/lib.rs``, ``server.rs`` and ``validation.rs``.
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
from commitgate.backends.dialects.chat_writing import not_in_form, translation_of
from commitgate.backends.dialects.continuing import ContinuingDialect
from commitgate.backends.dialects.fields import array_of, count_of, flag_of, object_of, text_of
from commitgate.backends.dialects.native_reading import NativeReader
from commitgate.backends.dialects.native_request import Template, schema_of
from commitgate.backends.dialects.tgi_chat import identify_tgi
from commitgate.json_value import JsonObject

_FACTS: Final = ServerFacts(
    name="tgi_generate",
    title="TGI's /generate_stream",
    vendor="tgi",
    base_url=None,
    base_url_variable="TGI_BASE_URL",
    version_segment=None,
    key_variables=("TGI_API_KEY", "HF_TOKEN"),
    forms=frozenset({"json_schema", "regex"}),
    proof_of_end="the finish_reason in the details of the last event",
)


class TgiGenerateDialect(ContinuingDialect):
    """Speak TGI's own API, which continues a text.

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
        inputs = self._prompt(request)
        parameters: JsonObject = {"details": True, "return_full_text": False, **_drawing(request)}
        parameters |= _constraint(request)
        return Outgoing(path="//generate_stream", body={"inputs": inputs, "parameters": parameters, "stream": True})

    def reader(self, expected: Expected) -> TgiGenerateReader:
        """Return a reader for one answer."""
        return TgiGenerateReader()

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Ask whether the server is well, and what it is."""
        return asked("//health", "//info")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server said."""
        return identify_tgi(answers)


class TgiGenerateReader(NativeReader):
    """Read one answer: an event a token, the last of which tells how it ended."""

    MEMBERS = frozenset({"error", "generated_text"})
    API = "/generate"

    def _read(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        del data
        token = object_of(value, "token")
        events: list[StreamEvent] = []
        if token is None:  # a whole answer
            text = text_of(value, "generated_text")
        else:
            text = None if flag_of(token, "special") else text_of(token, "text")
        if text:
            events.append(TextDelta(self._text.feed(text)))
        if text_of(value, "generated_text") is not None or object_of(value, "details") is not None:
            events.extend(self._end(value))
        return events

    def _end(self, value: JsonObject) -> Iterator[StreamEvent]:
        details = object_of(value, "details") or {}
        read, written = count_of(details, "input_length"), count_of(details, "generated_tokens")
        if read is None:  # a whole answer lists the tokens of the prompt in its place, where it was asked to
            read = len(array_of(details, "prefill") or ()) or None
        return self._ended(text_of(details, "finish_reason"), read=read, written=written)


def _constraint(request: GenerationRequest) -> JsonObject:
    translation = translation_of(request)
    match translation.form:
        case "json_schema":
            return {"grammar": {"type": "json", "value": schema_of(request)}}
        case "regex":
            return {"grammar": {"type": "regex", "value": translation.pattern}}
        case "prompt":
            return {}
        case _:
            raise not_in_form(_FACTS, translation)


def _drawing(request: GenerationRequest) -> JsonObject:
    sampling = request.sampling
    written: JsonObject = {"max_new_tokens": sampling.max_tokens, "do_sample": sampling.heat > 0}
    if sampling.heat > 0:  # 0 is refused, and so are bounds that would keep all
        written["temperature"] = sampling.heat
        if sampling.top_k is not None:
            written["top_k"] = sampling.top_k
        if sampling.top_p < 1:
            written["top_p"] = sampling.top_p
    if sampling.seed is not None:
        written["seed"] = sampling.seed
    return written


__all__ = ["TgiGenerateDialect", "TgiGenerateReader"]
