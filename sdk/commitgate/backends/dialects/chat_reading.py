"""Read answers in the form of OpenAI's chat completions, as a stream of chunks or whole.

One reader reads them from all servers that speak so: where servers differ, they differ in what they leave out, send as
null, repeat or add, and each such way is read everywhere.

Source: OpenAI's reference of chat completions and its streams; vLLM 0.33, SGLang 0.5.23, llama.cpp 0c1e570, TGI 3.3 and
Ollama as their sources write them; Azure's, OpenRouter's and DeepSeek's documented additions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from commitgate.backends.base import (
    Fault,
    FinishReason,
    Notice,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.aside import Aside
from commitgate.backends.dialects.chat_calls import CallReader
from commitgate.backends.dialects.fields import count_of
from commitgate.backends.dialects.refusal import RefusalJoiner
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.errors import read_error
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject, JsonValue

_Holder: TypeAlias = Literal["delta", "message"]

_REASONING: Final = ("reasoning_content", "reasoning")
"""The fields that servers put a model's thoughts into; where both are there, they say the same."""


class ChatReader:
    """Read the events of one answer.

    Args:
        expected: what the answer is expected to hold.

    Attributes:
        finish_native: the server's own finish word; None while there is none.
        is_terminal: the end marker ``[DONE]`` was read.
        answer_id: what the server calls its answer; None while it did not say.
        model_revision: what the server calls the model with its configuration; None while it did not say.
    """

    __slots__ = (
        "_aside",
        "_calls",
        "_expected",
        "_has_failed",
        "_has_refused",
        "_is_whole",
        "_reasoning",
        "_refusal",
        "_text",
        "_uses_calls",
        "answer_id",
        "finish_native",
        "is_terminal",
        "model_revision",
    )

    def __init__(self, expected: Expected) -> None:
        self.finish_native: str | None = None
        self.is_terminal = False
        self.answer_id: str | None = None
        self.model_revision: str | None = None
        self._expected = expected
        self._calls = CallReader(expected.answer_tool)
        self._aside = Aside()
        self._text = TextJoiner()
        self._reasoning = TextJoiner()
        self._refusal = RefusalJoiner()
        self._uses_calls = False
        self._is_whole = False
        self._has_failed = False
        self._has_refused = False

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one chunk means.

        Raises:
            WireFaultError: it is not of the form.
        """
        value = event.value
        if value is None:
            self.is_terminal = True
            return ()
        return self._read(event, value, "delta")

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole answer means.

        Raises:
            WireFaultError: it is not of the form.
        """
        self._is_whole = True
        if event.value is None:
            raise WireFaultError("not_an_answer", "the body is no answer")
        found = self._read(event, event.value, "message")
        if not found and not event.value.get("choices"):
            raise WireFaultError("not_an_answer", "the body is no answer")
        return found

    def close(self) -> Iterable[StreamEvent]:
        """Return what a clean end of the body adds: where the end came without its marker, that it did."""
        is_missing = not (self.is_terminal or self._is_whole or self._has_failed) and self.finish_native is not None
        return (Notice("missing_done"),) if is_missing else ()

    def _read(self, event: WireEvent, value: JsonObject, holder: _Holder) -> list[StreamEvent]:
        if value.get("error") or value.get("object") == "error" or event.name == "error":
            return self._fail(value)
        found: list[StreamEvent] = []
        # Nothing of the answer hangs on what it is called, so one of another type is as good as none.
        if self.answer_id is None and isinstance(name := value.get("id"), str):
            self.answer_id = name
        if self.model_revision is None and isinstance(version := value.get("system_fingerprint"), str):
            self.model_revision = version
        # Behind its end marker a stream holds nothing, and behind a failure nothing that would change what it was.
        is_over = self.is_terminal or self._has_failed
        choices = value.get("choices")
        at, choice = (0, None) if is_over or not choices else _first(choices)
        if choice is not None:
            self._read_choice(choice, event.data, at, holder, found)
        counts = value.get("usage") or (_usage_of_groq(value) if "x_groq" in value else None)
        if counts:
            found.append(_usage(counts))
        if choice is not None and (word := choice.get("finish_reason")):
            self._finish(word, choice, found)
        return found

    def _read_choice(self, choice: JsonObject, data: bytes, at: int, holder: _Holder, found: list[StreamEvent]) -> None:
        message = choice.get(holder)
        if message is None and holder == "delta":
            holder = "message"
            message = choice.get(holder)
        if message is None:
            return
        if not isinstance(message, dict):
            raise _wrong(holder)
        self._read_message(message, data, at, holder, found)

    def _read_message(
        self, message: JsonObject, data: bytes, at: int, holder: _Holder, found: list[StreamEvent]
    ) -> None:
        for name in _REASONING:
            thoughts = message.get(name)
            if thoughts:
                if not isinstance(thoughts, str):
                    raise _wrong(name)
                found.append(ReasoningDelta(self._reasoning.feed(thoughts)))
                break
        text = message.get("content")
        if text:
            if not isinstance(text, str):
                raise _wrong("content")
            self._read_text(text, found)
        words = message.get("refusal")
        if words:
            if not isinstance(words, str):
                raise _wrong("refusal")
            self._has_refused = True
            if joined := self._refusal.feed(words):
                found.append(RefusalDelta(joined))
        calls = message.get("tool_calls")
        if calls:
            self._uses_calls = True
            place = ("choices", at, holder, "tool_calls")
            found.extend(self._calls.read(calls, data, place, is_whole=self._is_whole))
        elif not self._uses_calls and (call := message.get("function_call")):
            # Some servers say a call in both forms; the newer one counts.
            found.extend(self._calls.read_old(call, data, ("choices", at, holder, "function_call")))

    def _read_text(self, text: str, found: list[StreamEvent]) -> None:
        if self._expected.answer_tool is not None:
            if not self._calls.has_answer:
                self._aside.put(text)
            return
        data = self._text.feed(text)
        found.append(ProseDelta(data) if self._expected.offers_tools else TextDelta(data))

    def _finish(self, word: JsonValue, choice: JsonObject, found: list[StreamEvent]) -> None:
        if not isinstance(word, str):
            raise _wrong("finish_reason")
        if word == self.finish_native:
            return  # some servers repeat it with the usage
        # Only where its call came may a finish say that an answer that is a call is whole.
        end = read_finish(word, offers_tools=self._expected.offers_tools or self._calls.has_answer)
        if self._expected.answer_tool is not None and not self._calls.has_answer and self.finish_native is None:
            is_whole = not isinstance(end, Fault) and end.reason is FinishReason.STOP
            found.extend(self._aside.answer(must_be=is_whole and not self._has_refused))
        if self.finish_native is None:
            self.finish_native = word
        if isinstance(end, Fault):
            self._has_failed = True
            error = choice.get("error")
            end = read_error(error) if isinstance(error, dict) else end
        found.append(end)

    def _fail(self, value: JsonObject) -> list[StreamEvent]:
        """Return the failure that the server tells of; nothing where it told of one before."""
        if self._has_failed:
            return []
        self._has_failed = True
        choices = value.get("choices")
        choice = _first(choices)[1] if isinstance(choices, list) else None
        word = None if choice is None else choice.get("finish_reason")
        if isinstance(word, str) and word and self.finish_native is None:
            self.finish_native = word
        return [read_error(value)]


def _first(choices: JsonValue) -> tuple[int, JsonObject | None]:
    """Return the first answer of those that were asked for, and its place; it need not come first."""
    if not isinstance(choices, list):
        raise _wrong("choices")
    for at, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise _wrong("choices")
        if not choice.get("index"):
            return at, choice
    return 0, None


def _usage_of_groq(value: JsonObject) -> JsonValue:
    extra = value.get("x_groq")
    return extra.get("usage") if isinstance(extra, dict) else None


def _usage(counts: JsonValue) -> Usage:
    if not isinstance(counts, dict):
        raise _wrong("usage")
    details = counts.get("completion_tokens_details")
    return Usage(
        input_tokens=count_of(counts, "prompt_tokens"),
        output_tokens=count_of(counts, "completion_tokens"),
        reasoning_tokens=count_of(details, "reasoning_tokens") if isinstance(details, dict) else None,
    )


def _wrong(field: str) -> WireFaultError:
    return WireFaultError("wrong_type", f"{field} of an answer is of another type than its format says")


__all__ = ["ChatReader"]
