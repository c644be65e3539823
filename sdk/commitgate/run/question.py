"""Hold what a model is asked, and make the next question out of what was wrong with its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commitgate.backends.base import Message, Sampling
from commitgate.contract import Contract
from commitgate.gate.layers import Failure
from commitgate.harmless import harmless
from commitgate.outcome import Invalid
from commitgate.reasoning import Reasoning
from commitgate.retry.keys import OperationKey, request_key

MOST_QUOTED_CHARACTERS = 16_384
"""Most characters of a refused answer that are shown to the model again."""

MOST_REASONS = 20
"""Most reasons that are told to the model."""

MOST_REASON_CHARACTERS = 500
"""Most characters of a reason, and of its place and code, that are told to the model."""

_LEFT_OUT = "\n…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Hold one question; retries ask it again word for word, under the same key.

    Attributes:
        messages: the conversation.
        sampling: how to draw.
        number: how many questions the call asked before, from 0.
    """

    messages: tuple[Message, ...] = field(repr=False)
    sampling: Sampling
    number: int = 0

    def key(
        self,
        contract: Contract[object],
        model: str,
        *,
        is_constrained: bool,
        reasoning: Reasoning | None = None,
        operation_key: OperationKey | None,
        call_id: str,
    ) -> str:
        """Return the idempotency key of its requests.

        Args:
            contract: what the answer must satisfy.
            model: the model's name at the backend.
            is_constrained: as in the request; a fallback has another body, so a server must not take it for a retry.
            reasoning: how the model may think first.
            operation_key: the business act; None where the call has none.
            call_id: a random id of the call.
        """
        said = [[message.role, message.content] for message in self.messages]
        asked = [model, contract.full_digest, is_constrained, said, repr(self.sampling)]
        if reasoning is not None:
            asked.append(repr(reasoning))
        body = json.dumps(asked, separators=(",", ":")).encode()
        return request_key(operation_key=operation_key, call_id=call_id, re_ask=self.number, body=body)

    def larger(self, max_tokens: int) -> Question:
        """Return the same question with another limit on the answer."""
        return replace(self, sampling=replace(self.sampling, max_tokens=max_tokens), number=self.number + 1)

    def corrected(self, text: str, invalid: Invalid, *, is_json: bool = True) -> Question:
        """Return the question that shows the model its answer and what is wrong with it.

        Args:
            text: the answer; one that is blank, as a text that is no JSON may be, is told in quotes.
            invalid: what the gate found.
            is_json: the answer is to be JSON, and no other text.
        """
        quoted = text if len(text) <= MOST_QUOTED_CHARACTERS else text[:MOST_QUOTED_CHARACTERS] + _LEFT_OUT
        quoted = quoted if quoted.strip() else json.dumps(quoted)
        said = (Message("assistant", quoted), Message("user", reasons(invalid.failures, is_json=is_json)))
        return replace(self, messages=(*self.messages, *said), number=self.number + 1)


def reasons(failures: Sequence[Failure], *, is_json: bool = True) -> str:
    """Return what is wrong, for the model to read: places and reasons, and nothing of ``Failure.data``."""
    wanted = "JSON" if is_json else "text"
    lines = [f"That answer cannot be used. Answer again with the whole {wanted}, and correct this:"]
    for failure in failures[:MOST_REASONS]:
        place, reason, code = map(_on_one_line, (failure.pointer, failure.message, failure.code))
        lines.append(f"- {place or 'the whole answer'}: {reason} ({code})")
    if len(failures) > MOST_REASONS:
        lines.append(f"- and {len(failures) - MOST_REASONS} more")
    return "\n".join(lines)


def _on_one_line(words: str) -> str:
    """Return words of a reason as they may be told: they may quote an answer or a record that somebody else wrote."""
    return harmless(words[:MOST_REASON_CHARACTERS])


__all__ = ["MOST_QUOTED_CHARACTERS", "MOST_REASONS", "MOST_REASON_CHARACTERS", "Question", "reasons"]
