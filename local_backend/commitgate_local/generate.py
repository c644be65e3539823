"""Write an answer token by token: forced runs, mask, draw, until the automaton or a limit says stop.

The loop is synchronous and made for a worker thread: it hands out events as they happen, and asks between any two
forward passes whether it has been cancelled. It decides nothing about what the events mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commitgate.backends.base import DeadEndReached, Fault, Finish, FinishReason, TextDelta, Usage
from commitgate.errors import LimitExceededError, ModelRunError
from commitgate_local.model_errors import model_breaks
from commitgate_local.sampling import Draw, NothingLegal, draw, make_generator

if TYPE_CHECKING:
    import torch

    from commitgate.backends.base import Event, Sampling
    from commitgate_local.engine import Matcher
    from commitgate_local.forced import ForcedRuns
    from commitgate_local.forward import Forward
    from commitgate_local.vocabulary import Vocabulary

# A prompt is fed in pieces, so that a cancel is heard within the time of one piece and memory stays bounded.
PREFILL_TOKENS: Final = 128

# Bytes of the answer kept for splitting forced runs; no more of it is looked at.
_TAIL_BYTES: Final = 256

NATIVE_ACCEPT: Final = "accept"
NATIVE_STOP: Final = "stop"
NATIVE_MAX_TOKENS: Final = "max_tokens"
NATIVE_CONTEXT: Final = "context"


class _CancelledError(Exception):
    """Leave the loop because the caller wants no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Hold what one answer is made with.

    Attributes:
        forward: the model, fresh: it has seen no token yet.
        matcher: the constraint, at the beginning of the text.
        vocabulary: the tokens.
        prompt: ids of the prompt, at least one.
        sampling: how to draw, and how many tokens at most.
        forced_runs: feeds what only one text can follow; None asks the model for each token.
        context_tokens: most tokens that the model can hold, prompt and answer together; None for no limit.
    """

    forward: Forward
    matcher: Matcher
    vocabulary: Vocabulary
    prompt: Sequence[int]
    sampling: Sampling
    forced_runs: ForcedRuns | None = None
    context_tokens: int | None = None


def decode(decoding: Decoding, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> None:
    """Write one answer.

    Args:
        decoding: what to write it with.
        emit: receives each event: text, then usage and how it ended; or a fault, after which nothing follows.
        cancelled: asked before each forward pass; True ends the loop without any further event.

    Raises:
        What ``emit`` raises; nothing else. A broken model is a ``Fault`` event.
    """
    loop = _Loop(decoding, emit, cancelled)
    try:
        ending = loop.run()
    except _CancelledError:
        return
    except ModelRunError as error:
        ending = Fault(kind="model", message=str(error))
    except LimitExceededError as error:
        # States are made while the text grows; a contract that needs too many can go no further.
        ending = DeadEndReached(cause="schema", prefix_tokens=loop.written, explanation=str(error))
    if not isinstance(ending, Fault):
        emit(Usage(input_tokens=len(decoding.prompt), output_tokens=loop.written))
    emit(ending)


class _Loop:
    """Hold the state of one answer.

    Attributes:
        written: tokens of the answer so far.
    """

    def __init__(self, decoding: Decoding, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> None:
        self._with = decoding
        self._emit = emit
        self._cancelled = cancelled
        self._generator = make_generator(decoding.sampling.seed)
        self._pending = list(decoding.prompt)
        self._tail = b""
        self.written = 0

    def run(self) -> Finish | DeadEndReached:
        """Write until the end, and return how it ended."""
        self._check_prompt()
        matcher = self._with.matcher
        while True:
            if matcher.is_finished:
                return Finish(FinishReason.STOP, NATIVE_ACCEPT)
            left = self._with.sampling.max_tokens - self.written
            if left <= 0:
                return Finish(FinishReason.LENGTH, NATIVE_MAX_TOKENS)
            if self._write_forced(left):
                continue
            if self._is_full():
                return Finish(FinishReason.LENGTH, NATIVE_CONTEXT)
            mask = matcher.mask()
            drawn = draw(self._next_logits(), mask, self._with.sampling, self._generator)
            if isinstance(drawn, NothingLegal):
                return DeadEndReached(
                    cause="tokenizer", prefix_tokens=self.written, explanation=f"expected {matcher.explain()}"
                )
            matcher.advance(drawn.token_id)
            if drawn.token_id in self._with.vocabulary.stop_ids:
                return Finish(FinishReason.STOP, NATIVE_STOP)
            self._write_drawn(drawn)

    def _check_prompt(self) -> None:
        limit = self._with.context_tokens
        if not self._pending:
            raise ModelRunError("the prompt is empty; a model needs at least one token to start from")
        if limit is not None and len(self._pending) > limit:
            raise ModelRunError(f"the prompt has {len(self._pending)} tokens, the model's context holds {limit}")

    def _is_full(self) -> bool:
        limit = self._with.context_tokens
        return limit is not None and len(self._with.prompt) + self.written > limit

    def _write_forced(self, most: int) -> bool:
        runs = self._with.forced_runs
        if runs is None:
            return False
        ids = runs.tokens(self._with.matcher.state, self._tail)[:most]
        if not ids:
            return False
        for token_id in ids:
            self._with.matcher.advance(token_id)
        self._write(ids, legal_mass=None, is_forced=True)
        return True

    def _write_drawn(self, drawn: Draw) -> None:
        self._write((drawn.token_id,), legal_mass=drawn.legal_mass, is_forced=False)

    def _write(self, ids: Sequence[int], *, legal_mass: float | None, is_forced: bool) -> None:
        data = self._with.vocabulary.text(ids)
        self._pending.extend(ids)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        self.written += len(ids)
        self._emit(TextDelta(data=data, legal_mass=legal_mass, is_forced=is_forced, tokens=len(ids)))

    def _next_logits(self) -> torch.Tensor:
        """Feed what is pending, and return the logits of what comes next. [vocab] float32"""
        pending, self._pending = self._pending, []
        last = max(0, len(pending) - 1) // PREFILL_TOKENS * PREFILL_TOKENS
        for start in range(0, last, PREFILL_TOKENS):
            self._check_cancelled()
            with model_breaks():
                self._with.forward.prefill(pending[start : start + PREFILL_TOKENS])
        self._check_cancelled()
        with model_breaks():
            # Of whatever precision and place; no logits at all fail here too.
            logits = self._with.forward.forward(pending[last:]).float().cpu()
        # A cancel during a long pass is heard before its token is written.
        self._check_cancelled()
        if logits.shape != (self._with.vocabulary.width,):
            raise ModelRunError(
                f"the model gave logits of shape {tuple(logits.shape)}, the vocabulary is "
                f"{self._with.vocabulary.width} wide"
            )
        return logits

    def _check_cancelled(self) -> None:
        if self._cancelled():
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
