"""Follow the tokens of one answer, and remember the state after each, so that a shorter beginning is found again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.engine import MaskEngine, Matcher


class AnswerPath:
    """Follow one answer token by token. What stands after its end (padding, further stop tokens) is passed over.

    Args:
        engine: the masks and their vocabulary.
        start: the language of the whole text.

    Attributes:
        ids: the tokens taken so far, those after the end included.
        end: number of tokens of text before the end; None where the answer has not ended. An answer ends with its
            first token that is not text: a stop token, or padding where something else than the text stopped it.
    """

    __slots__ = ("_engine", "_states", "end", "ids")

    def __init__(self, engine: MaskEngine, start: Term) -> None:
        self._engine = engine
        self._states = [start]
        self.ids: list[int] = []
        self.end: int | None = None

    @property
    def start(self) -> Term:
        """Return the language of the whole text."""
        return self._states[0]

    @property
    def matcher(self) -> Matcher:
        """Return a matcher that stands behind the last token of text."""
        return self._engine.matcher_of(self._states[-1])

    @property
    def is_whole(self) -> bool:
        """Return whether the text is finished: it was ended where it may end, or nothing but the end can follow.

        A text that may end but was not ended is not whole: of a number cut by a limit, more digits may be missing.
        """
        matcher = self.matcher
        if matcher.is_finished:
            return True
        return self.end is not None and matcher.is_accepting and self.ids[self.end] in self._engine.vocabulary.stop_ids

    @property
    def text_ids(self) -> tuple[int, ...]:
        """Return the tokens of text, without what ended it and what stands behind."""
        return tuple(self.ids[: self.end])

    @property
    def next_stop(self) -> int:
        """Return the stop token with which to go on behind the end.

        Where ``generate`` did not stop at the stop token that was taken, because it does not know it, it is given the
        others in turn.
        """
        stops = self._engine.vocabulary.stop_ids
        end = len(self.ids) if self.end is None else self.end
        taken = self.ids[end] if end < len(self.ids) else None
        first = stops.index(taken) + 1 if taken in stops else 0
        return stops[(first + max(0, len(self.ids) - end - 1)) % len(stops)]

    def take(self, token_id: int) -> None:
        """Take one token.

        Raises:
            MisuseError: it is text that is not legal here. Nothing is changed.
            LimitExceededError: the walk needs more states or work than the contract's limits. Nothing is changed.
        """
        if self.end is None:
            if self._is_text(token_id):
                matcher = self.matcher
                matcher.advance(token_id)
                self._states.append(matcher.state)
            else:
                self.end = len(self.ids)
        self.ids.append(token_id)

    def take_all(self, token_ids: Iterable[int]) -> None:
        """Take tokens in turn, as ``take`` does; those before one that raises are taken."""
        for token_id in token_ids:
            self.take(token_id)

    def shared(self, ids: Sequence[int]) -> int:
        """Return how many tokens from the beginning on are the same here and in ``ids``."""
        pairs = zip(self.ids, ids, strict=False)
        return next(
            (number for number, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(self.ids), len(ids))
        )

    def beginning(self, length: int) -> AnswerPath:
        """Return the path of the first tokens alone, as one that can be followed by itself."""
        path = AnswerPath(self._engine, self._states[0])
        path.ids = self.ids[:length]
        path._states = self._states[: length + 1]
        path.end = None if self.end is None or self.end >= length else self.end
        return path

    def _is_text(self, token_id: int) -> bool:
        tokens = self._engine.vocabulary.tokens
        return 0 <= token_id < len(tokens) and tokens[token_id] is not None


__all__ = ["AnswerPath"]
