"""Follow the events of one answer, and say what each adds to the message: characters, calls of tools, or an end.

What is sent and what is collected are made of the same pieces, so a stream joined together is the answer that is sent
whole. However the events are cut, the pieces joined are the same.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never

from commitgate.backends.base import (
    ConnectionLost,
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    Notice,
    Ping,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from commitgate.tools.joining import MOST_HELD_BYTES, TurnJoining
from commitgate_local.server.chat_contract import PreparedChat, ReplyForm
from commitgate_local.server.refusal import SERVER_ERROR, RequestRefused, ended_early, of_dead_end, of_fault
from commitgate_local.server.turn_reader import AnswerPiece, TurnPiece, TurnReader
from commitgate_local.server.value_reader import NotATurnError

if TYPE_CHECKING:
    from collections.abc import Iterator

FinishWord: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]

_WORDS: Final[dict[FinishReason, FinishWord]] = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.PAUSED: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.REFUSAL: "stop",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalPiece:
    """Carry further characters by which the model declines."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPiece:
    """Carry further characters of what the model thinks before it answers."""

    text: str = field(repr=False)


Piece: TypeAlias = TurnPiece | RefusalPiece | ReasoningPiece


class AnswerReading:
    """Follow one answer.

    Args:
        prepared: what the backend was asked.

    Attributes:
        usage: tokens, as far as they are known; the last that was told counts.
    """

    def __init__(self, prepared: PreparedChat) -> None:
        self._joining = TurnJoining(prepared.generation.tools, most_bytes=MOST_HELD_BYTES)
        # A model that nothing holds to a form may write any bytes; that is no fault of the client's.
        self._is_held = prepared.generation.is_constrained
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict" if self._is_held else "replace")
        # Nobody keeps thoughts to UTF-8, and they may end inside a character.
        self._thoughts = codecs.getincrementaldecoder("utf-8")("replace")
        self._turn: TurnReader | None = None
        if prepared.form is not ReplyForm.TEXT:
            self._turn = TurnReader(answers_in_words=prepared.form is ReplyForm.WORDS_OR_CALLS)
        self._finish: Finish | None = None
        self._calls = False
        self.usage = Usage()

    def feed(self, event: StreamEvent) -> tuple[Piece, ...]:
        """Return what one event adds.

        Raises:
            RequestRefused: the answer failed; nothing may follow.
        """
        return tuple(piece for each in self._joining.feed(event) for piece in self._read(each))

    def end(self) -> FinishWord:
        """Return how the answer ended, once its events are over.

        Raises:
            RequestRefused: there is no proof of its end, or it is no whole answer though it should be.
        """
        if self._finish is None:
            raise ended_early()
        word = _WORDS.get(self._finish.reason)
        if word is None:
            raise RequestRefused(
                500, "unknown_finish", f"the answer ended as {self._finish.reason.value}", type=SERVER_ERROR
            )
        if self._finish.reason is FinishReason.STOP and not self._is_whole():
            raise ended_early()
        return "tool_calls" if word == "stop" and self._calls else word

    def _is_whole(self) -> bool:
        if self._turn is not None:
            return self._turn.is_done
        return not (self._is_held and self._decoder.getstate()[0])

    def _read(self, event: Event) -> Iterator[Piece]:
        match event:
            case TextDelta():
                if self._finish is not None:
                    raise _broken("text came after the end of the answer")
                yield from self._read_thoughts(b"", is_last=True)
                yield from self._read_text(event.data)
            case ReasoningDelta():
                yield from self._read_thoughts(event.data)
            case RefusalDelta():
                yield RefusalPiece(text=event.text)
            case Usage():
                self.usage = event
            case Finish():
                self._finish = event
            case Fault():
                raise of_fault(event)
            case DeadEndReached():
                raise of_dead_end(event)
            case Ping() | Notice() | ConnectionLost():  # a line that broke is told by the end, which lacks its proof
                return
            case _:
                assert_never(event)

    def _read_thoughts(self, data: bytes, *, is_last: bool = False) -> Iterator[Piece]:
        text = self._thoughts.decode(data, is_last)
        if text:
            yield ReasoningPiece(text=text)

    def _read_text(self, data: bytes) -> Iterator[Piece]:
        if self._turn is not None:
            try:
                pieces = self._turn.feed(data)
            except NotATurnError:
                raise _broken("the model's turn is neither calls of tools nor an answer") from None
            self._calls = self._calls or any(not isinstance(piece, AnswerPiece) for piece in pieces)
            yield from pieces
            return
        try:
            text = self._decoder.decode(data)
        except UnicodeDecodeError:
            raise _broken("the answer is not UTF-8") from None
        if text:
            yield AnswerPiece(text=text)


def _broken(message: str) -> RequestRefused:
    return RequestRefused(500, "protocol_error", message, type=SERVER_ERROR)


__all__ = ["AnswerReading", "FinishWord", "Piece", "ReasoningPiece", "RefusalPiece"]
