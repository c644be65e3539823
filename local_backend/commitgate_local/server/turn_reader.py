"""Read a turn of a model while it is written: calls of tools with their arguments, or an answer, piece by piece.

A turn is ``{"calls": [{"name": ..., "arguments": ...}, ...]}`` or ``{"answer": ...}``, in any order of members and with
any white space. The reader knows that form alone; that arguments and answers fit is the contract's business. Each byte
is looked at once, and nothing is kept but what cannot be told yet: half a character, or arguments before their name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, TypeAlias

from commitgate.tools.one_value import BLANK
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME
from commitgate_local.server.value_reader import NotATurnError, ValueReader


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPiece:
    """Carry further characters of an answer."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """Say that a call begins.

    Attributes:
        index: which call of the turn, from 0.
        name: the tool.
    """

    index: int
    name: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentsPiece:
    """Carry further characters of a call's arguments, as they are spelled.

    Attributes:
        index: which call of the turn, from 0.
        text: the characters.
    """

    index: int
    text: str = field(repr=False)


TurnPiece: TypeAlias = AnswerPiece | CallStarted | ArgumentsPiece


class _At(Enum):
    """Name what may come next."""

    START = auto()
    KEY = auto()
    COLON = auto()
    CALLS = auto()
    CALL = auto()
    CALL_KEY = auto()
    CALL_COLON = auto()
    NAME = auto()
    ARGUMENTS = auto()
    CALL_MORE = auto()
    CALLS_MORE = auto()
    ANSWER = auto()
    END = auto()
    DONE = auto()


# One byte leads from each of these to the next.
_MARKS: Final[dict[tuple[_At, int], _At]] = {
    (_At.START, ord("{")): _At.KEY,
    (_At.CALLS, ord("[")): _At.CALL,
    (_At.CALL, ord("{")): _At.CALL_KEY,
    (_At.CALL_COLON, ord(":")): _At.NAME,
    (_At.CALL_MORE, ord(",")): _At.CALL_KEY,
    (_At.CALL_MORE, ord("}")): _At.CALLS_MORE,
    (_At.CALLS_MORE, ord(",")): _At.CALL,
    (_At.CALLS_MORE, ord("]")): _At.END,
    (_At.COLON, ord(":")): _At.ANSWER,
    (_At.END, ord("}")): _At.DONE,
}
_STRINGS: Final = frozenset({_At.KEY, _At.CALL_KEY, _At.NAME})


class TurnReader:
    """Follow one turn.

    Args:
        answers_in_words: an answer is a text, of which the characters are told; else it is JSON, told as spelled.
    """

    def __init__(self, *, answers_in_words: bool) -> None:
        self._words = answers_in_words
        self._at = _At.START
        self._key = ""
        self._string: bytearray | None = None
        self._value: ValueReader | None = None
        self._calls = 0
        self._name: str | None = None
        self._has_arguments = False
        self._held: list[str] = []

    @property
    def is_done(self) -> bool:
        """Return whether the turn is whole."""
        return self._at is _At.DONE

    def feed(self, data: bytes) -> tuple[TurnPiece, ...]:
        """Return what further bytes add.

        Raises:
            NotATurnError: they cannot be part of a turn.
        """
        found: list[TurnPiece] = []
        at = 0
        while at < len(data):
            if self._value is not None:
                at, pieces = self._read_value(self._value, data, at)
                found += pieces
            elif self._string is not None:
                at, pieces = self._read_string(self._string, data, at)
                found += pieces
            elif data[at] in BLANK:
                at += 1
            else:
                at = self._read_mark(data, at)
        return tuple(found)

    def _read_mark(self, data: bytes, at: int) -> int:
        byte = data[at]
        if self._at in _STRINGS:
            if byte != ord('"'):
                raise NotATurnError
            self._string = bytearray()
            return at + 1
        if self._at is _At.ARGUMENTS:
            if self._has_arguments:
                raise NotATurnError
            self._has_arguments = True
        if self._at in (_At.ANSWER, _At.ARGUMENTS):
            self._value = ValueReader.of(byte, in_words=self._words and self._at is _At.ANSWER)
            return at + self._value.skipped
        following = _MARKS.get((self._at, byte))
        if following is None:
            raise NotATurnError
        self._at = self._after_mark(following)
        return at + 1

    def _after_mark(self, following: _At) -> _At:
        """Return what comes behind a colon, which depends on the key before it."""
        if self._at is _At.COLON:
            return _At.CALLS if self._key == CALLS else _At.ANSWER
        if self._at is _At.CALL_COLON:
            return _At.NAME if self._key == NAME else _At.ARGUMENTS
        if self._at is _At.CALL_MORE and following is _At.CALLS_MORE:
            if self._name is None or not self._has_arguments:
                raise NotATurnError
            self._calls, self._name, self._has_arguments = self._calls + 1, None, False
        return following

    def _read_string(self, string: bytearray, data: bytes, at: int) -> tuple[int, tuple[TurnPiece, ...]]:
        """Read on in a key or a name, up to its closing quote."""
        while at < len(data):
            byte = data[at]
            at += 1
            if byte == ord('"') and not _ends_in_escape(string):
                return at, self._end_string(bytes(string))
            string.append(byte)
        return at, ()

    def _end_string(self, inside: bytes) -> tuple[TurnPiece, ...]:
        self._string = None
        try:
            text: str = json.loads(b'"' + inside + b'"')
        except ValueError:
            raise NotATurnError from None
        if self._at is _At.NAME:
            return self._begin_call(text)
        known = (CALLS, ANSWER) if self._at is _At.KEY else (NAME, ARGUMENTS)
        if text not in known:
            raise NotATurnError
        self._key = text
        self._at = _At.COLON if self._at is _At.KEY else _At.CALL_COLON
        return ()

    def _begin_call(self, name: str) -> tuple[TurnPiece, ...]:
        if self._name is not None:
            raise NotATurnError
        self._name, self._at = name, _At.CALL_MORE
        held, self._held = "".join(self._held), []
        started = CallStarted(index=self._calls, name=name)
        return (started, ArgumentsPiece(index=self._calls, text=held)) if held else (started,)

    def _read_value(self, value: ValueReader, data: bytes, at: int) -> tuple[int, Iterator[TurnPiece]]:
        at, text = value.feed(data, at)
        is_answer = self._at is _At.ANSWER
        if value.is_whole:
            self._value = None
            self._at = _At.END if is_answer else _At.CALL_MORE
        return at, self._pieces(text, is_answer=is_answer)

    def _pieces(self, text: str, *, is_answer: bool) -> Iterator[TurnPiece]:
        if not text:
            return
        if is_answer:
            yield AnswerPiece(text=text)
        elif self._name is None:
            self._held.append(text)
        else:
            yield ArgumentsPiece(index=self._calls, text=text)


def _ends_in_escape(string: bytearray) -> bool:
    """Return whether the next byte is escaped: an odd number of backslashes stands before it."""
    return (len(string) - len(string.rstrip(b"\\"))) % 2 == 1


__all__ = ["AnswerPiece", "ArgumentsPiece", "CallStarted", "TurnPiece", "TurnReader"]
