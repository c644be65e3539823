"""Keep on record that a call or an answer was refused, before the model is told so.

A call that is refused has no effect, so its own key stays free. But once the model was told, it goes another way: were
the call judged again after a crash, and found well by then, it would be done beside what was done in its place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.contract import Contract
from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.schema_layer import FAILURES_KEPT
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Invalid, Receipt
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    from commitgate.ledger.base import Ledger

_TEXTS = ("layer", "code", "pointer", "message")


@dataclass(frozen=True, slots=True)
class RefusalRecord:
    """Hold the place of one refusal in the ledger.

    Attributes:
        key: the key of what was refused.
    """

    key: OperationKey

    @property
    def own_key(self) -> OperationKey:
        """Return the key under which the refusal is kept."""
        return OperationKey(f"{self.key}/refused")

    async def read(self, ledger: Ledger) -> Invalid | None:
        """Return the refusal; None where there was none.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        from commitgate.ledger.record import State

        row = await ledger.read(self.own_key)
        if row is None or row.state is not State.COMMITTED or row.value is None:
            return None
        failures = tuple(_failure(each) for each in json.loads(row.value))
        return Invalid(layer=failures[0].layer, failures=failures, receipt=Receipt())


def refusal_contract() -> Contract[JsonValue]:
    """Return the contract of a refusal as it is kept."""
    texts: JsonObject = {name: {"type": "string"} for name in _TEXTS}
    reason: JsonObject = {"type": "object", "properties": texts, "required": list(_TEXTS)}
    return Contract.json_schema({"type": "array", "items": reason, "minItems": 1}, name="refusal")


def refusal_json(failures: Sequence[Failure]) -> bytes:
    """Return a refusal as it is kept: without ``Failure.data``."""
    kept: list[JsonValue] = [
        {"layer": str(each.layer), "code": each.code, "pointer": each.pointer, "message": each.message}
        for each in failures[:FAILURES_KEPT]
    ]
    return encode(kept)


def _failure(kept: dict[str, str]) -> Failure:
    return Failure(
        layer=Layer(kept["layer"]), code=kept["code"], pointer=kept["pointer"], message=kept["message"], retryable=True
    )


__all__ = ["RefusalRecord", "refusal_contract", "refusal_json"]
