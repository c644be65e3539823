"""Read how much a request lets a model think before it answers, and give it its share of what the server allows.

Source: OpenAI's reference of chat completions as the types of openai-python 3.57 have it (``reasoning_effort``).
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, assert_never

from commitgate_local.server.refusal import bad_request

if TYPE_CHECKING:
    from commitgate.reasoning import Reasoning
    from commitgate_local.server.request_fields import Fields

EFFORT_FIELD: Final = "reasoning_effort"
"""The field that says how much a model may think."""


class Effort(StrEnum):
    """Say how much of the server's budget a model may think."""

    NONE = "none"
    LOW = "low"
    """A quarter."""
    MEDIUM = "medium"
    """Half."""
    HIGH = "high"
    """All, as where nothing is said."""


def read_effort(given: Fields) -> Effort | None:
    """Return how much a body lets the model think; None where it does not say.

    Raises:
        RequestRefused: it is no such word.
    """
    word = given.word(EFFORT_FIELD, [effort.value for effort in Effort])
    return None if word is None else Effort(word)


def reasoning_of(effort: Effort | None, allowed: Reasoning | None) -> Reasoning | None:
    """Return how the model may think.

    Args:
        effort: what the request says.
        allowed: what the server allows; None where models answer at once.

    Raises:
        RequestRefused: it asks for thoughts where there are none.
    """
    if allowed is None:
        if effort not in (None, Effort.NONE):
            raise bad_request(
                f"{EFFORT_FIELD} must be none or left out: this server lets its model answer at once",
                param=EFFORT_FIELD,
                code="unsupported_parameter",
            )
        return None
    return replace(allowed, max_tokens=_share(effort, allowed.max_tokens))


def _share(effort: Effort | None, tokens: int) -> int:
    match effort:
        case Effort.NONE:
            return 0
        case Effort.LOW:
            return tokens // 4
        case Effort.MEDIUM:
            return tokens // 2
        case Effort.HIGH | None:
            return tokens
        case _:
            assert_never(effort)


__all__ = ["EFFORT_FIELD", "Effort", "read_effort", "reasoning_of"]
