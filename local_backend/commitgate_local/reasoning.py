"""Follow the thoughts of a model up to their end mark, and say where in which token its answer begins.

The text of a thinking model is ``thoughts, end mark, gap, answer``. Thoughts are free: every token of text is legal,
and nothing else is, so no stop id and no other special token. The first place where the mark is complete ends them; it
may lie inside a token. The bytes behind it in that token then belong to the gap and the answer, so a token is legal
only where the contract allows them there. The mark may also be a token without any text. Either spelling counts.

Where the model does not come to an end within its budget, the rest of the mark and the gap are fed unasked.

Source: Knuth, Morris, Pratt, "Fast Pattern Matching in Strings", 1977 (the mark is found however its bytes come).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from commitgate.errors import MisuseError

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.forced import TextEncoder
    from commitgate_local.vocabulary import Vocabulary
    from commitgate_local.walk import Mask


class EndMark:
    """Know how one vocabulary writes an end mark and the gap behind it. Usable from several threads.

    Args:
        end: the mark.
        gap: what stands between it and the answer.
        vocabulary: the tokens.
        encoder: splits texts into them.
        end_id: the token that is the mark; None where it is text like all other.

    Attributes:
        vocabulary: the tokens.
        mark: the mark's bytes.
        gap: the gap's bytes.
        end_id: the token that is the mark; None where there is none.
        longest: most tokens of mark and gap, as they are fed unasked.
        free: which tokens a thought may hold, before what they do behind the mark is looked at. [width] bool, read-only

    Raises:
        MisuseError: the vocabulary cannot write them.
    """

    def __init__(
        self, end: str, gap: str, *, vocabulary: Vocabulary, encoder: TextEncoder, end_id: int | None = None
    ) -> None:
        self.mark = end.encode()
        self.gap = gap.encode()
        self.end_id = end_id
        self.vocabulary = vocabulary
        self._borders = _borders(self.mark)
        self._gaps = self._split(encoder, self.gap)
        whole_gap = self._gaps[0]
        if end_id is not None and whole_gap is not None:
            self._endings: Sequence[Sequence[int] | None] = [(end_id, *whole_gap)]
        else:
            self._endings = self._split(encoder, self.mark + self.gap)[: len(self.mark)]
        if whole_gap is None or self._endings[0] is None:
            raise MisuseError("the model's tokens cannot write the end mark of the reasoning and the gap behind it")
        self.longest = max(len(ids) for ids in self._endings if ids is not None)
        self.free = self._free_mask()
        self._candidates = self._closing_tokens()
        self._crossing: dict[int, tuple[tuple[int, bytes], ...]] = {}

    def gap_ids(self, read: int) -> Sequence[int] | None:
        """Return the tokens of the gap without its first ``read`` bytes; None where it cannot be cut there."""
        return self._gaps[read]

    def ending(self, matched: int) -> tuple[int, Sequence[int]]:
        """Return how the thoughts are ended unasked.

        Args:
            matched: bytes of the mark that stand at the end of the text.

        Returns:
            How many of these bytes are part of the mark that is written, and the tokens of the rest and of the gap.
        """
        if self.end_id is None and (ids := self._endings[matched]) is not None:
            return matched, ids
        # The mark's own token, or text whose rest would begin inside a character.
        whole = self._endings[0]
        assert whole is not None, "a mark that cannot be written is refused"
        return 0, whole

    def follow(self, matched: int, data: bytes) -> tuple[int, int | None]:
        """Read further text.

        Args:
            matched: bytes of the mark that stand at the end of the text so far.
            data: what comes next.

        Returns:
            Bytes of the mark that stand at the end then, and None; or the whole mark, and the first place in ``data``
            behind it.
        """
        for place, byte in enumerate(data):
            while matched and self.mark[matched] != byte:
                matched = self._borders[matched]
            if self.mark[matched] == byte:
                matched += 1
            if matched == len(self.mark):
                return matched, place + 1
        return matched, None

    def crossing(self, matched: int) -> tuple[tuple[int, bytes], ...]:
        """Return the tokens that complete the mark and go on, each with its bytes behind the mark."""
        found = self._crossing.get(matched)
        if found is None:
            # Two threads that meet here put down the same.
            found = self._crossing[matched] = tuple(self._cross(matched))
        return found

    def _cross(self, matched: int) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for number, token in self._candidates:
            _, end = self.follow(matched, token)
            if end is not None and end < len(token):
                found.append((number, token[end:]))
        return found

    def _closing_tokens(self) -> list[tuple[int, bytes]]:
        """Return the tokens that may hold the end of the mark and something behind it."""
        tails = tuple(self.mark[start:] for start in range(len(self.mark)))
        return [
            (number, token)
            for number, token in enumerate(self.vocabulary.tokens)
            if token is not None and number != self.end_id and (token.startswith(tails) or self.mark in token)
        ]

    def _free_mask(self) -> Mask:
        mask = np.fromiter((token is not None for token in self.vocabulary.tokens), np.bool_, self.vocabulary.width)
        if self.end_id is not None:
            mask[self.end_id] = True
        mask.flags.writeable = False
        return mask

    def _split(self, encoder: TextEncoder, data: bytes) -> list[Sequence[int] | None]:
        """Return the tokens of a text without its first n bytes, for each n; None where there are none."""
        ends: list[str | None] = [_text(data[start:]) for start in range(len(data))]
        texts = [text for text in ends if text is not None]
        splits = iter(encoder.encode_all(texts) if texts else [])
        found: list[Sequence[int] | None] = []
        for start, text in enumerate(ends):
            ids = None if text is None else tuple(next(splits))
            found.append(ids if ids is not None and self._writes(ids, data[start:]) else None)
        return [*found, ()]

    def _writes(self, ids: Sequence[int], data: bytes) -> bool:
        tokens = self.vocabulary.tokens
        return all(tokens[number] is not None for number in ids) and self.vocabulary.text(ids) == data


class Thoughts:
    """Follow the thoughts of one answer.

    Args:
        mark: how they end.
        start: the language of the answer.
        budget: most tokens of them, >= 0; the mark and the gap that are fed unasked are not counted.

    Attributes:
        left: tokens that may still be written before the end mark is.
        is_over: the mark is complete.
        is_cut: it was fed unasked, for want of budget.
        ids: tokens to be fed unasked, once it is over.
        answer: bytes with which the answer begins, once it is over; they came with the token that ended the mark.
    """

    def __init__(self, mark: EndMark, start: Term, budget: int) -> None:
        self._mark = mark
        self._start = start
        self._budget = self.left = budget
        self._matched = 0
        self._masks: dict[int, Mask] = {}
        self.is_over = False
        self.is_cut = False
        self.ids: Sequence[int] = ()
        self.answer = b""

    @property
    def context(self) -> bytes:
        """Return the text that stands before the answer, as far as its first token depends on it."""
        mark = self._mark
        return mark.gap if mark.end_id is not None else mark.mark + mark.gap

    @property
    def ending_tokens(self) -> int:
        """Return the most tokens that are fed to end the thoughts."""
        return self._mark.longest

    def leave_room(self, tokens: int) -> None:
        """Allow no more than so many tokens; less than none counts as none."""
        self.left = max(0, min(self.left, tokens))

    def mask(self) -> Mask:
        """Return which tokens are legal now. [width] bool, read-only

        Raises:
            LimitExceededError: the contract needs more states than it may have.
        """
        found = self._masks.get(self._matched)
        if found is None:
            found = self._masks[self._matched] = self._make_mask()
        return found

    def _make_mask(self) -> Mask:
        illegal = [number for number, rest in self._mark.crossing(self._matched) if not self._may_follow(rest)]
        if not illegal:
            return self._mark.free
        mask = self._mark.free.copy()
        mask[illegal] = False
        mask.flags.writeable = False
        return mask

    def _may_follow(self, rest: bytes) -> bool:
        """Return whether the gap and the answer may begin so."""
        gap = self._mark.gap
        if len(rest) <= len(gap):
            return gap.startswith(rest) and self._mark.gap_ids(len(rest)) is not None
        if not rest.startswith(gap):
            return False
        self._start.arena.begin_step()
        return self._start.walk(rest[len(gap) :]) is not self._start.arena.empty

    def take(self, token_id: int) -> bytes:
        """Take a token that ``mask`` allows.

        Returns:
            Thoughts that are certain now. What may be the beginning of the end mark is held back.
        """
        self.left -= 1
        held = self._mark.mark[: self._matched]
        if token_id == self._mark.end_id:
            self._end(self._mark.gap_ids(0), b"")
            return held
        data = self._mark.vocabulary.text((token_id,))
        matched, end = self._mark.follow(self._matched, data)
        self._matched = matched
        text = held + data
        if end is None:
            return text[: len(text) - matched]
        rest, gap = data[end:], self._mark.gap
        self._end(self._mark.gap_ids(min(len(rest), len(gap))), rest[len(gap) :])
        return text[: len(held) + end - len(self._mark.mark)]

    def cut(self) -> bytes:
        """End the thoughts unasked.

        Returns:
            Thoughts that were held back and are no part of the mark.
        """
        used, ids = self._mark.ending(self._matched)
        self.is_cut = self._budget > 0
        self._end(ids, b"")
        return self._mark.mark[: self._matched - used]

    def _end(self, ids: Sequence[int] | None, answer: bytes) -> None:
        assert ids is not None, "tokens that leave a gap which cannot be written are illegal"
        self.is_over, self.ids, self.answer = True, ids, answer


def opened(prompt: Sequence[int], begin: Sequence[int], vocabulary: Vocabulary) -> list[int]:
    """Return a prompt that ends with the mark by which thoughts begin, put there where it is missing.

    White space at the ends makes no difference: templates that open the thoughts begin a line there, or do not.
    """
    wanted, found = (_without_blanks(ids, vocabulary) for ids in (begin, prompt))
    is_open = found[-len(wanted) :] == wanted
    return list(prompt) if is_open else [*prompt, *begin]


def _without_blanks(ids: Sequence[int], vocabulary: Vocabulary) -> list[int]:
    """Return ids without those at their end that are white space alone."""
    end = len(ids)
    while end and (text := vocabulary.text(ids[end - 1 : end])) and not text.strip():
        end -= 1
    return list(ids[:end])


def _borders(mark: bytes) -> Sequence[int]:
    """Return for each n the length of the longest shorter beginning of the mark that its first n bytes end with."""
    borders = [0, 0]
    for end in range(1, len(mark)):
        length = borders[end]
        while length and mark[length] != mark[end]:
            length = borders[length]
        borders.append(length + (mark[length] == mark[end]))
    return borders


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


__all__ = ["EndMark", "Thoughts", "opened"]
