"""Tell of each step of an answer what the model itself would have chosen, and what the mask took away.

Source: design, "Sampling" (legal mass: raw logits in single precision, temperature 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from commitgate.backends.base import Choice, StepKind, StepTaken

if TYPE_CHECKING:
    import torch

    from commitgate_local.engine import Matcher
    from commitgate_local.vocabulary import Vocabulary
    from commitgate_local.walk import Mask


class StepTrace:
    """Tell of the steps of one answer, each before its text. Looking on changes no draw.

    Args:
        vocabulary: the tokens.
        count: how many of the likeliest tokens each step is told with, >= 0.
        emit: receives the steps.
    """

    def __init__(self, vocabulary: Vocabulary, count: int, emit: Callable[[StepTaken], None]) -> None:
        self._vocabulary = vocabulary
        self._count = count
        self._emit = emit
        self._text_bytes = 0
        self._last_at = perf_counter()
        self._state = ""
        self._place: str | None = None
        self._mask_s = 0.0

    def look(self, matcher: Matcher) -> None:
        """Note where the text stands before a step."""
        self._state = matcher.explain_state()
        self._place = matcher.place
        self._mask_s = 0.0

    def masked(self, mask: Callable[[], Mask]) -> Mask:
        """Return a mask, and note how long it took."""
        start = perf_counter()
        found = mask()
        self._mask_s = perf_counter() - start
        return found

    def forced(self, ids: Sequence[int], data: bytes) -> None:
        """Tell of a run that only one text can follow."""
        self._tell("forced", tuple(ids), data)

    def chosen(
        self, kind: StepKind, token_id: int | None, logits: torch.Tensor, mask: Mask, legal_mass: float | None
    ) -> None:
        """Tell of a step for which the model was asked.

        Args:
            kind: which.
            token_id: what was drawn; None where nothing was legal.
            logits: as the model gave them. [vocab] of any precision; not changed.
            mask: which tokens were legal. [vocab] bool
            legal_mass: probability of the legal ones together, in [0, 1].
        """
        ids = () if token_id is None else (token_id,)
        data = b"" if kind == "stop" else self._vocabulary.text(ids)
        raw = logits.detach().float().cpu().numpy()
        weights = np.exp(raw - raw.max())
        total = float(weights.sum())
        count = min(self._count, len(weights))
        best = np.argpartition(-weights, count - 1)[:count] if count else np.empty(0, np.intp)
        best = best[np.lexsort((best, -weights[best]))]
        listed = [int(each) for each in best]
        if token_id is not None and token_id not in listed:
            listed.append(token_id)
        choices = tuple(self._choice(each, float(weights[each]) / total, mask) for each in listed)
        legal = int(np.count_nonzero(mask))
        self._tell(kind, ids, data, choices=choices, legal_mass=legal_mass, legal_tokens=legal)

    def _choice(self, token_id: int, probability: float, mask: Mask) -> Choice:
        tokens = self._vocabulary.tokens
        data = tokens[token_id] if token_id < len(tokens) else None
        return Choice(token_id, data, probability if math.isfinite(probability) else 0.0, bool(mask[token_id]))

    def _tell(
        self,
        kind: StepKind,
        ids: tuple[int, ...],
        data: bytes,
        *,
        choices: tuple[Choice, ...] = (),
        legal_mass: float | None = None,
        legal_tokens: int | None = None,
    ) -> None:
        now = perf_counter()
        step = StepTaken(
            kind=kind,
            token_ids=ids,
            data=data,
            text_bytes=self._text_bytes,
            choices=choices,
            legal_mass=legal_mass,
            legal_tokens=legal_tokens,
            vocabulary_tokens=self._vocabulary.width,
            state=self._state,
            place=self._place,
            mask_s=self._mask_s,
            step_s=now - self._last_at,
        )
        self._last_at = now
        if kind in ("drawn", "forced"):
            self._text_bytes += len(data)
        self._emit(step)


__all__ = ["StepTrace"]
