"""Define one turn of a model, each call in it, and the keys of its JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from typing_extensions import TypeVar

A_co = TypeVar("A_co", covariant=True, default=str)

ANSWER = "answer"
ARGUMENTS = "arguments"
CALLS = "calls"
NAME = "name"

MAX_CALLS = 256
"""Most calls that a turn can be allowed."""

DEFAULT_CALLS = 8
"""Most calls of a turn where the caller does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """Hold one call that a turn asks for.

    Attributes:
        turn: number of the turn, from 1.
        ordinal: which call of the turn it is, from 1. These two are its identity, never what the vendor calls it.
        name: the tool.
        arguments_json: its arguments, byte for byte as they stand in the turn.
    """

    turn: int
    ordinal: int
    name: str
    arguments_json: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Turn(Generic[A_co]):
    """Hold one whole turn: calls, or an answer.

    Attributes:
        number: from 1.
        calls: what it asks for, in order; empty where it answers.
        answer: its answer; None where it calls.
        text: the turn itself.
    """

    number: int
    calls: tuple[ToolCall, ...]
    answer: A_co | None = field(default=None, repr=False)
    text: str = field(repr=False)


__all__ = ["ANSWER", "ARGUMENTS", "CALLS", "DEFAULT_CALLS", "MAX_CALLS", "NAME", "ToolCall", "Turn"]
