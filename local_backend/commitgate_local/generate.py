"""Write one answer with a model that nobody else uses.

The loop is synchronous and made for a worker thread: it hands out events as they happen, and asks between any two
forward passes whether it has been cancelled. It decides nothing about what the events mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commitgate.errors import ModelRunError
from commitgate_local.answer import (
    NATIVE_ACCEPT,
    NATIVE_CONTEXT,
    NATIVE_MAX_TOKENS,
    NATIVE_STOP,
    Answer,
    Question,
)
from commitgate_local.model_errors import model_breaks

if TYPE_CHECKING:
    import torch

    from commitgate.backends.base import Event
    from commitgate_local.forward import Forward

# A prompt is fed in pieces, so that a cancel is heard within the time of one piece and memory stays bounded.
PREFILL_TOKENS: Final = 128


class _CancelledError(Exception):
    """Leave the loop because the caller wants no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding(Question):
    """Hold what one answer is made with.

    Attributes:
        forward: the model, fresh: it has seen no token yet.
    """

    forward: Forward


def decode(decoding: Decoding, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> None:
    """Write one answer.

    Args:
        decoding: what to write it with.
        emit: receives each event: text, then usage and how it ended; or a fault, after which nothing follows.
        cancelled: asked before each forward pass; True ends the loop without any further event.

    Raises:
        What ``emit`` raises; nothing else. A broken model is a ``Fault`` event.
    """
    answer = Answer(decoding, emit)
    answer.begin()
    try:
        while not answer.is_over:
            try:
                logits = _logits(decoding.forward, answer, cancelled)
            except ModelRunError as error:
                answer.fail(error)
            else:
                answer.take(logits)
    except _CancelledError:
        return


def _logits(forward: Forward, answer: Answer, cancelled: Callable[[], bool]) -> torch.Tensor:
    """Feed what is pending, and return the logits of what comes next. [vocab]"""
    pending, answer.pending = answer.pending, []
    last = max(0, len(pending) - 1) // PREFILL_TOKENS * PREFILL_TOKENS
    for start in range(0, last, PREFILL_TOKENS):
        _check_cancelled(cancelled)
        with model_breaks():
            forward.prefill(pending[start : start + PREFILL_TOKENS])
    _check_cancelled(cancelled)
    with model_breaks():
        # Of whatever precision and place; no logits at all fail here too.
        logits = forward.forward(pending[last:]).float().cpu()
    # A cancel during a long pass is heard before its token is written.
    _check_cancelled(cancelled)
    return logits


def _check_cancelled(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise _CancelledError


__all__ = [
    "NATIVE_ACCEPT",
    "NATIVE_CONTEXT",
    "NATIVE_MAX_TOKENS",
    "NATIVE_STOP",
    "PREFILL_TOKENS",
    "Decoding",
    "decode",
]
