"""Define the gate's states and every legal transition between them, in one table.

Theory. A text is *proven whole* by two independent witnesses: the provider's finish and the automaton's accept state.
Each alone lies in practice: valid JSON arrives cut by a limit, a filter or a dropped line, and providers say "stop" in
the middle of an object. So a stream that merely ends is disconnected at every byte, also after the last one, and a
finish with the word "length" is truncated whatever the text looks like.

Where several endings are true, the order of precedence is Unavailable, Refused/Filtered, Violated/Invalid, Truncated,
Disconnected. Some providers tell a refusal or a filter only in their finish word, after prose that no JSON acceptor
takes. So after the first impossible byte the text is hidden and the stream is read on to the finish, for a bounded
number of bytes.

An event without a transition is an error of the caller and changes nothing.
Source: design, "Endings".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """Name the states of the gate."""

    RECEIVING = auto()
    """The text so far is the beginning of a value."""
    HELD = auto()
    """The text so far is a whole value; it is held until the provider says that this is all."""
    HIDING = auto()
    """A byte was impossible: text is hidden, and read for the finish word alone."""
    REFUSING = auto()
    """The model declines in words."""
    FINISHED = auto()
    """The provider's finish was read; counts may follow, nothing else."""
    ENDED = auto()
    """No event is legal any more."""


class Signal(Enum):
    """Name what an event means to the gate."""

    OPEN = auto()
    """Text passed, and the value is open after it."""
    WHOLE = auto()
    """Text passed, and the value is whole after it."""
    BREACH = auto()
    """Text with an impossible byte, or past a limit."""
    HIDDEN = auto()
    """Text after a breach."""
    ASIDE = auto()
    """Text beside a refusal."""
    OVERFLOW = auto()
    """More hidden or refusing text than is kept."""
    REFUSAL = auto()
    """Text of a refusal."""
    QUIET = auto()
    """Nothing of the answer: a thought before it, counts of tokens, a sign of life, a notice."""
    STOP = auto()
    """Finish: the model came to its end."""
    LENGTH = auto()
    """Finish: a token or context limit, or a pause in the middle."""
    FILTER = auto()
    """Finish: a safety filter."""
    DECLINE = auto()
    """Finish: the model refused."""
    MALFORMED = auto()
    """Finish: the provider says itself that its answer is malformed."""
    ABORT = auto()
    """Finish: the provider gave up without our asking."""
    UNKNOWN = auto()
    """Finish: a word that nobody knows."""
    LATE = auto()
    """Anything but counts after the finish."""
    FAULT = auto()
    """The provider failed."""
    DEAD_END = auto()
    """No token was legal."""
    LOST = auto()
    """The line broke."""
    CLOSE = auto()
    """The stream ended."""


class Ruling(Enum):
    """Name the verdict that a transition brings."""

    WHOLE = auto()
    OUTSIDE = auto()
    UNFINISHED = auto()
    VIOLATED = auto()
    REFUSED = auto()
    FILTERED = auto()
    TRUNCATED = auto()
    DISCONNECTED = auto()
    MALFORMED = auto()
    UNAVAILABLE = auto()
    UNKNOWN_FINISH = auto()
    LATE_EVENT = auto()
    DEAD_END = auto()


@dataclass(frozen=True, slots=True)
class Transition:
    """Say where a signal leads, and what it settles; ``ruling`` None leaves the verdict as it is."""

    to: State
    ruling: Ruling | None = None


def _prefix(on_stop: Ruling) -> dict[Signal, Transition]:
    """Return the transitions of text that is still a prefix of a value; only the meaning of STOP differs."""
    return {
        Signal.OPEN: Transition(State.RECEIVING),
        Signal.WHOLE: Transition(State.HELD),
        Signal.BREACH: Transition(State.HIDING),
        Signal.OVERFLOW: Transition(State.ENDED, Ruling.VIOLATED),
        Signal.REFUSAL: Transition(State.REFUSING),
        Signal.STOP: Transition(State.FINISHED, on_stop),
        Signal.LENGTH: Transition(State.FINISHED, Ruling.TRUNCATED),
        Signal.FILTER: Transition(State.FINISHED, Ruling.FILTERED),
        Signal.DECLINE: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.MALFORMED: Transition(State.FINISHED, Ruling.MALFORMED),
        Signal.ABORT: Transition(State.FINISHED, Ruling.DISCONNECTED),
        Signal.UNKNOWN: Transition(State.FINISHED, Ruling.UNKNOWN_FINISH),
        Signal.FAULT: Transition(State.ENDED, Ruling.UNAVAILABLE),
        Signal.DEAD_END: Transition(State.ENDED, Ruling.DEAD_END),
        Signal.LOST: Transition(State.ENDED, Ruling.DISCONNECTED),
        Signal.CLOSE: Transition(State.ENDED, Ruling.DISCONNECTED),
    }


_TABLE: dict[State, dict[Signal, Transition]] = {
    State.RECEIVING: {Signal.QUIET: Transition(State.RECEIVING), **_prefix(Ruling.UNFINISHED)},
    State.HELD: {Signal.QUIET: Transition(State.HELD), **_prefix(Ruling.WHOLE)},
    State.HIDING: {
        Signal.HIDDEN: Transition(State.HIDING),
        Signal.OVERFLOW: Transition(State.ENDED, Ruling.VIOLATED),
        Signal.REFUSAL: Transition(State.REFUSING),
        Signal.QUIET: Transition(State.HIDING),
        Signal.STOP: Transition(State.FINISHED, Ruling.OUTSIDE),
        Signal.LENGTH: Transition(State.FINISHED, Ruling.VIOLATED),
        Signal.FILTER: Transition(State.FINISHED, Ruling.FILTERED),
        Signal.DECLINE: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.MALFORMED: Transition(State.FINISHED, Ruling.VIOLATED),
        Signal.ABORT: Transition(State.FINISHED, Ruling.VIOLATED),
        Signal.UNKNOWN: Transition(State.FINISHED, Ruling.UNKNOWN_FINISH),
        Signal.FAULT: Transition(State.ENDED, Ruling.UNAVAILABLE),
        Signal.DEAD_END: Transition(State.ENDED, Ruling.VIOLATED),
        Signal.LOST: Transition(State.ENDED, Ruling.VIOLATED),
        Signal.CLOSE: Transition(State.ENDED, Ruling.VIOLATED),
    },
    State.REFUSING: {
        Signal.ASIDE: Transition(State.REFUSING),
        Signal.REFUSAL: Transition(State.REFUSING),
        Signal.OVERFLOW: Transition(State.ENDED, Ruling.REFUSED),
        Signal.QUIET: Transition(State.REFUSING),
        Signal.STOP: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.LENGTH: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.FILTER: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.DECLINE: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.MALFORMED: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.ABORT: Transition(State.FINISHED, Ruling.REFUSED),
        Signal.UNKNOWN: Transition(State.FINISHED, Ruling.UNKNOWN_FINISH),
        Signal.FAULT: Transition(State.ENDED, Ruling.UNAVAILABLE),
        Signal.DEAD_END: Transition(State.ENDED, Ruling.REFUSED),
        Signal.LOST: Transition(State.ENDED, Ruling.REFUSED),
        Signal.CLOSE: Transition(State.ENDED, Ruling.REFUSED),
    },
    State.FINISHED: {
        Signal.QUIET: Transition(State.FINISHED),
        Signal.LATE: Transition(State.ENDED, Ruling.LATE_EVENT),
        # A provider that reports a failure of its own behind its finish takes the finish back.
        Signal.FAULT: Transition(State.ENDED, Ruling.UNAVAILABLE),
        # The proof of the end was read: how the line goes down after it changes nothing.
        Signal.LOST: Transition(State.ENDED),
        Signal.CLOSE: Transition(State.ENDED),
    },
    State.ENDED: {},
}

TRANSITIONS = {(state, signal): to for state, row in _TABLE.items() for signal, to in row.items()}
"""Every legal transition."""

__all__ = ["TRANSITIONS", "Ruling", "Signal", "State", "Transition"]
