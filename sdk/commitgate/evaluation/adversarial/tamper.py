"""Change what passes between a backend and the gate: cut it, lose it, hold it up, add to it. Sans-IO."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from commitgate.backends.base import BackendIdentity, Finish, GenerationRequest, SentEvent, TextDelta
from commitgate.evaluation.adversarial.place import Place, PlaceFinder


@dataclass(frozen=True, slots=True)
class End:
    """End the stream cleanly here, without a further word."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing more, and do not end."""


@dataclass(frozen=True, slots=True)
class Drip:
    """Send one event again and again, for ever.

    Attributes:
        event: what is sent.
        every_s: seconds between two.
    """

    event: SentEvent
    every_s: float


Move: TypeAlias = "SentEvent | End | Hang | Drip"
"""What comes next on a line that was tampered with."""


class Tamper:
    """Pass everything on as it is; others change some of it. One object for one request.

    Attributes:
        has_fired: it did what it is there for.
    """

    has_fired = False

    def request(self, request: GenerationRequest) -> GenerationRequest:
        """Return the request as it goes out."""
        return request

    def identity(self, identity: BackendIdentity) -> BackendIdentity:
        """Return who answers, as it is told."""
        return identity

    def take(self, event: SentEvent) -> Iterable[Move]:
        """Return what comes in place of an event."""
        return (event,)


class AtPlace(Tamper):
    """Do something at the first place of a kind.

    Args:
        place: where.
        moves: what comes there.
        goes_on: the rest of the answer follows; else it is lost.
    """

    def __init__(self, place: Place, *moves: Move, goes_on: bool = False) -> None:
        self._place = place
        self._moves = moves
        self._goes_on = goes_on
        self._finder = PlaceFinder()

    def take(self, event: SentEvent) -> Iterable[Move]:
        """Return what comes in place of an event."""
        if self.has_fired:
            return (event,) if self._goes_on else ()
        match self._place, event:
            case Place.START, _:
                return self._fire((), (event,))
            case Place.UNFINISHED, Finish():
                return self._fire((), (event,))
            case Place.FINISHED, Finish():
                return self._fire((event,), ())
            case _, TextDelta():
                return self._in_text(event)
            case _:
                return (event,)

    def _in_text(self, event: TextDelta) -> Iterable[Move]:
        for number, byte in enumerate(event.data):
            if self._finder.feed(byte) is self._place:
                before, after = event.data[: number + 1], event.data[number + 1 :]
                rest = (replace(event, data=after),) if after else ()
                return self._fire((replace(event, data=before),), rest)
        return (event,)

    def _fire(self, before: Sequence[Move], rest: Sequence[Move]) -> Iterable[Move]:
        self.has_fired = True
        return (*before, *self._moves, *(rest if self._goes_on else ()))


class Crumbled(Tamper):
    """Cut the text into single bytes, inside of characters too."""

    def take(self, event: SentEvent) -> Iterator[Move]:
        """Return what comes in place of an event."""
        if isinstance(event, TextDelta):
            self.has_fired = True
            yield from (replace(event, data=event.data[at : at + 1]) for at in range(len(event.data)))
        else:
            yield event


class Doubled(Tamper):
    """Send the whole text a second time, before the finish."""

    def __init__(self) -> None:
        self._text = bytearray()

    def take(self, event: SentEvent) -> Iterator[Move]:
        """Return what comes in place of an event."""
        if isinstance(event, TextDelta):
            self._text += event.data
        elif isinstance(event, Finish) and self._text:
            self.has_fired = True
            yield TextDelta(bytes(self._text))
        yield event


class Unconstrained(Tamper):
    """Ask by the prompt alone, as a server that drops the constraint would."""

    has_fired = True

    def request(self, request: GenerationRequest) -> GenerationRequest:
        """Return the request as it goes out."""
        return replace(request, is_constrained=False, translation=None)


class Renamed(Tamper):
    """Tell of another version of the model, with another vocabulary.

    Args:
        revision: what is told of the version, and of the vocabulary.
        inner: what else is done.
    """

    def __init__(self, revision: str, inner: Tamper | None = None) -> None:
        self._revision = revision
        self._inner = inner or Tamper()

    def identity(self, identity: BackendIdentity) -> BackendIdentity:
        """Return who answers, as it is told."""
        return replace(identity, model_revision=self._revision, tokenizer_fingerprint=self._revision)

    def take(self, event: SentEvent) -> Iterable[Move]:
        """Return what comes in place of an event."""
        moves = self._inner.take(event)
        self.has_fired = self._inner.has_fired
        return moves


__all__ = ["AtPlace", "Crumbled", "Doubled", "Drip", "End", "Hang", "Move", "Renamed", "Tamper", "Unconstrained"]
