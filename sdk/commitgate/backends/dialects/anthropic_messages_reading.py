"""Read the answers of the Anthropic Messages API: streams of events, and whole messages.

A message is a list of content blocks, each with a type of its own: text is the answer (or, beside calls of tools, mere
words), a ``tool_use`` is a call, ``thinking`` is neither. Blocks of other types, and deltas and events of unknown
types, are left alone, as the API asks of its clients. The ``stop_reason`` is the end; ``message_stop`` proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import (
    Notice,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.fields import count_of, name_of, object_of, objects_of, text_of
from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.dialects.refusal import RefusalJoiner
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.errors import read_error
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject
from commitgate.tools.joining import MOST_HELD_BYTES

_Kind: TypeAlias = Literal["text", "thinking", "tool_use", "other"]
_KINDS: dict[str, _Kind] = {"text": "text", "thinking": "thinking", "tool_use": "tool_use"}

_MOST_BLOCKS = 4_096
"""Most content blocks of one message: far more than any answer has; a stream of empty ones would grow for ever."""

_PROMPT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_COUNTS = (*_PROMPT_COUNTS, "output_tokens", "output_tokens_details")


@dataclass(slots=True)
class _Block:
    kind: _Kind
    joiner: TextJoiner = field(default_factory=TextJoiner)
    given: bytes = b""
    """Arguments that stood in the block's start already."""
    has_arguments: bool = False
    is_open: bool = True


class AnthropicMessagesReader:
    """Read one answer.

    Args:
        expected: what it is expected to hold.

    Attributes:
        finish_native: the reason to stop; None while there is none.
        is_terminal: ``message_stop`` was read.
        model_revision: the model that the server says it used; None while it did not.
        answer_id: what the server calls the message; None while it did not.
    """

    def __init__(self, expected: Expected) -> None:
        self._text_kind = ProseDelta if expected.offers_tools else TextDelta
        self._offers_tools = expected.offers_tools
        self._blocks: dict[int, _Block] = {}
        self._text_index = -1
        self._text = TextJoiner()
        self._usage: JsonObject = {}
        self._held_bytes = 0
        self._has_begun = False
        self._is_stream = False
        self.finish_native: str | None = None
        self.is_terminal = False
        self.model_revision: str | None = None
        self.answer_id: str | None = None

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one event of a stream means."""
        self._is_stream = True
        return () if event.value is None else tuple(self._read(event, event.value))

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole message means."""
        value = event.value
        if value is None:
            raise WireFaultError("not_a_message", "the answer is no message")
        if value.get("error") or value.get("type") == "error":
            return (read_error(value),)
        if text_of(value, "type") != "message":
            raise WireFaultError("not_a_message", "the answer is no message")
        self._note(value)
        return (*self._read_content(value, event.data), *self._read_end(value))

    def close(self) -> Iterable[StreamEvent]:
        """Return what a clean end of the body adds."""
        is_missing = self._is_stream and self.finish_native is not None and not self.is_terminal
        return (Notice("missing_done"),) if is_missing else ()

    def _read(self, event: WireEvent, value: JsonObject) -> Iterable[StreamEvent]:
        match text_of(value, "type") or event.name:
            case "content_block_delta":
                return self._read_delta(value)
            case "content_block_start":
                return self._start_block(value, event.data)
            case "content_block_stop":
                return self._stop_block(value)
            case "message_start":
                return self._start_message(value)
            case "message_delta":
                return self._read_message_delta(value)
            case "message_stop":
                self.is_terminal = True
                return ()
            case kind:
                return (read_error(value),) if kind == "error" or value.get("error") else ()

    def _start_message(self, value: JsonObject) -> Iterable[StreamEvent]:
        if self._has_begun:
            raise WireFaultError("message_repeated", "a message began within another one")
        self._has_begun = True
        message = object_of(value, "message")
        if message is not None:
            self._note(message)
            self._usage = {**(object_of(message, "usage") or {})}
        return ()

    def _note(self, message: JsonObject) -> None:
        self.model_revision = text_of(message, "model")
        self.answer_id = name_of(message, "id")

    def _start_block(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        index, content = count_of(value, "index"), object_of(value, "content_block")
        if index is None or content is None:
            raise WireFaultError("block_unnamed", "a content block began without a number or a type")
        if index in self._blocks:
            raise WireFaultError("block_repeated", "a content block began twice")
        if len(self._blocks) >= _MOST_BLOCKS:
            raise WireFaultError("too_many_blocks", f"an answer has more than {_MOST_BLOCKS} content blocks")
        block = _Block(_KINDS.get(text_of(content, "type") or "", "other"))
        self._blocks[index] = block
        match block.kind:
            case "text":
                self._text_index = index
                return self._text_events(text_of(content, "text") or "")
            case "thinking":
                return _thought(block, text_of(content, "thinking") or "")
            case "tool_use":
                if object_of(content, "input"):
                    block.given = self._held(raw_value(data, ("content_block", "input")))
                return (_call(index, content),)
            case "other":
                return ()

    def _held(self, given: bytes) -> bytes:
        self._held_bytes += len(given)
        if self._held_bytes > MOST_HELD_BYTES:
            raise WireFaultError("arguments_too_long", "calls began with more than an answer may hold")
        return given

    def _read_delta(self, value: JsonObject) -> Iterable[StreamEvent]:
        index = count_of(value, "index")
        block = None if index is None else self._blocks.get(index)
        if index is None or block is None or not block.is_open:
            raise WireFaultError("delta_without_block", "a delta belongs to no open content block")
        delta = object_of(value, "delta") or {}
        match text_of(delta, "type"):
            case "text_delta" if block.kind != "other":
                self._check(block, "text")
                if index != self._text_index:
                    raise WireFaultError("blocks_mixed", "two blocks of text came mixed")
                return self._text_events(text_of(delta, "text") or "")
            case "input_json_delta" if block.kind != "other":
                self._check(block, "tool_use")
                return _arguments(index, block, text_of(delta, "partial_json") or "")
            case "thinking_delta" if block.kind != "other":
                self._check(block, "thinking")
                return _thought(block, text_of(delta, "thinking") or "")
            case _:
                return ()

    def _check(self, block: _Block, kind: _Kind) -> None:
        if block.kind != kind:
            raise WireFaultError("delta_of_other_kind", f"a delta of {kind} belongs to a block of {block.kind}")

    def _text_events(self, text: str) -> Iterable[StreamEvent]:
        return (self._text_kind(self._text.feed(text)),) if text else ()

    def _stop_block(self, value: JsonObject) -> Iterable[StreamEvent]:
        index = count_of(value, "index")
        block = None if index is None else self._blocks.get(index)
        if index is None or block is None or not block.is_open:
            raise WireFaultError("stop_without_block", "the end of a content block belongs to none that is open")
        block.is_open = False
        if block.given and not block.has_arguments:
            return (ToolDelta(index, arguments=block.given),)
        return ()

    def _read_message_delta(self, value: JsonObject) -> Iterable[StreamEvent]:
        """Read the end of a message; its usage counts from the message's beginning."""
        usage = object_of(value, "usage") or {}
        self._usage.update({key: usage[key] for key in _COUNTS if usage.get(key) is not None})
        return self._read_end({**(object_of(value, "delta") or {}), "usage": self._usage or None})

    def _read_end(self, end: JsonObject) -> Iterator[StreamEvent]:
        word = text_of(end, "stop_reason")
        details = object_of(end, "stop_details")
        explanation = None if details is None else text_of(details, "explanation")
        if explanation and word == "refusal":
            yield RefusalDelta(RefusalJoiner().feed(explanation))
        usage = object_of(end, "usage")
        if usage is not None:
            yield _usage(usage)
        if word is not None and word != self.finish_native:
            self.finish_native = word
            yield read_finish(word, offers_tools=self._offers_tools)

    def _read_content(self, message: JsonObject, data: bytes) -> Iterator[StreamEvent]:
        contents = objects_of(message, "content")
        spelled = items_of(raw_value(data, ("content",))) if contents else []
        for index, content in enumerate(contents):
            match text_of(content, "type"):
                case "text":
                    yield from self._text_events(text_of(content, "text") or "")
                case "thinking":
                    yield from _thought(_Block("thinking"), text_of(content, "thinking") or "")
                case "tool_use":
                    yield _call(index, content)
                    if object_of(content, "input") is not None:
                        yield ToolDelta(index, arguments=raw_value(spelled[index], ("input",)))
                case _:
                    pass


def _call(index: int, content: JsonObject) -> ToolDelta:
    return ToolDelta(index, id=name_of(content, "id"), name=text_of(content, "name"))


def _arguments(index: int, block: _Block, text: str) -> Iterable[StreamEvent]:
    if not text:
        return ()
    if block.given:
        raise WireFaultError("arguments_twice", "the arguments of a call came twice")
    block.has_arguments = True
    return (ToolDelta(index, arguments=block.joiner.feed(text)),)


def _thought(block: _Block, text: str) -> Iterable[StreamEvent]:
    return (ReasoningDelta(block.joiner.feed(text)),) if text else ()


def _usage(usage: JsonObject) -> Usage:
    """Return a usage; what was read from a cache or written into one is part of the prompt, too."""
    details = object_of(usage, "output_tokens_details") or {}
    counts = [count for part in _PROMPT_COUNTS if (count := count_of(usage, part)) is not None]
    return Usage(
        sum(counts) if counts else None, count_of(usage, "output_tokens"), count_of(details, "thinking_tokens")
    )


__all__ = ["AnthropicMessagesReader"]
