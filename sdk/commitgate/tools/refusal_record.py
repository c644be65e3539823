"""Keep on record that a call or an answer was refused, before the model is told so.

A call that is refused has no effect, so its own key stays free. But once the model was told, it goes another way: were
the call judged again after a crash, and found well by then, it would be done beside what was done in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from commitgate.contract import Contract
from commitgate.errors import KeyConflictError, StoredValueError
from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.schema_layer import FAILURES_KEPT
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Committed, Failed, Invalid, Receipt
from commitgate.retry.keys import OperationKey
from commitgate.run.replay import read_receipt, read_value
from commitgate.tools.call_result import is_told
from commitgate.tools.steps import Settings, Steps, digest_of_given

if TYPE_CHECKING:
    from commitgate.ledger.record import Record

_TEXTS = ("layer", "code", "pointer", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecord:
    """Hold the place of one refusal in the ledger.

    Attributes:
        key: the key of what was refused.
        given: the JSON that was refused; a refusal of other JSON is a conflict.
        steps: writes it.
        settings: what the steps have in common.
        is_told: what is refused now is told to the model; else it is only looked at what was told before.
    """

    key: OperationKey = field(repr=False)
    given: bytes = field(repr=False)
    steps: Steps = field(repr=False)
    settings: Settings = field(repr=False)
    is_told: bool = True

    @property
    def own_key(self) -> OperationKey:
        """Return the key under which the refusal is kept."""
        return OperationKey(f"{self.key}/refused")

    async def read(self) -> Invalid | None:
        """Return the refusal; None where there was none.

        Raises:
            LedgerError: the ledger cannot be read, or the record; or its key was used for something else.
        """
        from commitgate.ledger.record import State

        row = await self.steps.shared.ledger().read(self.own_key)
        if row is None or row.state is not State.COMMITTED:
            return None
        failures = _failures(row, digest_of_given(self.given))
        return Invalid(layer=failures[0].layer, failures=failures, receipt=Receipt())

    async def keep(self, refused: Invalid) -> Failed:
        """Put on record what the model is to be told; return it, or what kept it from being recorded.

        Raises:
            LedgerError: the ledger cannot be used.
        """
        if not self.is_told or not is_told(refused):
            return refused
        order = self.settings.order(refusal_contract(), refusal_json(refused.failures), self.own_key, effect=None)
        if order is None:
            return self.settings.timed_out()
        order = replace(order, input_digest=digest_of_given(self.given))
        kept = self.settings.whole(await self.steps.run(order))
        return refused if isinstance(kept, Committed) else kept


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


def _failures(row: Record, given_digest: str) -> tuple[Failure, ...]:
    contract = refusal_contract()
    if row.fingerprint.language_digest != contract.language_digest or row.fingerprint.effect_name is not None:
        raise KeyConflictError(
            "the key under which a refusal is kept was used for another operation; use another key for the run of "
            "tools, and for other operations none that continues it",
            differs=("language_digest",),
        )
    if row.fingerprint.input_fingerprint != given_digest:
        raise KeyConflictError(
            "another call than this one was refused at this place of the run of tools; use another key for another run",
            differs=("input_fingerprint",),
        )
    kept = read_value(contract, row.value, read_receipt(row.receipt, otherwise=Receipt()).value_digest).value
    try:
        return tuple(_failure(each) for each in cast("list[dict[str, str]]", kept))
    except ValueError as error:
        raise StoredValueError(
            "a refusal that is kept in the ledger is of a layer that this release does not know"
        ) from error


def _failure(kept: dict[str, str]) -> Failure:
    return Failure(
        layer=Layer(kept["layer"]), code=kept["code"], pointer=kept["pointer"], message=kept["message"], retryable=True
    )


__all__ = ["RefusalRecord", "refusal_contract", "refusal_json"]
