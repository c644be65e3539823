"""Hold words beside a call that is the answer, until it is known whether the call comes."""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.backends.base import TextDelta
from commitgate.backends.text_join import TextJoiner
from commitgate.backends.wire.wire_event import WireFaultError

_MOST_CHARACTERS = 1_048_576


class Aside:
    """Hold the words of one answer.

    A server that does not make the call that it was told to make answers in words; left out, they would leave an empty
    text behind, which a pattern may allow.
    """

    __slots__ = ("_characters", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._characters = 0

    def put(self, text: str) -> None:
        """Hold further words.

        Raises:
            WireFaultError: they are more than an answer may be.
        """
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise WireFaultError("too_much_aside", f"more than {_MOST_CHARACTERS} characters beside the answer")
        self._texts.append(text)

    def answer(self, *, must_be: bool) -> Iterator[TextDelta]:
        """Yield the words as the answer, because no call came.

        Args:
            must_be: the server says that its answer is whole, so there must be one.

        Raises:
            WireFaultError: there must be an answer, and there is none.
        """
        if must_be and not self._texts:
            raise WireFaultError("answer_missing", "the server did not make the call that is the answer")
        joiner = TextJoiner()
        for text in self._texts:
            yield TextDelta(joiner.feed(text))


__all__ = ["Aside"]
