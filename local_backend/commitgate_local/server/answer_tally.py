"""Note what one answer of the model was like, for the metrics: why it ended, how fast it came, how sure it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import assert_never

from commitgate.backends.base import (
    DeadEndCause,
    DeadEndReached,
    Fault,
    FaultKind,
    Finish,
    FinishReason,
    RefusalDelta,
    StreamEvent,
    TextDelta,
)
from commitgate.languages import Choices, Grammar, Regex
from commitgate_local.server.chat_format import AnswerFormat, JsonFormat, SchemaFormat, TextFormat
from commitgate_local.server.chat_request import ChatRequest


class Constraint(StrEnum):
    """Name what an answer was held to."""

    NONE = "none"
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    REGEX = "regex"
    GRAMMAR = "grammar"
    CHOICES = "choices"
    OTHER = "other"
    TOOLS = "tools"


def constraint_of(request: ChatRequest) -> Constraint:
    """Return what the answer to a request is held to."""
    return Constraint.TOOLS if request.tools is not None else _of_format(request.answer_format)


def _of_format(asked: AnswerFormat | None) -> Constraint:
    match asked:
        case None:
            return Constraint.NONE
        case SchemaFormat():
            return Constraint.JSON_SCHEMA
        case JsonFormat():
            return Constraint.JSON_OBJECT
        case TextFormat(language=Regex()):
            return Constraint.REGEX
        case TextFormat(language=Grammar()):
            return Constraint.GRAMMAR
        case TextFormat(language=Choices()):
            return Constraint.CHOICES
        case TextFormat():
            return Constraint.OTHER
        case _:
            assert_never(asked)


@dataclass(slots=True, kw_only=True)
class AnswerTally:
    """Note what one answer was like.

    Attributes:
        constraint: what it was held to.
        finish: why the model stopped; None where it did not: the client left, a limit was reached, something failed.
        fault: what sort of failure ended it.
        dead_end: why no token was legal, where none was.
        is_refusal: the model declined.
        drawn_tokens: tokens of the answer that the model chose.
        forced_tokens: tokens of the answer that alone could follow.
        legal_mass_min: least legal mass of the steps that were drawn.
    """

    constraint: Constraint
    finish: FinishReason | None = None
    fault: FaultKind | None = None
    dead_end: DeadEndCause | None = None
    is_refusal: bool = False
    drawn_tokens: int = 0
    forced_tokens: int = 0
    legal_mass_min: float | None = None
    _first_at: float | None = field(default=None)
    _last_at: float = field(default=0.0)
    _mass_sum: float = field(default=0.0)
    _mass_count: int = field(default=0)

    def note(self, event: StreamEvent, now: float) -> None:
        """Take one event, at that time in seconds."""
        match event:
            case TextDelta():
                self._note_text(event, now)
            case Finish():
                self.finish = event.reason
                self.is_refusal = self.is_refusal or event.reason is FinishReason.REFUSAL
            case RefusalDelta():
                self.is_refusal = True
            case Fault():
                self.fault = event.kind
            case DeadEndReached():
                self.dead_end = event.cause
            case _:
                pass

    def _note_text(self, delta: TextDelta, now: float) -> None:
        self._first_at = now if self._first_at is None else self._first_at
        self._last_at = now
        if delta.is_forced:
            self.forced_tokens += delta.tokens or 0
        else:
            self.drawn_tokens += delta.tokens or 0
        mass = delta.legal_mass
        if mass is not None and isfinite(mass):
            self.legal_mass_min = mass if self.legal_mass_min is None else min(self.legal_mass_min, mass)
            self._mass_sum += mass
            self._mass_count += 1

    @property
    def legal_mass_mean(self) -> float | None:
        """Return the mean legal mass of the steps that were drawn."""
        return self._mass_sum / self._mass_count if self._mass_count else None

    @property
    def time_per_token_s(self) -> float | None:
        """Return the mean seconds of a token after the first; None where there are fewer than two."""
        tokens = self.drawn_tokens + self.forced_tokens
        return None if self._first_at is None or tokens < 2 else (self._last_at - self._first_at) / (tokens - 1)


__all__ = ["AnswerTally", "Constraint", "constraint_of"]
