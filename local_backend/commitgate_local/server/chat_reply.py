"""Write answers in the form of OpenAI's chat completions: one object, or a stream of server-sent events.

The wire is ASCII: every other character is escaped, so no client can cut one in two, nor take one for a line's end. A
stream that fails after it began ends with an error object and without ``[DONE]``, so that it never looks whole.

Source: OpenAI's reference as the types of openai-python 3.57 have it; the HTML standard, "Server-sent events".
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Final, assert_never

from commitgate.backends.base import BackendIdentity, StreamEvent, Usage
from commitgate.json_value import JsonObject, JsonValue
from commitgate_local.server.answer_reading import AnswerReading, Piece, ReasoningPiece, RefusalPiece
from commitgate_local.server.chat_contract import PreparedChat, ReplyForm
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.turn_reader import AnswerPiece, ArgumentsPiece, CallStarted

DONE: Final = b"data: [DONE]\n\n"
"""The frame that ends a whole stream."""

KEEP_ALIVE: Final = b": keep-alive\n\n"
"""A comment, which clients skip: a sign of life while nothing is written."""

_FINGERPRINT_DIGITS: Final = 16
_CALL_DIGITS: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyHead:
    """Hold what every object of one answer carries.

    Attributes:
        id: the answer's own name, as ``chatcmpl-...``; those of its calls are made from it.
        created: when it began, in seconds since 1970.
        model: the model's name as clients know it.
        system_fingerprint: tells two versions of model and vocabulary apart; None where they are not known.
    """

    id: str
    created: int
    model: str
    system_fingerprint: str | None = None

    def call_id(self, index: int) -> str:
        """Return the name of a call of the answer, the same whenever it is asked for."""
        digest = hashlib.sha256(f"{self.id}/{index}".encode()).hexdigest()
        return f"call_{digest[:_CALL_DIGITS]}"


def system_fingerprint(identity: BackendIdentity) -> str | None:
    """Return what tells two versions of model and vocabulary apart; None where neither is known."""
    parts = (identity.model_revision, identity.tokenizer_fingerprint)
    if parts == (None, None):
        return None
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return f"fp_{digest[:_FINGERPRINT_DIGITS]}"


@dataclass(slots=True)
class _Call:
    name: str
    arguments: list[str] = field(default_factory=list[str])


class WholeReply:
    """Collect one answer, and write it as one object.

    Args:
        prepared: what the backend was asked.
        head: what the object carries.
    """

    def __init__(self, prepared: PreparedChat, head: ReplyHead) -> None:
        self._reading = AnswerReading(prepared)
        self._head = head
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []

    def feed(self, event: StreamEvent) -> None:
        """Take one event.

        Raises:
            RequestRefused: the answer failed; leave its events, and send this instead.
        """
        for piece in self._reading.feed(event):
            match piece:
                case AnswerPiece():
                    self._content.append(piece.text)
                case RefusalPiece():
                    self._refusal.append(piece.text)
                case ReasoningPiece():
                    self._reasoning.append(piece.text)
                case CallStarted():
                    self._calls.append(_Call(piece.name))
                case ArgumentsPiece():
                    self._calls[piece.index].arguments.append(piece.text)
                case _:
                    assert_never(piece)

    def completion(self) -> bytes:
        """Return the object as JSON, once the events are over.

        Raises:
            RequestRefused: the answer is not whole, and no limit says why.
        """
        finish = self._reading.end()
        choice: JsonObject = {"index": 0, "message": self._message(), "logprobs": None, "finish_reason": finish}
        return _json(
            {
                **_head("chat.completion", self._head),
                "choices": [choice],
                "usage": _usage(self._reading.usage),
            }
        )

    def _message(self) -> JsonObject:
        says_nothing = bool(self._calls or self._refusal) and not self._content
        message: JsonObject = {
            "role": "assistant",
            "content": None if says_nothing else "".join(self._content),
            "refusal": "".join(self._refusal) or None,
        }
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = [
                {
                    "id": self._head.call_id(index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": "".join(call.arguments)},
                }
                for index, call in enumerate(self._calls)
            ]
        return message


class ReplyStream:
    """Write one answer as frames of a stream, while its events come.

    Until the first frame, a failure is raised, so that it can still be answered with a status of its own: begin the
    response with the first frame that is not empty. From then on a failure is a frame, the last one.

    Args:
        prepared: what the backend was asked.
        head: what every frame carries.
        include_usage: the last frame tells the tokens.

    Attributes:
        has_begun: a frame was written.
        is_over: the last frame was written; nothing may be fed.
        is_whole: the answer came to its end, and every frame of it was written.
    """

    def __init__(self, prepared: PreparedChat, head: ReplyHead, *, include_usage: bool = False) -> None:
        self._reading = AnswerReading(prepared)
        self._head = head
        self._include_usage = include_usage
        self._is_turn = prepared.form is not ReplyForm.TEXT
        self.has_begun = False
        self.is_over = False
        self.is_whole = False

    def feed(self, event: StreamEvent) -> bytes:
        """Return the frames that one event adds; often none.

        Raises:
            RequestRefused: the answer failed before its first frame.
        """
        try:
            pieces = self._reading.feed(event)
        except RequestRefused as refused:
            return self.fail(refused)
        if not pieces:
            return b""
        return self._opening() + b"".join(self._chunk(self._delta(piece)) for piece in pieces)

    def end(self) -> bytes:
        """Return the last frames, once the events are over.

        Raises:
            RequestRefused: the answer is not whole, and no frame was written.
        """
        try:
            finish = self._reading.end()
        except RequestRefused as refused:
            return self.fail(refused)
        frames = self._opening() + self._chunk({}, finish)
        if self._include_usage:
            usage = _usage(self._reading.usage)
            frames += _frame({**_head("chat.completion.chunk", self._head), "choices": [], "usage": usage})
        self.is_over = self.is_whole = True
        return frames + DONE

    def fail(self, refused: RequestRefused) -> bytes:
        """Return the frame that ends the stream with an error, such as one for a limit on its time.

        Raises:
            RequestRefused: no frame was written, so the error can be answered as such.
        """
        self.is_over = True
        if not self.has_begun:
            raise refused
        return error_frame(refused)

    def _opening(self) -> bytes:
        """Return the frame that says who speaks, before the first other one."""
        if self.has_begun:
            return b""
        self.has_begun = True
        return self._chunk({"role": "assistant", "content": None if self._is_turn else ""})

    def _delta(self, piece: Piece) -> JsonObject:
        match piece:
            case AnswerPiece():
                return {"content": piece.text}
            case RefusalPiece():
                return {"refusal": piece.text}
            case ReasoningPiece():
                return {"reasoning_content": piece.text}
            case CallStarted():
                call: JsonObject = {"index": piece.index, "id": self._head.call_id(piece.index), "type": "function"}
                return {"tool_calls": [{**call, "function": {"name": piece.name, "arguments": ""}}]}
            case ArgumentsPiece():
                return {"tool_calls": [{"index": piece.index, "function": {"arguments": piece.text}}]}
            case _:
                assert_never(piece)

    def _chunk(self, delta: JsonObject, finish: str | None = None) -> bytes:
        choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk: JsonObject = {**_head("chat.completion.chunk", self._head), "choices": [choice]}
        if self._include_usage:
            chunk["usage"] = None
        return _frame(chunk)


def _head(kind: str, head: ReplyHead) -> JsonObject:
    return {
        "id": head.id,
        "object": kind,
        "created": head.created,
        "model": head.model,
        "system_fingerprint": head.system_fingerprint,
    }


def _usage(usage: Usage) -> JsonObject | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    counts: JsonObject = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
    if usage.reasoning_tokens is not None:
        counts["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return counts


def error_frame(refused: RequestRefused) -> bytes:
    """Return the frame that ends a stream with an error."""
    return _frame(refused.error_object())


def _frame(value: JsonObject) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _json(value: JsonValue) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


__all__ = ["DONE", "KEEP_ALIVE", "ReplyHead", "ReplyStream", "WholeReply", "error_frame", "system_fingerprint"]
