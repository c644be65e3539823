"""Name the laws that every backend keeps, and the error that says which one was broken, and where."""

from __future__ import annotations

from enum import StrEnum


class Law(StrEnum):
    """Say what holds of a dialect, or of a backend.

    Attributes:
        says: the law, in words.
        of: whether a dialect keeps it, a backend, or each.
    """

    says: str
    of: str

    def __new__(cls, name: str, of: str, says: str) -> Law:
        """Make a law of its name, of who keeps it, and of its words."""
        law = str.__new__(cls, name)
        law._value_ = name
        law.of = of
        law.says = says
        return law

    FACTS = "facts", "dialect", "what is known of the server is well-formed, and does not change"
    HANDSHAKE = "handshake", "dialect", "a handshake asks no model, and any answer to it can be read"
    CONSTRAINT_SENT = "constraint_sent", "dialect", "the constraint of each form that the facts list is in the request"
    CONSTRAINT_TRANSLATED = (
        "constraint_translated",
        "dialect",
        "the constraint in the request is the translation's, and nothing of the contract itself",
    )
    REQUEST_WHOLE = "request_whole", "dialect", "a request holds the conversation, and the limit on tokens"
    REQUEST_JSON = "request_json", "dialect", "a request is a POST of JSON below the base URL"
    REQUEST_SAME = "request_same", "dialect", "the same request is written alike each time, and for each attempt"
    REQUEST_KEYLESS = "request_keyless", "each", "no key stands in a request's path or body"
    TOOLS_OFFERED = (
        "tools_offered",
        "dialect",
        "tools are offered, and expected, where the facts say so, and only there",
    )
    ANSWER_READ = "answer_read", "each", "a recorded answer is read as it is to be"
    REASONING_APART = "reasoning_apart", "each", "what a model thinks is no part of its text"
    CUTS_FREE = "cuts_free", "each", "how the network cuts an answer changes nothing"
    READERS_APART = "readers_apart", "dialect", "two answers that are read at the same time do not touch each other"
    END_PROVEN = "end_proven", "each", "an answer is at its end only where the server's own word for it was read"
    MARKER_PROVES_NOTHING = "marker_proves_nothing", "dialect", "the end marker of a stream proves nothing"
    TEXT_GROWS = "text_grows", "each", "the text of a part of an answer is the beginning of the text of the whole"
    ERROR_WINS = "error_wins", "dialect", "an error within an answer wins over all else that it says"
    JUNK_IGNORED = "junk_ignored", "dialect", "what is no event changes nothing behind the end"
    ENDS_IN_TIME = "ends_in_time", "backend", "no step waits for what cannot come any more"
    NAMED = "named", "backend", "a backend has a name without a slash"
    FAILURES_ARE_EVENTS = (
        "failures_are_events",
        "backend",
        "what goes wrong with an answer is an event, and no exception",
    )
    NOTHING_FOLLOWS = "nothing_follows", "backend", "behind the end of a stream, or a failure, no event follows"
    CALL_ENDS = "call_ends", "backend", "a call ends as its answer says"
    RETRY_SAME = "retry_same", "backend", "a retry sends the same bytes under the same idempotency key"
    QUESTION_NEW = "question_new", "backend", "another question goes out under another idempotency key"
    LEAVING_CLOSES = "leaving_closes", "backend", "the server sees within a second that its answer was left"
    PLACES_RETURN = "places_return", "backend", "a stream that was left, or cancelled, leaves its place to the next one"
    CANCELLATION_PASSES = "cancellation_passes", "backend", "a cancellation ends the wait, and goes through"
    CLOSES_TWICE = "closes_twice", "backend", "a backend may be closed more than once"


def laws() -> tuple[Law, ...]:
    """Return all laws, in the order in which the docs list them."""
    return tuple(Law)


class ConformanceError(AssertionError):
    """Raised when a dialect or backend breaks a law. Its text names what broke it, and holds no payload.

    Attributes:
        law: the law.
        recording: the name of the recorded answer; empty where there is none.
        place: where in it, or in which form of request: a cut, the seed of a chunking, an offset.
    """

    def __init__(self, law: Law, found: str, *, recording: str = "", place: str = "") -> None:
        where = ", ".join(part for part in (recording, place) if part)
        super().__init__(f"{law.value}: {law.says}; but {found}{f' ({where})' if where else ''}")
        self.law = law
        self.recording = recording
        self.place = place


__all__ = ["ConformanceError", "Law", "laws"]
