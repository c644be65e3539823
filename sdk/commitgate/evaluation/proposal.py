"""Make the value that an answer proposes out of its text, also where the gate kept it from being handed over."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import cast

from commitgate.backends.base import Backend, Remote
from commitgate.backends.translation import Translation
from commitgate.contract import Contract
from commitgate.errors import ContractError
from commitgate.evaluation.form import AnyOutcome
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.json_value import JsonValue
from commitgate.outcome import Committed


@dataclass(frozen=True, slots=True)
class Proposal:
    """Hold what an answer proposes.

    Attributes:
        json: as the model wrote it, as JSON; of a contract of text the text.
        typed: of the type asked for.
    """

    json: JsonValue = field(repr=False)
    typed: object = field(repr=False)


class Proposals:
    """Make proposals of one contract. All of it is CPU work for a worker thread.

    Args:
        contract: what answers must satisfy.
        backend: who answers; one of a server may write in another shape than the contract's.
    """

    def __init__(self, contract: Contract[object], backend: Backend) -> None:
        self._contract = contract
        self._backend = backend
        self._translation: Translation | None = None

    def of(self, outcome: AnyOutcome, *, is_constrained: bool) -> Proposal | None:
        """Return what an outcome whose text passed the schema proposes; None where that cannot be made out.

        Args:
            outcome: how the call ended.
            is_constrained: the answer came in the server's own shape.
        """
        text = (outcome.text if isinstance(outcome, Committed) else outcome.partial_text).encode(errors="replace")
        if is_constrained and self._contract.text is None:
            text = self._restored(text)
        value: JsonValue = text.decode(errors="replace")
        if self._contract.text is None:
            parsed = strict_parse(text, nesting=self._contract.limits.nesting)
            if not isinstance(parsed, Parsed):
                return None
            value = parsed.value
        if isinstance(outcome, Committed):
            return Proposal(value, outcome.value)
        chosen = Judge(self._contract, clock=time.perf_counter).choose(text)
        return Proposal(value, chosen.value) if isinstance(chosen, Chosen) else None

    def _restored(self, text: bytes) -> bytes:
        if not isinstance(self._backend, Remote):
            return text
        if self._translation is None:
            try:
                self._translation = self._backend.translate(self._contract, tools=None)
            except ContractError:
                return text  # it was asked for by the prompt alone
        shape = self._translation.shape
        if shape.is_same:
            return text
        restorer = shape.restorer()
        return restorer.feed(text) + restorer.finish()


def json_of(contract: Contract[object], value: object) -> JsonValue:
    """Return a typed value as JSON, for checks inside the gate, which do not have the text."""
    if contract.type_adapter is None:
        return cast(JsonValue, value)
    return cast(JsonValue, contract.type_adapter.dump_python(value, mode="json", by_alias=True))


__all__ = ["Proposal", "Proposals", "json_of"]
