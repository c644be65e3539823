"""Judge one stream of events: was a whole value sent, and if not, how did it end?

The gate is fed with a backend's events and walks the answer's bytes through the contract's acceptor. It says which
bytes passed, for display, and in the end gives one verdict. The transitions and the theory stand in ``states``.
It has no clock: bounding how long hidden text or the end of a finished stream is waited for is the caller's part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Never, Protocol, assert_never

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
    TextDelta,
    Usage,
)
from commitgate.errors import MisuseError
from commitgate.gate.number_size import NUMBER_SIZE, continues_number
from commitgate.gate.open_string import open_string
from commitgate.gate.states import TRANSITIONS, Ruling, Signal, State
from commitgate.gate.verdict import Evidence, Verdict, rule
from commitgate.gate.white_space import WHITE_SPACE_RUN_BYTES, WhiteSpaceMeter
from commitgate.outcome import Receipt, Violated

HIDDEN_BYTES = 4_096
"""Most bytes kept after the first impossible one, in wait for a finish word that may turn it into a refusal."""

REFUSAL_CHARACTERS = 65_536
"""Longest refusal that is kept; a longer one ends the call as refused at once."""

_FINISH_SIGNALS = {
    FinishReason.STOP: Signal.STOP,
    FinishReason.LENGTH: Signal.LENGTH,
    FinishReason.CONTENT_FILTER: Signal.FILTER,
    FinishReason.REFUSAL: Signal.DECLINE,
    FinishReason.PAUSED: Signal.LENGTH,
    FinishReason.MALFORMED: Signal.MALFORMED,
    FinishReason.CANCELLED: Signal.ABORT,
    FinishReason.UNKNOWN: Signal.UNKNOWN,
}


class Acceptor(Protocol):
    """Walk bytes through the automaton of a contract."""

    @property
    def is_accepting(self) -> bool:
        """Say whether the text so far is whole."""
        ...

    @property
    def position(self) -> int:
        """Return how many bytes passed; once dead, the offset of the first impossible byte."""
        ...

    def feed(self, data: bytes) -> bool:
        """Walk on; return whether the text can still be finished."""
        ...

    def explain(self) -> str:
        """Say in words what was expected here."""
        ...


class Gate:
    """Judge one stream of events. Sans-IO; one object for one attempt.

    Args:
        acceptor: the contract's automaton, at its start.
        json_acceptor: makes an acceptor of any JSON text; it tells text that is no JSON from JSON outside the contract.
            None where the answer is a text that is no JSON: then the contract's automaton alone judges it.
        text_bytes: most bytes of an answer, >= 1.
        key_bytes: most bytes of a key that the contract does not declare, >= 1.
        tells_in_finish: a refusal or a filter may be told in the finish word alone, so hidden text is read on for it;
            else the stream ends at the first impossible byte.
        only_reports: the stream is read to its end whatever stands in it; the verdict is the same.

    Attributes:
        state: where the gate stands.
        evidence: what the stream has shown.
        verdict: what it amounts to; None until a finish, a fault or the end. Final once the state is ``ENDED``.
    """

    def __init__(
        self,
        acceptor: Acceptor,
        *,
        json_acceptor: Callable[[], Acceptor] | None,
        text_bytes: int,
        key_bytes: int,
        tells_in_finish: bool = True,
        only_reports: bool = False,
    ) -> None:
        self._acceptor = acceptor
        self._json_acceptor = json_acceptor
        self._text_bytes = text_bytes
        self._key_bytes = key_bytes
        self._reads_on = tells_in_finish or only_reports
        self._hidden_bytes = text_bytes if only_reports else HIDDEN_BYTES
        # White space between the parts of JSON means nothing; in any other text it is content like all else.
        self._meter = None if json_acceptor is None else WhiteSpaceMeter()
        self.evidence = Evidence()
        self.state = State.HELD if acceptor.is_accepting else State.RECEIVING
        self.verdict: Verdict | None = None

    @property
    def is_accepting(self) -> bool:
        """Say whether all text received is one whole value in the eyes of the automaton."""
        return self.evidence.violation is None and self._acceptor.is_accepting

    def feed(self, event: Event) -> bytes:
        """Take one event.

        Returns:
            The answer bytes of it that passed and may be shown.

        Raises:
            MisuseError: no event is legal any more; nothing was changed.
        """
        self._check_open()
        shown = b""
        match event:
            case TextDelta(data=data):
                shown, signal = self._read_text(data)
            case ReasoningDelta():
                signal = Signal.LATE if self.state is State.FINISHED else Signal.QUIET
            case RefusalDelta(text=text):
                signal = self._read_refusal(text)
            case Usage():
                self.evidence.usage, signal = event, Signal.QUIET
            case Ping():
                signal = Signal.QUIET
            case Notice():
                self.evidence.notices.add(event.code)
                signal = Signal.QUIET
            case Finish():
                signal = self._read_finish(event)
            case Fault():
                self.evidence.fault, signal = event, Signal.FAULT
            case ConnectionLost():
                self.evidence.is_line_lost, signal = True, Signal.LOST
            case DeadEndReached():
                self.evidence.dead_end = event
                signal = Signal.LATE if self.state is State.FINISHED else Signal.DEAD_END
            case _:
                raise _no_event(event)
        self._take(signal)
        if self.state is State.HIDING and not self._reads_on:
            self._take(Signal.CLOSE)
        return shown

    def close(self) -> None:
        """Take the end of the stream, or of the caller's patience with a hidden or finished one.

        Raises:
            MisuseError: it had ended already; nothing was changed.
        """
        self._check_open()
        self._take(Signal.CLOSE)

    def _check_open(self) -> None:
        if self.state is State.ENDED:
            raise MisuseError("the gate has ended: no event is legal any more")

    def _take(self, signal: Signal) -> None:
        transition = TRANSITIONS[self.state, signal]
        self.state = transition.to
        if transition.ruling is Ruling.UNFINISHED:
            self._breach("not_accepting", f"the provider said stop too early: {self._acceptor.explain()}")
        if transition.ruling is not None:
            self.verdict = rule(transition.ruling, self.evidence)

    def _read_text(self, data: bytes) -> tuple[bytes, Signal]:
        match self.state:
            case State.RECEIVING | State.HELD:
                return self._walk(data)
            case State.HIDING:
                return b"", self._hide(data)
            case State.REFUSING:
                return b"", Signal.ASIDE
            case State.FINISHED | State.ENDED:
                return b"", Signal.LATE
            case _:
                assert_never(self.state)

    def _walk(self, data: bytes) -> tuple[bytes, Signal]:
        start = len(self.evidence.passed)
        room = data[: self._text_bytes - start]
        is_live = self._acceptor.feed(room)
        passed = room if is_live else room[: self._acceptor.position - start]
        run_end = None if self._meter is None else self._meter.feed(passed)
        passed = passed[:run_end]
        self.evidence.passed += passed
        if run_end is not None:
            self._breach("whitespace", f"more than {WHITE_SPACE_RUN_BYTES} bytes of white space in a row")
        elif not is_live:
            self._breach(*self._impossible(room[len(passed) :][:1]))
        elif len(room) < len(data):
            self._breach("limit", f"an answer may have at most {self._text_bytes} bytes")
        else:
            return passed, Signal.WHOLE if self._acceptor.is_accepting else Signal.OPEN
        hidden = self._hide(data[len(passed) :])
        return passed, Signal.OVERFLOW if hidden is Signal.OVERFLOW else Signal.BREACH

    def _breach(
        self, kind: Literal["not_json", "not_accepting", "whitespace", "limit", "constraint"], explanation: str
    ) -> None:
        position = len(self.evidence.passed)
        self.evidence.violation = Violated(kind=kind, position=position, explanation=explanation, receipt=Receipt())

    def _impossible(self, byte: bytes) -> tuple[Literal["not_json", "constraint", "limit"], str]:
        """Return what the first impossible byte breaks, and in words what is allowed there."""
        if self._json_acceptor is None:
            return "constraint", self._acceptor.explain()
        passed = bytes(self.evidence.passed)
        if self._is_json(passed + byte):
            if self._is_in_long_key(passed):
                return "limit", "a key is longer than the contract allows"
            return "constraint", self._acceptor.explain()
        if continues_number(passed, byte):
            return "limit", NUMBER_SIZE
        if byte in (b"[", b"{") and self._is_json(passed + b"t"):  # any other value could begin here
            return "limit", "arrays and objects are nested deeper than the contract allows"
        if byte == b'"' and self._is_json(passed + b"\x7f"):  # that byte stands in strings alone
            return "constraint", "another key: two keys of one object are equal"
        return "not_json", self._acceptor.explain()

    def _is_in_long_key(self, passed: bytes) -> bool:
        """Return whether ``passed``, the start of a JSON text, ends inside a key of the longest size allowed."""
        start = open_string(passed)
        is_long = start is not None and len(passed) - start > self._key_bytes
        return is_long and not self._is_json(passed[:start] + b"1")  # any value may be a number, and no key

    def _is_json(self, text: bytes) -> bool:
        """Return whether ``text`` can begin a JSON text within the bounds of every contract."""
        assert self._json_acceptor is not None, "asked of JSON alone"
        return self._json_acceptor().feed(text)

    def _hide(self, data: bytes) -> Signal:
        room = self._hidden_bytes - len(self.evidence.hidden)
        self.evidence.hidden += data[:room]
        return Signal.OVERFLOW if len(data) > room else Signal.HIDDEN

    def _read_refusal(self, text: str) -> Signal:
        if self.state is State.FINISHED:
            return Signal.LATE
        room = REFUSAL_CHARACTERS - len(self.evidence.refusal)
        self.evidence.refusal += text[:room]
        is_over = len(text) > room and self.state is State.REFUSING
        return Signal.OVERFLOW if is_over else Signal.REFUSAL

    def _read_finish(self, event: Finish) -> Signal:
        if self.state is State.FINISHED:
            return Signal.LATE
        self.evidence.finish = event
        return _FINISH_SIGNALS[event.reason]


def _no_event(found: Never) -> MisuseError:
    # Only its type is told: what a backend gives in an event's place may hold the answer.
    return MisuseError(f"a backend gave a {type(found).__name__}, which is no event")


__all__ = ["HIDDEN_BYTES", "REFUSAL_CHARACTERS", "Acceptor", "Gate"]
