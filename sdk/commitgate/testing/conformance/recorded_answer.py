"""Hold one recorded answer of a server, with how it is to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from commitgate.argument import check_choice, check_int, check_kind, check_text, check_words, wrong_kind
from commitgate.backends.wire.json_body import JsonBodyDecoder
from commitgate.backends.wire.ndjson import NdjsonDecoder
from commitgate.backends.wire.sse import SseDecoder
from commitgate.backends.wire.wire_event import Decoder, Framing, RawEvent
from commitgate.errors import MisuseError
from commitgate.testing.wire_reading import WIRE_OUTCOMES, WireOutcome

ENDED: frozenset[str] = frozenset(
    {"complete", "tool_call", "truncated", "refused", "filtered", "paused", "aborted", "malformed"}
)
"""Readings that nothing but the server's own word brings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """Hold one answer as a server gave it.

    Attributes:
        name: what it is called in errors.
        body: its bytes, as they came.
        outcome: what the wire says of it, one of ``WireOutcome``.
        text: the answer's text as far as it came; None where it is not compared.
        finish_native: the server's own finish word; None where there is none.
        reasoning: what the model thought; None where it is not compared.
        status: HTTP status.
        headers: header fields; without a content type the body is read as the server usually sends it.
        end: whether the body ended or the line broke.
        offers_tools: tools were offered in the server's own form, so it may hold calls.
        contract: what the text is an answer to, anything that ``Contract.of`` takes; None where nobody knows. A call
            for it must end as the outcome says.

    Raises:
        MisuseError: one of them is of another kind, or no such word.
    """

    name: str
    body: bytes = field(repr=False)
    outcome: WireOutcome
    text: str | None = field(default=None, repr=False)
    finish_native: str | None = None
    reasoning: str | None = field(default=None, repr=False)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    end: Literal["clean", "reset"] = "clean"
    offers_tools: bool = False
    contract: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_words("name", self.name)
        check_kind("body", self.body, bytes, "bytes")
        check_choice("outcome", self.outcome, WIRE_OUTCOMES)
        check_choice("end", self.end, ("clean", "reset"))
        check_int("status", self.status)
        check_kind("offers_tools", self.offers_tools, bool, "a bool")
        check_kind("headers", self.headers, Mapping, "a mapping of names to values")
        for name, text in (("text", self.text), ("reasoning", self.reasoning), ("finish_native", self.finish_native)):
            if text is not None:
                check_text(name, text)

    @property
    def is_answer(self) -> bool:
        """Say that a model answered, as far as the status tells."""
        return 200 <= self.status < 300

    def framing(self, usual: Framing) -> Framing | None:
        """Return how its body is cut into events; None where it holds none.

        Args:
            usual: what holds without a content type.
        """
        types = [value for name, value in self.headers.items() if name.lower() == "content-type"]
        if not self.is_answer:
            return None
        kind = types[0].lower() if types else ""
        if not kind:
            return usual
        if "event-stream" in kind:
            return "sse"
        if any(word in kind for word in ("ndjson", "jsonl", "stream+json")):
            return "ndjson"
        return "json" if "json" in kind else None

    def pieces(self, usual: Framing) -> tuple[EventPiece, ...]:
        """Return its events with their places; of a body that holds none nothing."""
        framing = self.framing(usual)
        if framing is None:
            return ()
        decoder: Decoder = {"sse": SseDecoder, "ndjson": NdjsonDecoder, "json": JsonBodyDecoder}[framing]()
        found: list[EventPiece] = []
        start = 0
        for at in range(len(self.body)):
            events = decoder.feed(self.body[at : at + 1])
            if events:
                found.append(EventPiece(start, at + 1, events[-1]))
                start = at + 1
        return tuple(found)

    def boundaries(self, usual: Framing) -> tuple[int, ...]:
        """Return the offsets behind its events, and 0."""
        return (0, *(piece.stop for piece in self.pieces(usual)))


class EventPiece(NamedTuple):
    """Hold one event, and where in the body it stands."""

    start: int
    stop: int
    event: RawEvent


def checked(recordings: Sequence[RecordedAnswer]) -> tuple[RecordedAnswer, ...]:
    """Return recorded answers, once it is sure that they prove something.

    Raises:
        MisuseError: they are none, two have one name, or none of them is complete.
    """
    check_kind("recordings", recordings, Sequence, "a sequence of RecordedAnswer")
    for each in recordings:
        if not isinstance(each, RecordedAnswer):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise wrong_kind("recordings", "a sequence of RecordedAnswer", each)
    names = [each.name for each in recordings]
    if len(set(names)) < len(names):
        raise MisuseError("recordings hold one name twice; give each its own")
    if not any(each.outcome == "complete" and each.end == "clean" for each in recordings):
        raise MisuseError(
            "recordings must hold an answer that is complete and ended cleanly; without it little is proven"
        )
    return tuple(recordings)


__all__ = ["ENDED", "EventPiece", "RecordedAnswer", "checked"]
