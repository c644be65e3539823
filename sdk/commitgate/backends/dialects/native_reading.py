"""Read answers of APIs that servers have of their own, whose last event tells how the answer ended. Sans-IO."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

from commitgate.backends.base import Finish, FinishReason, StreamEvent, Usage
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.errors import read_error
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError
from commitgate.backends.words import read_finish
from commitgate.json_value import JsonObject


class NativeReader(ABC):
    """Read one answer; what is particular to a format stands in its own reader.

    Attributes:
        MEMBERS: an object that has none of these is no answer of the format.
        API: what people call it.
    """

    MEMBERS: ClassVar[frozenset[str]]
    API: ClassVar[str]

    def __init__(self) -> None:
        self._text = TextJoiner()
        self._finish_native: str | None = None
        self._is_over = False

    @property
    def finish_native(self) -> str | None:
        """Return the server's own finish word; None where there is none, also where it said that it was done."""
        return self._finish_native

    @property
    def is_terminal(self) -> bool:
        """Say whether the event that tells of the end was read."""
        return self._is_over

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one event of a stream means."""
        value = event.value
        if value is None:
            return ()
        if value.get("error") is not None:
            return (read_error(value),)
        return self._read(value, event.data)

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole answer means; as a rule it has the form of a stream's last event."""
        if event.value is None or not event.value.keys() & self.MEMBERS:
            raise WireFaultError("no_answer", f"the body is no answer of {self.API}")
        return self.read(event)

    def close(self) -> Iterable[StreamEvent]:
        """Return nothing: these formats have no end marker beside their last event."""
        return ()

    @abstractmethod
    def _read(self, value: JsonObject, data: bytes) -> Iterable[StreamEvent]:
        """Return what an event means that tells of no failure.

        Args:
            value: its object.
            data: the same as it came.
        """

    def _ended(
        self, word: str | None, *, read: int | None, written: int | None, is_cut: bool = False
    ) -> Iterator[StreamEvent]:
        """Note and return the end, with its counts before it.

        Args:
            word: the server's own finish word; None or empty where it has none.
            read: tokens of the prompt.
            written: tokens of the answer.
            is_cut: a limit ended the answer, whatever the word says.
        """
        if read is not None or written is not None:
            yield Usage(input_tokens=read, output_tokens=written)
        self._finish_native = word or None
        self._is_over = True
        if self._finish_native is None:
            yield Finish(FinishReason.UNKNOWN, "")
        elif is_cut:
            yield Finish(FinishReason.LENGTH, self._finish_native)
        else:
            yield read_finish(self._finish_native)


__all__ = ["NativeReader"]
