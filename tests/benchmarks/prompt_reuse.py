"""Measure the time to the first token of requests whose prompts begin alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from results import Row
from ticket_question import Ticket, beginning, questions

from commitgate import Contract, Message, Sampling
from commitgate.backends.base import Event, GenerationRequest, TextDelta
from commitgate_local import LocalModel

# Beginnings that no other part of the benchmark uses.
_FIRST_VARIANT = 50_000


class PromptReuse:
    """Ask a model the questions of the ticket example, each round with another beginning.

    Args:
        model: the model.
    """

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._contract: Contract[object] = Contract[object].of(Ticket)
        self._variant = _FIRST_VARIANT

    def measure(self, rounds: int) -> dict[str, list[float]]:
        """Return the seconds to the first drawn token by how much of the prompt was seen before."""
        found: dict[str, list[float]] = {"new prompt": [], "same beginning": [], "same prompt": []}
        for _ in range(rounds):
            self._variant += 1
            conversations = [self._conversation(one.messages) for one in questions(key="reuse")]
            found["new prompt"].append(self._first_s(conversations[0]))
            found["same beginning"].append(self._first_s(conversations[1]))
            found["same prompt"].append(self._first_s(conversations[1]))
        return found

    def _conversation(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return (beginning(self._variant, messages[0]), *messages[1:])

    def _first_s(self, messages: tuple[Message, ...]) -> float:
        at: list[float] = []

        def tell(event: Event) -> None:
            if isinstance(event, TextDelta) and not event.is_forced:
                at.append(time.perf_counter())

        request = GenerationRequest(
            model="", contract=self._contract, messages=messages, sampling=Sampling(temperature=0.0, max_tokens=12)
        )
        begun = time.perf_counter()
        self._model.generate(request, tell, lambda: False)
        return at[0] - begun


def rows_of(found: dict[str, list[float]]) -> list[Row]:
    """Return what the report shows of the times."""
    return [
        Row(
            what="Time to the first drawn token, by what was seen before",
            who=name,
            unit="ms",
            values={"least": min(times) * 1e3, "median": statistics.median(times) * 1e3},
            ratio={
                "least": min(times) / min(found["new prompt"]),
                "median": statistics.median(times) / statistics.median(found["new prompt"]),
            },
        )
        for name, times in found.items()
    ]


__all__ = ["PromptReuse", "rows_of"]
