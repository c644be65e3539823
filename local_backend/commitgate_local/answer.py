"""Write one answer step by step: thoughts, forced runs, mask, draw, until the automaton or a limit says stop.

An answer feeds nothing to a model by itself. It says which tokens the model has not seen yet, and takes the logits of
what comes next; so one loop can drive a single answer, and another one many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from commitgate.backends.base import (
    DeadEndReached,
    Fault,
    Finish,
    FinishReason,
    Notice,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from commitgate.errors import LimitExceededError, ModelRunError
from commitgate_local.sampling import Draw, NothingLegal, draw, make_generator
from commitgate_local.step_trace import StepTrace

if TYPE_CHECKING:
    import torch

    from commitgate.backends.base import Event, Sampling, StepTaken
    from commitgate_local.engine import Matcher
    from commitgate_local.forced import ForcedRuns
    from commitgate_local.reasoning import Thoughts
    from commitgate_local.vocabulary import Vocabulary
    from commitgate_local.walk import Mask

# Bytes of the answer kept for splitting forced runs; no more of it is looked at.
_TAIL_BYTES: Final = 256

NATIVE_ACCEPT: Final = "accept"
NATIVE_STOP: Final = "stop"
NATIVE_MAX_TOKENS: Final = "max_tokens"
NATIVE_CONTEXT: Final = "context"

TracedEvent: TypeAlias = "Event | StepTaken"
"""What an answer hands out: events, and before the text of each step, where they are wanted, what it was."""

Ending: TypeAlias = "Finish | DeadEndReached | Fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Hold what one answer is made with, but for the model.

    Attributes:
        matcher: the constraint, at the beginning of the text.
        vocabulary: the tokens.
        prompt: ids of the prompt, at least one.
        sampling: how to draw, and how many tokens at most.
        forced_runs: feeds what only one text can follow; None asks the model for each token.
        context_tokens: most tokens that the model can hold, prompt, thoughts and answer together; None for no limit.
        thoughts: what the model writes before its answer, at their beginning; None where it answers at once.
        traced_choices: how many of the model's likeliest tokens each step is told with; None tells of no step.
    """

    matcher: Matcher
    vocabulary: Vocabulary
    prompt: Sequence[int]
    sampling: Sampling
    forced_runs: ForcedRuns | None = None
    context_tokens: int | None = None
    thoughts: Thoughts | None = None
    traced_choices: int | None = None


class Answer:
    """Write one answer. Every step is bounded, and raises nothing but what ``emit`` raises.

    Args:
        question: what to write it with.
        emit: receives each event: text, then usage and how it ended; or a fault, after which nothing follows.

    Attributes:
        pending: ids that the model has not seen yet; whoever feeds them takes them away.
        written: tokens of the answer so far.
        thought: tokens before the answer so far: thoughts, their end mark, and the gap behind it.
        is_over: the ending was handed out.
    """

    def __init__(self, question: Question, emit: Callable[[TracedEvent], None]) -> None:
        self._with = question
        self._emit = emit
        self._generator = make_generator(question.sampling.seed)
        self._tail = b""
        traced = question.traced_choices
        self._trace = None if traced is None else StepTrace(question.vocabulary, traced, emit)
        self.pending = list(question.prompt)
        self.written = self.thought = 0
        self.is_over = False

    def begin(self) -> None:
        """Write what needs no model before its first token; the answer may be over with it."""
        self._guarded(self._begin)

    def prepare(self) -> None:
        """Work out the mask of the next draw ahead of it; it changes nothing, and may be left out."""
        if self._thinking is None:
            self._with.matcher.mask()

    def take(self, logits: torch.Tensor) -> None:
        """Draw the next token, and write what follows it without the model; the answer may be over with it.

        Args:
            logits: of what comes after all pending ids. [vocab] of any precision and place; not changed.
        """

        def step() -> Ending | None:
            return self._draw(logits) or self._go_on()

        self._guarded(step)

    def fail(self, error: ModelRunError) -> None:
        """End the answer because the model broke."""
        self._end(Fault(kind="model", message=str(error)))

    def _guarded(self, step: Callable[[], Ending | None]) -> None:
        try:
            ending = step()
        except ModelRunError as error:
            ending = Fault(kind="model", message=str(error))
        except LimitExceededError as error:
            # States are made while the text grows; a contract that needs too many can go no further.
            ending = DeadEndReached(cause="schema", prefix_tokens=self.written, explanation=str(error))
        if ending is not None:
            self._end(ending)

    def _end(self, ending: Ending) -> None:
        self.is_over = True
        if not isinstance(ending, Fault):
            thought = None if self._with.thoughts is None else self.thought
            total = self.written + self.thought
            self._emit(Usage(input_tokens=len(self._with.prompt), output_tokens=total, reasoning_tokens=thought))
        self._emit(ending)

    def _begin(self) -> Ending | None:
        limit, thoughts = self._with.context_tokens, self._with.thoughts
        if not self.pending:
            raise ModelRunError("the prompt is empty; a model needs at least one token to start from")
        # What ends the thoughts is fed like the prompt, so it must have room as the prompt must.
        needed = len(self.pending) + (0 if thoughts is None else thoughts.ending_tokens)
        if limit is not None and needed > limit:
            message = f"the prompt has {needed} tokens, the model's context holds {limit}; make it shorter"
            return Fault(kind="bad_request", message=message, code="context_length_exceeded")
        if limit is not None and thoughts is not None:
            thoughts.leave_room(limit - needed - self._with.sampling.max_tokens)
        return self._go_on()

    @property
    def _thinking(self) -> Thoughts | None:
        """Return the thoughts that are not over yet."""
        thoughts = self._with.thoughts
        return None if thoughts is None or thoughts.is_over else thoughts

    def _go_on(self) -> Ending | None:
        """Write what needs no choice; return how the answer ends, None where the model must choose."""
        thoughts = self._thinking
        if thoughts is not None and thoughts.left > 0:
            return None
        if thoughts is not None:
            self._think(thoughts, thoughts.cut())
        matcher = self._with.matcher
        while True:
            if matcher.is_finished:
                return Finish(FinishReason.STOP, NATIVE_ACCEPT)
            left = self._with.sampling.max_tokens - self.written
            if left <= 0:
                return Finish(FinishReason.LENGTH, NATIVE_MAX_TOKENS)
            if not self._write_forced(left):
                break
        limit = self._with.context_tokens
        if limit is not None and len(self._with.prompt) + self.thought + self.written > limit:
            return Finish(FinishReason.LENGTH, NATIVE_CONTEXT)
        return None

    def _write_forced(self, most: int) -> bool:
        runs = self._with.forced_runs
        if runs is None:
            return False
        ids = runs.tokens(self._with.matcher.state, self._tail)[:most]
        if not ids:
            return False
        if self._trace is not None:
            self._trace.look(self._with.matcher)
            self._trace.forced(ids, self._with.vocabulary.text(ids))
        for token_id in ids:
            self._with.matcher.advance(token_id)
        self._write(ids, legal_mass=None, is_forced=True)
        return True

    def _draw(self, logits: torch.Tensor) -> Ending | None:
        width = self._with.vocabulary.width
        if logits.shape != (width,):
            raise ModelRunError(f"the model gave logits of shape {tuple(logits.shape)}, the vocabulary is {width} wide")
        matcher, thoughts = self._with.matcher, self._thinking
        mask = self._mask(thoughts)
        drawn = draw(logits, mask, self._with.sampling, self._generator)
        if self._trace is not None:
            self._trace_draw(self._trace, drawn, logits, mask, is_thought=thoughts is not None)
        if isinstance(drawn, NothingLegal):
            explanation = f"expected {matcher.explain()}"
            return DeadEndReached(cause="tokenizer", prefix_tokens=self.written, explanation=explanation)
        if thoughts is not None:
            self._feed_thought((drawn.token_id,))
            self._think(thoughts, thoughts.take(drawn.token_id))
            return None
        matcher.advance(drawn.token_id)
        if drawn.token_id in self._with.vocabulary.stop_ids:
            return Finish(FinishReason.STOP, NATIVE_STOP)
        self._write_drawn(drawn)
        return None

    def _mask(self, thoughts: Thoughts | None) -> Mask:
        mask = self._with.matcher.mask if thoughts is None else thoughts.mask
        if self._trace is None:
            return mask()
        self._trace.look(self._with.matcher)
        return self._trace.masked(mask)

    def _trace_draw(
        self, trace: StepTrace, drawn: Draw | NothingLegal, logits: torch.Tensor, mask: Mask, *, is_thought: bool
    ) -> None:
        if isinstance(drawn, NothingLegal):
            trace.chosen("dead_end", None, logits, mask, 0.0)
            return
        is_stop = drawn.token_id in self._with.vocabulary.stop_ids
        kind = "thought" if is_thought else "stop" if is_stop else "drawn"
        trace.chosen(kind, drawn.token_id, logits, mask, None if is_thought else drawn.legal_mass)

    def _think(self, thoughts: Thoughts, shown: bytes) -> None:
        """Hand out thoughts; where they are over, begin the answer behind them."""
        if shown:
            self._emit(ReasoningDelta(shown))
        if not thoughts.is_over:
            return
        if thoughts.is_cut:
            self._emit(Notice("reasoning_cut"))
        self._feed_thought(thoughts.ids)
        self._tail = thoughts.context
        if thoughts.answer:
            # They came with a token that is counted among the thoughts, which is what it was drawn as.
            self._with.matcher.advance_bytes(thoughts.answer)
            self._tell(thoughts.answer, legal_mass=None, is_forced=False, tokens=0)

    def _feed_thought(self, ids: Sequence[int]) -> None:
        self.pending.extend(ids)
        self.thought += len(ids)

    def _write_drawn(self, drawn: Draw) -> None:
        self._write((drawn.token_id,), legal_mass=drawn.legal_mass, is_forced=False)

    def _write(self, ids: Sequence[int], *, legal_mass: float | None, is_forced: bool) -> None:
        self.pending.extend(ids)
        self.written += len(ids)
        self._tell(self._with.vocabulary.text(ids), legal_mass=legal_mass, is_forced=is_forced, tokens=len(ids))

    def _tell(self, data: bytes, *, legal_mass: float | None, is_forced: bool, tokens: int) -> None:
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        self._emit(TextDelta(data=data, legal_mass=legal_mass, is_forced=is_forced, tokens=tokens))


__all__ = [
    "NATIVE_ACCEPT",
    "NATIVE_CONTEXT",
    "NATIVE_MAX_TOKENS",
    "NATIVE_STOP",
    "Answer",
    "Question",
    "TracedEvent",
]
