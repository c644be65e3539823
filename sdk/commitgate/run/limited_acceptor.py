"""Turn the limit on states into an ordinary end of the walk, so that a text too costly to read has an ending."""

from __future__ import annotations

from commitgate.automaton import Acceptor
from commitgate.errors import LimitExceededError


class LimitedAcceptor:
    """Walk a text as ``Acceptor`` does; it is dead from the byte on that would need more states than allowed.

    Args:
        acceptor: walks the text.

    Attributes:
        is_exceeded: the limit was hit.
    """

    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor
        self._explanation = ""
        self.is_exceeded = False

    @property
    def is_accepting(self) -> bool:
        """Say whether the text so far is whole."""
        return not self.is_exceeded and self._acceptor.is_accepting

    @property
    def position(self) -> int:
        """Return how many bytes passed; once dead, the offset of the first byte that did not."""
        return self._acceptor.position

    def feed(self, data: bytes) -> bool:
        """Walk on; return whether the text can still be finished."""
        if self.is_exceeded:
            return False
        try:
            return self._acceptor.feed(data)
        except LimitExceededError:
            return self._feed_bytewise(data)

    def explain(self) -> str:
        """Say in words what was expected here, or which limit was hit."""
        return self._explanation or self._acceptor.explain()

    def _feed_bytewise(self, data: bytes) -> bool:
        # The walk that was given up moved nothing; byte by byte it ends at one place however the text was cut.
        try:
            return all(self._acceptor.feed(data[index : index + 1]) for index in range(len(data)))
        except LimitExceededError as error:
            self.is_exceeded = True
            self._explanation = str(error)
            return False


__all__ = ["LimitedAcceptor"]
