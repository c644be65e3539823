"""Hold a dialect's reading to its laws: recorded answers whole, in pieces, cut, spoilt, and two at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal

from commitgate.backends.dialect import Dialect, Expected
from commitgate.testing.conformance.law import ConformanceError, Law
from commitgate.testing.conformance.recorded_answer import ENDED, RecordedAnswer
from commitgate.testing.recording import Recording
from commitgate.testing.replay import Replay
from commitgate.testing.wire_reading import WireReading

CHUNKINGS = 5
"""Random chunkings of each answer, one a seed."""

_MOST_CUTS = 64
_CUT_CHARACTER = "\ufffd"
_ERROR = b'{"error":{"message":"the server broke","type":"server_error","code":500}}'
_MARKER = b"data: [DONE]\n\n"
_JUNK = (b"data: {oops\n\n", b"\xff\xfe\x00\n\n", b"<html>down</html>\n")
_ENDINGS: tuple[Literal["clean", "reset"], ...] = ("clean", "reset")


def check_reading(dialect: Dialect, recordings: tuple[RecordedAnswer, ...]) -> Iterator[Law]:
    """Yield each law that was tried and kept.

    Raises:
        ConformanceError: one is broken.
    """
    markers = _markers(dialect, recordings)
    for recording in recordings:
        trial = ReadingTrial(dialect, recording)
        yield from trial.whole()
        yield from trial.chunked()
        yield from trial.cut()
        yield from trial.marked(markers)
        yield from trial.with_error()
        yield from trial.with_junk()
    for first, second in pairwise(recordings):
        yield from check_pair(dialect, first, second)


@dataclass(frozen=True, slots=True)
class ReadingTrial:
    """Try one recorded answer."""

    dialect: Dialect
    recording: RecordedAnswer

    def whole(self) -> Iterator[Law]:
        """Read it in one piece."""
        found = self._read(Law.ANSWER_READ, "whole", self.recording.body)
        told = ToldReading(
            outcome=found.outcome, text=found.text, reasoning=found.reasoning, finish_native=found.finish_native
        )
        check_read(self.recording, told, Law.ANSWER_READ, "whole")
        yield Law.ANSWER_READ
        if self.recording.reasoning:
            yield Law.REASONING_APART

    def chunked(self) -> Iterator[Law]:
        """Read it byte by byte, and in random chunks."""
        body = self.recording.body
        law, whole = Law.CUTS_FREE, self._read(Law.CUTS_FREE, "whole", self.recording.body)
        for place, cuts in chunkings(self.recording):
            found = self._read(law, place, body, split_at=cuts)
            if _told(found) != _told(whole):
                raise self._broken(law, "it was read otherwise than whole", place)
        yield law

    def cut(self) -> Iterator[Law]:
        """Let it end, cleanly and not, at the end of each event and within each."""
        whole = self._read(Law.END_PROVEN, "whole", self.recording.body)
        boundaries = self._boundaries()
        for boundary in boundaries:
            self._cut_at(boundary, whole)
        for start, stop in pairwise(boundaries):
            middle = (start + stop) // 2
            place = f"cut within the event at byte {middle}"
            before = self._read(Law.END_PROVEN, place, self.recording.body[:start], end="reset")
            within = self._read(Law.END_PROVEN, place, self.recording.body[:middle], end="reset")
            if _told(within) != _told(before):
                raise self._broken(Law.END_PROVEN, "half an event was read", place)
        yield Law.END_PROVEN
        yield Law.TEXT_GROWS

    def marked(self, markers: frozenset[bytes]) -> Iterator[Law]:
        """Put end markers in places where nothing has ended."""
        if self.recording.framing(self.dialect.facts.framing) != "sse":
            return
        law = Law.MARKER_PROVES_NOTHING
        for boundary in self._boundaries():
            head = self.recording.body[:boundary]
            place = f"the end marker at byte {boundary}"
            if self._read(law, place, head, end="reset").finish_native is not None:
                break
            for marker in markers:
                found = self._read(law, place, head + marker)
                if found.finish_native is not None or found.outcome in ENDED:
                    raise self._broken(law, f"it was read as {found.outcome}", place)
        yield law

    def with_error(self) -> Iterator[Law]:
        """Put an error between the events."""
        framing = self.recording.framing(self.dialect.facts.framing)
        if framing not in ("sse", "ndjson"):
            return
        law = Law.ERROR_WINS
        error = b"data: %b\n\n" % _ERROR if framing == "sse" else _ERROR + b"\n"
        for boundary in self._boundaries():
            head = self.recording.body[:boundary]
            place = f"an error at byte {boundary}"
            if self._read(law, place, head, end="reset").terminal:
                break
            found = self._read(law, place, head + error + self.recording.body[boundary:])
            if found.outcome in ENDED or found.fault is None:
                raise self._broken(law, f"it was read as {found.outcome}", place)
        yield law

    def with_junk(self) -> Iterator[Law]:
        """Put what is no event behind the end."""
        recording, law = self.recording, Law.JUNK_IGNORED
        framing = recording.framing(self.dialect.facts.framing)
        if framing not in ("sse", "ndjson") or recording.outcome not in ENDED or recording.end != "clean":
            return
        if self._boundaries()[-1] != len(recording.body):
            return  # its last event has no end of its own, so what follows would be a part of it
        whole = self._read(law, "whole", recording.body)
        for junk in _JUNK:
            found = self._read(law, "junk behind the end", recording.body + junk)
            same = (whole.outcome, whole.text, whole.finish_native)
            if (found.outcome, found.text, found.finish_native) != same:
                raise self._broken(law, f"it was read as {found.outcome}", "junk behind the end")
        yield law

    def _cut_at(self, boundary: int, whole: Replay) -> None:
        for end in _ENDINGS:
            place = f"cut at byte {boundary}, {'cleanly' if end == 'clean' else 'broken'}"
            head = self.recording.body[:boundary]
            found = self._read(Law.END_PROVEN, place, head, end=end)
            word = found.finish_native
            if word is None and found.outcome in ENDED:
                raise self._broken(Law.END_PROVEN, f"without a finish word it was read as {found.outcome}", place)
            if word not in (None, whole.finish_native):
                raise self._broken(Law.END_PROVEN, "another finish word was read than in the whole", place)
            if word is not None and word.rpartition(":")[2].encode() not in head:
                raise self._broken(Law.END_PROVEN, "a finish word was read that the server had not sent", place)
            if not whole.text.startswith(found.text.rstrip(_CUT_CHARACTER)):
                raise self._broken(Law.TEXT_GROWS, "the text is another one", place)

    def _boundaries(self) -> tuple[int, ...]:
        return self.recording.boundaries(self.dialect.facts.framing)

    def _read(
        self,
        law: Law,
        place: str,
        body: bytes,
        *,
        split_at: tuple[int, ...] = (),
        end: Literal["clean", "reset"] | None = None,
    ) -> Replay:
        chunks = tuple(body[start:stop] for start, stop in pairwise((0, *sorted(split_at), len(body))))
        try:
            return _read(self.dialect, self.recording, chunks, is_clean=(end or self.recording.end) == "clean")
        except Exception as error:
            raise self._broken(law, f"reading raised {type(error).__name__}", place) from error

    def _broken(self, law: Law, found: str, place: str) -> ConformanceError:
        return ConformanceError(law, found, recording=self.recording.name, place=place)


def _read(dialect: Dialect, recording: RecordedAnswer, chunks: tuple[bytes, ...], *, is_clean: bool) -> Replay:
    """Read an answer, or what was made of it, as one that was asked for with tools or without."""
    reader = dialect.reader(Expected(offers_tools=recording.offers_tools))
    played = Recording(recording.status, recording.headers, chunks, is_clean)
    response = played.response(reader, dialect.facts.framing)
    found = WireReading()
    for event in played.events(response):
        found.take(event)
    return Replay(
        outcome=found.outcome,
        text=bytes(found.text).decode(errors="replace"),
        usage=found.usage,
        finish_native=response.finish_native,
        terminal=reader.is_terminal,
        tool_calls=tuple(call.joined() for call in found.calls.values()),
        reasoning=bytes(found.reasoning).decode(errors="replace"),
        refusal=found.refusal,
        fault=found.fault,
    )


def chunkings(recording: RecordedAnswer) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield ways to cut an answer, each with its name."""
    length = len(recording.body)
    yield "byte by byte", tuple(range(length))
    for seed in range(CHUNKINGS if length else 0):
        random = Random(f"{recording.name} {seed}")
        count = random.randint(1, min(_MOST_CUTS, length))
        yield f"random chunks of seed {seed}", tuple(random.randrange(length) for _ in range(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldReading:
    """Hold what is compared of a reading.

    Attributes:
        outcome: what the wire says.
        text: the answer's text, a cut character as U+FFFD.
        reasoning: what the model thought.
        finish_native: the server's own finish word.
    """

    outcome: str
    text: str
    reasoning: str
    finish_native: str | None


def check_read(recording: RecordedAnswer, told: ToldReading, law: Law, place: str) -> None:
    """Check what was read of an answer.

    Raises:
        ConformanceError: it is not what the recording says.
    """

    def broken(law: Law, found: str) -> ConformanceError:
        return ConformanceError(law, found, recording=recording.name, place=place)

    thought = (recording.reasoning or "").strip()
    if thought and thought in told.text and thought not in (recording.text or ""):
        raise broken(Law.REASONING_APART, "the text holds what was thought")
    if told.outcome != recording.outcome:
        raise broken(law, f"{recording.outcome} was read as {told.outcome}")
    if recording.text is not None and told.text != recording.text:
        raise broken(law, "its text is another one")
    if recording.reasoning is not None and told.reasoning != recording.reasoning:
        raise broken(Law.REASONING_APART, "what was thought is something else")
    if told.finish_native != recording.finish_native:
        raise broken(law, "its finish word is another one")


def check_pair(dialect: Dialect, first: RecordedAnswer, second: RecordedAnswer) -> Iterator[Law]:
    """Read two answers at the same time, piece by piece in turn.

    Raises:
        ConformanceError: one of them is read otherwise than alone.
    """
    law = Law.READERS_APART
    readings = [_Reading(dialect, each) for each in (first, second)]
    try:
        for index in range(max(len(each.pieces) for each in readings)):
            for reading in readings:
                reading.feed(index)
        found = [reading.end() for reading in readings]
    except Exception as error:
        what = f"reading raised {type(error).__name__}"
        raise ConformanceError(law, what, recording=first.name, place=f"beside {second.name}") from error
    for recording, told in zip((first, second), found, strict=True):
        if told.outcome != recording.outcome or recording.text not in (None, bytes(told.text).decode(errors="replace")):
            other = second if recording is first else first
            what = "it was read otherwise than alone"
            raise ConformanceError(law, what, recording=recording.name, place=f"beside {other.name}")
    yield law


class _Reading:
    """Read one answer piece by piece."""

    def __init__(self, dialect: Dialect, recording: RecordedAnswer) -> None:
        boundaries = (*recording.boundaries(dialect.facts.framing), len(recording.body))
        self.pieces = tuple(recording.body[start:stop] for start, stop in pairwise(boundaries))
        self._is_clean = recording.end == "clean"
        reader = dialect.reader(Expected(offers_tools=recording.offers_tools))
        alone = Recording(recording.status, recording.headers, (), self._is_clean)
        self._response = alone.response(reader, dialect.facts.framing)
        self._found = WireReading()

    def feed(self, index: int) -> None:
        for event in self._response.feed(self.pieces[index]) if index < len(self.pieces) else ():
            self._found.take(event)

    def end(self) -> WireReading:
        for event in self._response.end(is_clean=self._is_clean):
            self._found.take(event)
        return self._found


def _told(found: Replay) -> tuple[object, ...]:
    """Return all that was read but for what hangs on the time of reading."""
    kind = None if found.fault is None else (found.fault.kind, found.fault.code, found.fault.status)
    texts = found.text, found.reasoning, found.refusal
    return found.outcome, found.usage, found.finish_native, found.terminal, found.tool_calls, texts, kind


def _markers(dialect: Dialect, recordings: tuple[RecordedAnswer, ...]) -> frozenset[bytes]:
    """Return the events that are end markers: the usual one, and those of the recordings that the facts name."""
    named = dialect.facts.end_marker
    found = {_MARKER}
    for recording in recordings:
        for piece in recording.pieces(dialect.facts.framing):
            if named is not None and named in (piece.event.name, piece.event.data.decode(errors="replace")):
                found.add(recording.body[piece.start : piece.stop])
    return frozenset(found)


__all__ = ["CHUNKINGS", "ReadingTrial", "ToldReading", "check_pair", "check_read", "check_reading", "chunkings"]
