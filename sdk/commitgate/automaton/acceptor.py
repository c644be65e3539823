"""Walk a text through an automaton, in chunks of any size, and say where it stands. Sans-IO."""

from __future__ import annotations

from typing import cast

from commitgate.argument import wrong_kind
from commitgate.automaton.terms import Term
from commitgate.errors import LimitExceededError

_PIECE_BYTES = 16
"""How much of a text may take the work of one step: about as much as a long token has."""


class Acceptor:
    """Follow one text. Make one with ``Automaton.acceptor()``.

    Attributes:
        position: bytes that passed; once dead, the offset of the first byte that cannot be part of a text.
        state: the language that remains; once dead, the one that remained before that byte.
    """

    __slots__ = ("_empty", "is_dead", "position", "state")

    def __init__(self, start: Term) -> None:
        self.state = start
        self.position = 0
        self.is_dead = start is start.arena.empty
        self._empty = start.arena.empty

    def feed(self, data: bytes) -> bool:
        """Read ``data``; return whether the text can still be completed. A dead acceptor reads nothing more.

        Raises:
            LimitExceededError: the walk needs more states than ``Limits.states``, or one step more work than
                ``Limits.step_work``; nothing was read.
            MisuseError: ``data`` is no bytes.
        """
        if not isinstance(cast("object", data), bytes | bytearray | memoryview):
            raise wrong_kind("text", "bytes (UTF-8)", data)
        if self.is_dead:
            return False
        before = self.state, self.position
        try:
            if len(data) <= _PIECE_BYTES:
                return self._feed(data)
            # In pieces, so that the work of each is bounded, however much is fed at once.
            pieces = (data[start : start + _PIECE_BYTES] for start in range(0, len(data), _PIECE_BYTES))
            return all(map(self._feed, pieces))
        except LimitExceededError:
            self.state, self.position = before
            raise

    def _feed(self, piece: bytes | bytearray | memoryview) -> bool:
        state, empty = self.state, self._empty
        state.arena.begin_step()
        for offset, byte in enumerate(piece):
            following = state.step(byte)
            if following is empty:
                self.state = state
                self.position += offset
                self.is_dead = True
                return False
            state = following
        self.state = state
        self.position += len(piece)
        return True

    @property
    def is_accepting(self) -> bool:
        """Return whether the text read so far is a whole one; ``checked`` keywords are not looked at here."""
        return self.state.nullable and not self.is_dead

    @property
    def is_finished(self) -> bool:
        """Return whether nothing but the end can follow."""
        return not self.is_dead and self.state is self.state.arena.epsilon

    def explain(self) -> str:
        """Say in words what may come next and where in the schema that stands."""
        words = self.state.describe()
        if self.state.nullable and self.state is not self.state.arena.epsilon:
            words += " or the end of the text"
        place = self.state.place
        where = "" if place is None else f", at {'the root' if place == '' else place} of the schema"
        return f"expected {words}{where}"


__all__ = ["Acceptor"]
