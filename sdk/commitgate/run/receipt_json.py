"""Store a receipt beside its value in the ledger, and read it back. Both are payload-free.

Failures of layers are not stored: a receipt is stored only with a value, which all layers passed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TypeAlias, cast

from commitgate.backends.base import FinishReason, Usage
from commitgate.difference import Difference
from commitgate.gate.layers import Layer, LayerRecord
from commitgate.outcome import Receipt, ReceiptWarning, TryRecord

_Stored: TypeAlias = "dict[str, object]"


def dump_receipt(receipt: Receipt) -> bytes:
    """Return a receipt as JSON."""
    stored = {entry.name: getattr(receipt, entry.name) for entry in fields(receipt)}
    stored["layers"] = [
        {"layer": record.layer, "ran": record.ran, "passed": record.passed, "time_s": record.time_s}
        for record in receipt.layers
    ]
    stored["usage"] = asdict(receipt.usage)
    stored["tries"] = [asdict(record) for record in receipt.tries]
    stored["differences"] = [asdict(difference) for difference in receipt.differences]
    # In ASCII, because a provider's word may hold half a surrogate pair, which UTF-8 cannot encode.
    return json.dumps(stored, separators=(",", ":")).encode()


def load_receipt(data: bytes) -> Receipt:
    """Return a stored receipt. Fields of later releases are left out.

    Raises:
        ValueError: it is no receipt, or one with words of a later release.
    """
    try:
        return _receipt(cast(_Stored, json.loads(data)))
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError("the stored receipt is damaged") from error


def _receipt(stored: _Stored) -> Receipt:
    known = {entry.name: stored[entry.name] for entry in fields(Receipt) if entry.name in stored}
    known["layers"] = tuple(_layer(record) for record in cast("list[_Stored]", stored.get("layers", [])))
    known["usage"] = Usage(**cast("dict[str, int | None]", stored.get("usage", {})))
    known["tries"] = tuple(_try(record) for record in cast("list[_Stored]", stored.get("tries", [])))
    known["warnings"] = tuple(cast("list[ReceiptWarning]", stored.get("warnings", [])))
    known["differences"] = tuple(_difference(each) for each in cast("list[_Stored]", stored.get("differences", [])))
    finish = stored.get("finish")
    known["finish"] = None if finish is None else FinishReason(cast(str, finish))
    return Receipt(**known)  # pyright: ignore[reportArgumentType] - the fields were dumped from a receipt


def _try(record: _Stored) -> TryRecord:
    known = {entry.name: record[entry.name] for entry in fields(TryRecord) if entry.name in record}
    known["usage"] = Usage(**cast("dict[str, int | None]", record.get("usage", {})))
    return TryRecord(**known)  # pyright: ignore[reportArgumentType] - the fields were dumped from a record


def _difference(record: _Stored) -> Difference:
    known = {entry.name: record[entry.name] for entry in fields(Difference) if entry.name in record}
    return Difference(**known)  # pyright: ignore[reportArgumentType] - the fields were dumped from a difference


def _layer(record: _Stored) -> LayerRecord:
    return LayerRecord(
        layer=Layer(cast(str, record["layer"])),
        ran=cast(bool, record["ran"]),
        passed=cast("bool | None", record["passed"]),
        time_s=cast(float, record["time_s"]),
    )


__all__ = ["dump_receipt", "load_receipt"]
