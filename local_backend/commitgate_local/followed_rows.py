"""Hold the rows of one call of ``generate``, and find the answer of each again however the rows were moved.

The state of a row follows from the row's own tokens alone. The rows of the step before only save work: where each row
goes on with one token, that token is walked; where rows were reordered (beams) or cut back (assisted decoding), the
longest beginning that was walked before is taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol, cast

import torch

from commitgate.errors import MisuseError
from commitgate_local.answer_path import AnswerPath

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.engine import MaskEngine

_OTHER_CALL: Final = (
    "; a processor follows one call of generate (and no assistant with another tokenizer): make a new one for another "
    "call, or call reset() before it"
)


class _Ids(Protocol):
    """Name what is used of a row of ids, which is a tensor."""

    def tolist(self) -> list[int]: ...


class FollowedRows:
    """Hold the rows of one call of ``generate``.

    Args:
        engine: the masks.
        starts: the language of each row.
        counts: how many tokens at the end of each row's prompt belong to its answer.
        prompts: the rows before the first step. [rows, tokens] int64

    Attributes:
        paths: the answer of each row.
    """

    def __init__(
        self, engine: MaskEngine, starts: Sequence[Term], counts: Sequence[int], prompts: torch.Tensor
    ) -> None:
        self._engine = engine
        self._starts = starts
        self._has_many = any(start is not starts[0] for start in starts)
        self._counts = counts
        self._prompts = prompts.clone()
        self._widest = prompts.shape[1]
        if max(counts) > prompts.shape[1]:
            raise MisuseError(f"answer_tokens names {max(counts)} tokens, the prompt has {prompts.shape[1]}")
        self.paths = [AnswerPath(engine, start) for start in starts]
        self._seen: torch.Tensor | None = None
        for row, path in enumerate(self.paths):
            _take_all(path, self._answer_ids(prompts[row], row), row)
            if path.end is not None and not path.is_whole:
                raise MisuseError(
                    f"row {row}: the last {counts[row]} tokens of the prompt, which answer_tokens says are the answer, "
                    "are not all text"
                )

    def follow(self, input_ids: torch.Tensor) -> None:
        """Let each path hold the answer of its row."""
        seen, self._seen = self._seen, None
        if _continues(seen, input_ids):
            for row, token_id in enumerate(cast("_Ids", input_ids[:, -1]).tolist()):
                _take_all(self.paths[row], [token_id], row)
        else:
            self._check_same_call(input_ids)
            self.paths = self._found_again(input_ids)
        self._widest = max(self._widest, input_ids.shape[1])
        self._seen = input_ids.clone()

    def paths_of(self, sequences: torch.Tensor) -> list[AnswerPath]:
        """Return the answer of each row that was returned."""
        width = self._prompts.shape[1]
        if sequences.dim() != 2 or not len(sequences) or sequences.shape[1] < width:
            raise MisuseError(f"the answers must be rows as generate returned them, with their {width} prompt tokens")
        # Of the rows of one prompt fewer may be returned than were followed, as of beams.
        rows = [row * len(self._prompts) // len(sequences) for row in range(len(sequences))]
        prompts = self._prompts.to(sequences.device)[rows]
        if not torch.equal(sequences[:, :width], prompts):
            raise MisuseError("the answers begin with other tokens than the prompts of the call that was followed")
        paths: list[AnswerPath] = []
        for number, row in enumerate(rows):
            path = AnswerPath(self._engine, self._starts[row])
            _take_all(path, self._answer_ids(sequences[number], row), number)
            paths.append(path)
        return paths

    def _answer_ids(self, ids: torch.Tensor, row: int) -> list[int]:
        """Return the tokens of the answer. ids: [tokens], those of the row with its prompt"""
        return cast("_Ids", ids[self._prompts.shape[1] - self._counts[row] :]).tolist()

    def _check_same_call(self, input_ids: torch.Tensor) -> None:
        rows, width = self._prompts.shape
        if len(input_ids) != rows:
            raise MisuseError(f"{rows} rows were followed, and now there are {len(input_ids)}{_OTHER_CALL}")
        if not width <= input_ids.shape[1] <= self._widest + 1:
            raise MisuseError(
                f"rows of {width} to {self._widest} tokens were followed, and now they have {input_ids.shape[1]}"
                + _OTHER_CALL
            )
        if not torch.equal(input_ids[:, :width], self._prompts.to(input_ids.device)):
            raise MisuseError(f"the rows begin with other tokens than before{_OTHER_CALL}")

    def _found_again(self, input_ids: torch.Tensor) -> list[AnswerPath]:
        known = {(id(path.start), tuple(path.ids)): path for path in self.paths}
        found: list[AnswerPath] = []
        for row, start in enumerate(self._starts):
            ids = self._answer_ids(input_ids[row], row)
            near = known.get((id(start), tuple(ids[:-1]))) or self._nearest(start, ids)
            length = near.shared(ids)
            if self._has_many and length < len(ids) - 1:
                raise MisuseError(
                    f"row {row}: generate moved a text here that was written under another contract; give one contract "
                    "for each prompt, not for each beam"
                )
            path = near.beginning(length)
            _take_all(path, ids[length:], row)
            found.append(path)
        return found

    def _nearest(self, start: Term, ids: Sequence[int]) -> AnswerPath:
        return max((path for path in self.paths if path.start is start), key=lambda path: path.shared(ids))


def _continues(seen: torch.Tensor | None, input_ids: torch.Tensor) -> bool:
    """Return whether each row is the one seen before and one more token."""
    if seen is None or seen.device != input_ids.device or seen.shape[1] + 1 != input_ids.shape[1]:
        return False
    return torch.equal(seen, input_ids[:, :-1])


def _take_all(path: AnswerPath, token_ids: Sequence[int], row: int) -> None:
    try:
        path.take_all(token_ids)
    except MisuseError as error:
        raise MisuseError(
            f"row {row}: token {len(path.ids)} of the answer is not legal there: a processor after this one undid its "
            "masks, answer_tokens counts what is no answer, or beams are drawn by chance (num_beams with do_sample)"
        ) from error


__all__ = ["FollowedRows"]
