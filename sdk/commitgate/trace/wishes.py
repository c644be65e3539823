"""Find the steps at which the model wanted something that the contract forbids."""

from __future__ import annotations

from commitgate.backends.base import StepTaken
from commitgate.trace.trace import Trace


def is_illegal_wish(step: StepTaken) -> bool:
    """Say whether the token that the model itself found likeliest was not legal."""
    return (
        bool(step.choices)
        and step.kind != "thought"
        and not max(step.choices, key=lambda choice: choice.probability).is_legal
    )


def illegal_wishes(trace: Trace) -> tuple[StepTaken, ...]:
    """Return these steps, of all requests, in order."""
    return tuple(
        piece.step
        for request in trace.requests
        for piece in request.pieces
        if piece.step is not None and is_illegal_wish(piece.step)
    )


__all__ = ["illegal_wishes", "is_illegal_wish"]
