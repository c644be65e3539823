"""Join the calls of tools that a server sends in a form of its own into the text of one turn.

A server sends pieces: an index, an id, parts of a name, parts of the arguments; several calls may be mixed. The gate
judges one text. So the pieces are written into the language of turns, with every byte of the arguments as it came.

What keeps arguments from writing more than arguments: a call's closing bracket is written only after exactly one JSON
value was read, and a byte behind that value is a fault. So no arguments can end their object and begin another call.
Pieces of a later call are held until the one before it is whole. A turn is closed only where the server says stop.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from commitgate.backends.base import (
    Event,
    Fault,
    Finish,
    FinishReason,
    ProseDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
)
from commitgate.backends.words import TOOL_FINISH_WORDS
from commitgate.tools.offer import ToolOffer
from commitgate.tools.one_value import BLANK, ValueEnd, is_blank, is_one_value
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME

MAX_JOINED_NAME_CHARACTERS = 256
"""Longest name of a tool that is put together from pieces; no tool has one so long."""

MOST_HELD_BYTES = 1_048_576
"""Most bytes that are held until they can be written: of calls out of order, and of words before the end."""

_MESSAGES = {
    "id_changed_on_index": "a call changed its id: two calls were sent as one",
    "id_repeated": "two calls have one id: one call was sent twice",
    "name_changed": "a call changed its name after its arguments had begun",
    "name_too_long": f"a call has a name of more than {MAX_JOINED_NAME_CHARACTERS} characters",
    "arguments_not_one_value": "the arguments of a call are more or other than one JSON value",
    "held_over_limit": "more of calls or words came out of order than an answer may hold",
    "prose_not_utf8": "the words of an answer are not UTF-8",
    "calls_missing": "the server says that it calls tools, and sent no call",
    "text_beside_calls": "the server sent one answer in two forms",
    "call_not_offered": "the server sent a call of a tool, and none was offered",
}


@dataclass(slots=True)
class _Call:
    id: str | None
    name: str = ""
    pending: bytearray = field(default_factory=bytearray)
    end: ValueEnd = field(default_factory=ValueEnd)
    is_open: bool = False
    """Its head was written."""
    is_closed: bool = False
    """Its last bracket was written."""
    has_arguments: bool = False


class _JoiningFaultError(Exception):
    """Raised inside this module; carries the code of a fault."""


class TurnJoining:
    """Turn the events of one stream into those that the gate takes. Sans-IO; one object for one attempt.

    Args:
        offer: what the turn may call; None where it may call nothing: then a call is a fault.
        most_bytes: most bytes that are held, >= 1; never more than ``MOST_HELD_BYTES``.
    """

    def __init__(self, offer: ToolOffer | None, *, most_bytes: int) -> None:
        self._offer = offer
        self._most_bytes = min(most_bytes, MOST_HELD_BYTES)
        self._calls: dict[int, _Call] = {}
        self._order: list[_Call] = []
        self._writing = 0
        self._held_bytes = 0
        self._prose = bytearray()
        self._has_text = False
        self._is_finished = False

    def feed(self, event: StreamEvent) -> tuple[Event, ...]:
        """Take one event and return what the gate is to take for it."""
        try:
            return self._joined(event)
        except _JoiningFaultError as error:
            code = str(error)
            return (Fault("protocol", _MESSAGES[code], code=code),)

    def _joined(self, event: StreamEvent) -> tuple[Event, ...]:
        match event:
            case ToolDelta() | ProseDelta() if self._is_finished:
                return (TextDelta(b" "),)  # text after the end is for the gate to judge
            case ToolDelta():
                return _text(self._read_call(event))
            case ProseDelta():
                return self._read_prose(event)
            case Finish():
                return self._finish(event)
            case TextDelta():
                if self._order or self._prose:
                    raise _JoiningFaultError("text_beside_calls")
                self._has_text = True
                return (event,)
            case _:
                return (event,)

    def _read_prose(self, event: ProseDelta) -> tuple[Event, ...]:
        if self._offer is None:
            return (TextDelta(event.data),)
        if self._has_text:
            raise _JoiningFaultError("text_beside_calls")
        if not self._order:  # words beside a call are nobody's answer
            self._hold(len(event.data))
            self._prose += event.data
        return ()

    def _read_call(self, delta: ToolDelta) -> bytes:
        if self._offer is None:
            raise _JoiningFaultError("call_not_offered")
        if self._has_text:
            raise _JoiningFaultError("text_beside_calls")
        call = self._calls.get(delta.index) or self._begin(delta)
        if call is None:
            return b""
        if delta.id:
            if call.id and call.id != delta.id:
                raise _JoiningFaultError("id_changed_on_index")
            call.id = delta.id
            # Two with one id may be one call that came twice, and would then happen twice.
            if any(other.id == call.id and other is not call for other in self._order):
                raise _JoiningFaultError("id_repeated")
        if delta.name:
            _read_name(call, delta.name)
        if delta.arguments:
            self._read_arguments(call, delta.arguments)
        return self._written()

    def _begin(self, delta: ToolDelta) -> _Call | None:
        """Begin a call; None where the turn has one too many already, which is outside its contract."""
        assert self._offer is not None, "calls are read only where tools are offered"
        if len(self._order) > self._offer.most_calls:
            return None
        self._held_bytes -= len(self._prose)
        self._prose.clear()
        call = _Call(delta.id or None)
        self._calls[delta.index] = call
        self._order.append(call)
        return call

    def _read_arguments(self, call: _Call, data: bytes) -> None:
        if call.is_closed:
            if not is_blank(data):
                raise _JoiningFaultError("arguments_not_one_value")
            return
        if not call.has_arguments:
            data = data.lstrip(BLANK)  # so that the first byte that is held says what sort of value it is
        call.has_arguments = call.has_arguments or bool(data)
        self._hold(len(data))
        call.pending += data

    def _hold(self, size_bytes: int) -> None:
        self._held_bytes += size_bytes
        if self._held_bytes > self._most_bytes:
            raise _JoiningFaultError("held_over_limit")

    def _written(self, *, is_last: bool = False) -> bytes:
        """Return what can be written of the turn now.

        Args:
            is_last: nothing more will come.
        """
        written = bytearray()
        while self._writing < len(self._order):
            call = self._order[self._writing]
            written += self._written_of(call, is_last=is_last)
            has_next = is_last or self._writing + 1 < len(self._order)
            if not call.is_open or not call.end.is_whole or not has_next:
                return bytes(written)
            written += b"}"
            call.is_closed = True
            self._writing += 1
        if is_last and self._order:
            written += b"]}"
        return bytes(written)

    def _written_of(self, call: _Call, *, is_last: bool) -> bytes:
        if is_last and not call.has_arguments:
            call.has_arguments = True
            self._hold(2)
            call.pending += b"{}"
        if not call.pending:
            return b""
        if not call.is_open and not call.pending.startswith(b"{"):
            if not is_last:  # where a text, a number or a word ends, only the end tells
                return b""
            if not is_one_value(bytes(call.pending)):
                raise _JoiningFaultError("arguments_not_one_value")
            call.end.is_whole = True
        elif not is_blank(call.pending[call.end.feed(call.pending) :]):
            raise _JoiningFaultError("arguments_not_one_value")
        data = bytes(call.pending)
        self._held_bytes -= len(data)
        call.pending.clear()
        head = b"" if call.is_open else self._head(call)
        call.is_open = True
        return head + data

    def _head(self, call: _Call) -> bytes:
        opening = f'{{"{CALLS}":[' if self._writing == 0 else ","
        return f'{opening}{{"{NAME}":{json.dumps(call.name)},"{ARGUMENTS}":'.encode()

    def _finish(self, finish: Finish) -> tuple[Event, ...]:
        self._is_finished = True
        if finish.reason is not FinishReason.STOP or self._has_text:
            return (finish,)
        if self._order:
            return (*_text(self._written(is_last=True)), finish)
        if finish.native in TOOL_FINISH_WORDS:
            raise _JoiningFaultError("calls_missing")
        return (*_text(self._answer()), finish)

    def _answer(self) -> bytes:
        prose = bytes(self._prose)
        if is_blank(prose):
            return b""
        if self._offer is not None and self._offer.answer == "json" and is_one_value(prose):
            return b'{"%s":%s}' % (ANSWER.encode(), prose)
        try:
            words = prose.decode()
        except UnicodeDecodeError:
            raise _JoiningFaultError("prose_not_utf8") from None
        return json.dumps({ANSWER: words}, ensure_ascii=False).encode()


def _read_name(call: _Call, name: str) -> None:
    if name == call.name:  # some servers repeat it with every piece
        return
    if call.has_arguments:
        raise _JoiningFaultError("name_changed")
    call.name += name
    if len(call.name) > MAX_JOINED_NAME_CHARACTERS:
        raise _JoiningFaultError("name_too_long")


def _text(data: bytes) -> tuple[Event, ...]:
    return (TextDelta(data),) if data else ()


__all__ = ["MAX_JOINED_NAME_CHARACTERS", "MOST_HELD_BYTES", "TurnJoining"]
