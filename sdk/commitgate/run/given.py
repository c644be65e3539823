"""Judge JSON that is given in place of a model's answer: the arguments of a tool call that stand in a stored turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Generic, TypeVar

from commitgate.gate.judge import Chosen, Judge
from commitgate.outcome import Ending, Failed, NeedsApproval
from commitgate.run.facts import Facts
from commitgate.run.scrutiny import Scrutiny
from commitgate.worker_thread import aside

T = TypeVar("T")
E = TypeVar("E", bound=Ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given(Generic[T]):
    """Take one given text through the layers.

    Args:
        text: it; the one who gives it vouches for its being whole.
        judge: judges it.
        scrutiny: holds the checks.
        facts: where to note what is learnt.
    """

    text: bytes = field(repr=False)
    judge: Judge[T]
    scrutiny: Scrutiny[T]
    facts: Facts

    async def choose(self) -> Chosen[T] | Failed:
        """Return the value, or what stands against it."""
        self.facts.layers = self.judge.records
        chosen = await aside(self.text, lambda: self.judge.choose(self.text))
        if not isinstance(chosen, Chosen):
            return self._filled(chosen)
        ending = await self.judge.deliberate(chosen.value, self.scrutiny.checks, self.scrutiny.context())
        if ending is None or isinstance(ending, NeedsApproval):
            self.facts.value_digest = sha256(chosen.value_json).hexdigest()
            self.facts.proposed = chosen.value_json
        return chosen if ending is None else self._filled(ending)

    def _filled(self, ending: E) -> E:
        """Return the ending with its receipt; what was given is its text, as what a model wrote would be."""
        return replace(self.facts.fill(ending), partial_text=self.text.decode(errors="replace"))


__all__ = ["Given"]
