"""Hold what ``transformers``' own ``generate`` writes to contracts: the masks as a logits processor.

``generate`` owns the loop: it reorders rows (beams), steps back (assisted decoding), pads rows that ended, and tells a
processor nothing of it. So the state of a row is never counted along: it follows from the row's own tokens alone, and
the rows of the step before only save the work of walking all of them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import torch
from transformers import LogitsProcessor

from commitgate.argument import check_int, check_kind, wrong_kind
from commitgate.errors import DeadEndError, MisuseError, ModelRunError
from commitgate.outcome import DeadEnd, Receipt
from commitgate_local.device_masks import DeviceMasks
from commitgate_local.engine import MaskEngine
from commitgate_local.followed_rows import FollowedRows

if TYPE_CHECKING:
    from commitgate_local.answer_path import AnswerPath
    from commitgate_local.engine import ContractLike
    from commitgate_local.walk import Mask

# Models round the columns of their logits up from the tokens, the largest known step being a little above 1,000.
_MOST_PADDING: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedAnswer:
    """Hold what one row of ``generate`` wrote.

    Attributes:
        text: the whole text; None where the row was cut, by a limit on tokens or by anything else but its own end.
        data: the bytes that were written, whole or not; of a cut row never a value.
        token_ids: the tokens of text, without the stop token and padding.
    """

    text: str | None = field(repr=False)
    data: bytes = field(repr=False)
    token_ids: tuple[int, ...] = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """Return whether the text reached its own end."""
        return self.text is not None


class MaskProcessor(LogitsProcessor):
    """Let ``generate`` write only what the contracts allow. For one call of ``generate`` at a time.

    Greedy decoding, sampling, ``num_return_sequences``, beam search and assisted decoding are right. Beam search that
    samples is refused where it picks beams of no probability. Give the processor as the last one.

    Args:
        engine: the masks, made for the model's own tokenizer.
        contracts: one contract for all rows; or a list of one for each prompt, in their order.
        answer_tokens: how many tokens at the end of a prompt belong to its answer already: one number for all, or a
            list of one for each prompt. What stands behind an answer that ended counts too. 0 where answers begin anew.

    Raises:
        MisuseError: an argument is of the wrong kind, or the vocabulary has no stop id.
        ContractError: a contract cannot be compiled for this vocabulary.
    """

    def __init__(
        self,
        engine: MaskEngine,
        contracts: ContractLike | Sequence[ContractLike],
        *,
        answer_tokens: int | Sequence[int] = 0,
    ) -> None:
        check_kind("engine", engine, MaskEngine, "a MaskEngine")
        if not engine.vocabulary.stop_ids:
            raise MisuseError("the engine's vocabulary has no stop id, so that generate could never end a text")
        self._engine = engine
        many = isinstance(contracts, list | tuple)
        listed = cast("Sequence[ContractLike]", contracts if many else [contracts])
        self._starts = [engine.matcher(contract).state for contract in listed]
        self._answer_tokens = _counts(answer_tokens)
        self._prompts = _prompts(
            len(listed) if many else None, None if isinstance(answer_tokens, int) else len(self._answer_tokens)
        )
        self._masks = DeviceMasks()
        self._end_masks = {stop: _only(stop, engine.vocabulary.width) for stop in engine.vocabulary.stop_ids}
        self._columns = -1
        self._run: FollowedRows | None = None

    def reset(self) -> None:
        """Forget the call of ``generate`` that was followed, so that another may begin."""
        self._run = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores with minus infinity for every token that is not legal.

        Args:
            input_ids: prompt and answer so far. [rows, tokens] int64, any device
            scores: raw or processed logits, or their log-softmax; not changed. [rows, columns] any float, any device

        Raises:
            DeadEndError: no token is legal in a row; ``outcome`` says after how many tokens and what was expected.
            ModelRunError: the scores are not numbers, or leave no legal token any probability.
            MisuseError: the engine was made for another model; this is another call of ``generate``; or a row holds
                what was not legal, because the masks were undone or the beams are drawn by chance.
            LimitExceededError: a contract needs more states or work than its limits allow.
        """
        self._check_shapes(input_ids, scores)
        if self._run is None:
            self._run = self._begin(input_ids)
        self._run.follow(input_ids)
        return self._masked(scores, self._run.paths)

    def answers(self, sequences: torch.Tensor) -> list[MaskedAnswer]:
        """Return the answer of each row that ``generate`` returned, and whether it is whole.

        Args:
            sequences: what ``generate`` returned (its ``sequences`` where it returned more), prompts included.
                [rows, tokens] int64, any device

        Raises:
            MisuseError: they are not the rows of the call that was followed; or a row holds what was not legal.
        """
        if self._run is None:
            raise MisuseError("no call of generate was followed: give the processor to generate as logits_processor")
        return [self._answer(path) for path in self._run.paths_of(sequences)]

    def _answer(self, path: AnswerPath) -> MaskedAnswer:
        data = self._engine.vocabulary.text(path.text_ids)
        return MaskedAnswer(text=data.decode() if path.is_whole else None, data=data, token_ids=path.text_ids)

    def _check_shapes(self, input_ids: torch.Tensor, scores: torch.Tensor) -> None:
        if input_ids.dim() != 2 or scores.dim() != 2 or len(input_ids) != len(scores):
            raise MisuseError(
                "a mask processor wants ids and scores with one row for each text, found the shapes "
                f"{tuple(input_ids.shape)} and {tuple(scores.shape)}"
            )
        if not scores.is_floating_point():
            raise wrong_kind("scores", "floating", scores.dtype)
        if scores.shape[1] != self._columns:
            self._check_columns(scores.shape[1])
            self._columns = scores.shape[1]

    def _check_columns(self, columns: int) -> None:
        vocabulary = self._engine.vocabulary
        cut = range(columns, vocabulary.width)
        # A token added to the tokenizer alone, as for padding, has no column; it is never text.
        is_padding = all(vocabulary.tokens[number] is None and number not in vocabulary.stop_ids for number in cut)
        if not is_padding or columns - vocabulary.width > _MOST_PADDING:
            raise MisuseError(
                f"the model's scores have {columns} columns, the engine's vocabulary has {vocabulary.width} ids: make "
                "the engine from the tokenizer of this very model (where it really is, give its Vocabulary the width)"
            )

    def _begin(self, input_ids: torch.Tensor) -> FollowedRows:
        """Take the rows as they stand before the first step."""
        rows = len(input_ids)
        prompts = self._prompts or 1
        if rows % prompts:
            raise MisuseError(f"generate has {rows} rows, which cannot be those of {prompts} prompts")
        # Copies of one prompt, for beams or several answers, stand beside each other.
        copies = input_ids.view(prompts, rows // prompts, -1) if self._prompts else input_ids[:, None]
        if not bool((copies == copies[:, :1]).all()):
            raise MisuseError(
                f"{prompts} contracts or counts were given, one for each prompt, and the {rows} rows of generate are "
                f"not {prompts} prompts and their copies"
            )
        width = self._engine.vocabulary.width
        if input_ids.numel() and int(input_ids.max()) >= width:
            raise MisuseError(f"the prompt holds ids beyond the engine's {width}: it was made from another tokenizer")
        numbers = [row * prompts // rows for row in range(rows)]
        starts = [self._starts[number if len(self._starts) > 1 else 0] for number in numbers]
        counts = [self._answer_tokens[number if len(self._answer_tokens) > 1 else 0] for number in numbers]
        return FollowedRows(self._engine, starts, counts, input_ids)

    def _masked(self, scores: torch.Tensor, paths: Sequence[AnswerPath]) -> torch.Tensor:
        masks: list[Mask] = []
        ended: list[int] = []
        ends: list[int] = []
        for row, path in enumerate(paths):
            if path.end is None:
                masks.append(path.matcher.mask())
                continue
            ended.append(row)
            ends.append(path.next_stop)
            masks.append(self._end_masks[path.next_stop])
        masked = self._masks.apply(scores, masks)
        if ended:
            # Whatever the model makes of a row that ended, padding included.
            masked[ended, ends] = 0.0
        self._check_scores(masked, masks, paths)
        return masked

    def _check_scores(self, masked: torch.Tensor, masks: Sequence[Mask], paths: Sequence[AnswerPath]) -> None:
        best = masked.amax(dim=1)
        broken = ~best.isfinite()
        if not bool(broken.any()):
            return
        row = int(broken.nonzero()[0])
        if not masks[row].any():
            raise _dead_end(row, paths[row])
        if best[row] == -torch.inf:
            raise ModelRunError(
                f"row {row}: no legal token has any probability (scores of minus infinity); the model, or a setting of "
                "generate such as min_new_tokens, bad_words_ids, suppress_tokens or forced_eos_token_id, rules them out"
            )
        raise ModelRunError(
            f"row {row}: the model's scores are not finite numbers; its weights or its precision are broken"
        )


def _dead_end(row: int, path: AnswerPath) -> DeadEndError:
    explanation = f"row {row} expected {path.matcher.explain()}"
    return DeadEndError(
        DeadEnd(cause="tokenizer", prefix_tokens=len(path.ids), explanation=explanation, receipt=Receipt())
    )


def _counts(answer_tokens: int | Sequence[int]) -> list[int]:
    counts = [answer_tokens] if isinstance(answer_tokens, int) else list(answer_tokens)
    for count in counts:
        check_int("answer_tokens", count)
        if count < 0:
            raise MisuseError(f"answer_tokens must be 0 or more, found {count}")
    return counts


def _prompts(contracts: int | None, counts: int | None) -> int | None:
    """Return how many prompts there are; None where nothing was given for each of them."""
    if 0 in (contracts, counts):
        raise MisuseError("contracts and answer_tokens must name at least one; the list is empty")
    if contracts is not None and counts is not None and contracts != counts:
        raise MisuseError(f"contracts are given for {contracts} prompts, answer_tokens for {counts}")
    return contracts if counts is None else counts


def _only(token_id: int, width: int) -> Mask:
    mask = np.zeros(width, np.bool_)
    mask[token_id] = True
    return mask


__all__ = ["MaskProcessor", "MaskedAnswer"]
