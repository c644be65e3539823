"""Write one answer with the scheduler and a stand-in for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from commitgate.backends.base import Event
from commitgate_local.answer import Question
from commitgate_local.runtime.base import Row
from commitgate_local.scheduler import Scheduler


class Forward(Protocol):
    """Give logits for a growing run of tokens. It keeps what it was given; each call appends."""

    def prefill(self, ids: Sequence[int]) -> None:
        """Append tokens whose logits nobody asks for."""
        ...

    def forward(self, ids: Sequence[int]) -> Any:
        """Append at least one token, and return the logits of what comes next. [vocab]"""
        ...


class OneSlot:
    """Run one conversation with a stand-in for the model."""

    name = "stand-in"
    precision = "float32"
    slots = 1
    cache_bytes = 0
    width = 0
    context_tokens = 1 << 20

    def __init__(self, forward: Forward) -> None:
        self._forward = forward

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        (row,) = rows
        if row.wants_logits:
            return self._forward.forward(row.ids)[None]
        self._forward.prefill(row.ids)
        return torch.zeros(0, 0)

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        raise AssertionError("there is one slot")


def write(
    question: Question, forward: Forward, emit: Callable[[Event], None], cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Write one answer; see ``Scheduler.run``."""
    Scheduler(OneSlot(forward)).run(question, emit, cancelled)
