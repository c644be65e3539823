"""Write records and runs as JSON, and read them back. Both are payload-free."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, cast

from commitgate.errors import RunStoreError
from commitgate.evaluation.record import CaseRecord, EvaluationRun
from commitgate.json_value import JsonObject, JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

RUN_FIELD = "commitgate_evaluation_run"
"""The field by which a run written as JSON is known; its value is the version of the form."""

MAX_RUN_BYTES = 536_870_912
"""Largest run that is read back; all of it is held at once."""

_VERSION = 1


def record_to_json(record: CaseRecord) -> JsonObject:
    """Return a record as JSON."""
    return cast(JsonObject, _adapter().dump_python(record, mode="json"))


def record_from_json(value: JsonValue) -> CaseRecord:
    """Return a record that was written. Fields of later releases are left out.

    Raises:
        ValueError: it is none.
    """
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(value)
    except ValidationError as error:
        # Its own message would quote what it found.
        raise ValueError(f"a record has {error.error_count()} fields that are absent or of another kind") from None


def dump_run(run: EvaluationRun) -> bytes:
    """Return a run as JSON, for machines and for ``load_run``."""
    plain: JsonObject = {entry.name: getattr(run, entry.name) for entry in fields(run)}
    plain["problems"] = list(run.problems)
    plain["records"] = [record_to_json(record) for record in run.records]
    return json.dumps({RUN_FIELD: _VERSION, **plain}, separators=(",", ":"), allow_nan=False).encode()


def load_run(data: bytes) -> EvaluationRun:
    """Return a run that ``dump_run`` wrote.

    Raises:
        RunStoreError: it is none, or damaged.
    """
    if len(data) > MAX_RUN_BYTES:
        raise RunStoreError(f"a run may have at most {MAX_RUN_BYTES} bytes")
    try:
        return _run(loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunStoreError(f"this is no run of an evaluation, or a damaged one ({type(error).__name__})") from None


def loads(data: bytes) -> object:
    """Return JSON, in which every number is finite.

    Raises:
        ValueError: it is none.
        RecursionError: it is nested too deep.
    """
    return json.loads(data, parse_constant=_refuse, parse_float=_finite)


def _refuse(_word: str) -> float:
    raise ValueError("a number of JSON is finite")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text)


def _run(plain: object) -> EvaluationRun:
    if not isinstance(plain, dict):
        raise TypeError
    given = cast("dict[str, JsonValue]", plain)
    if given[RUN_FIELD] != _VERSION:
        raise ValueError
    kinds: dict[str, type | tuple[type, ...]] = {
        "suite": str,
        "suite_version": (str, type(None)),
        "suite_digest": str,
        "model": str,
        "receipt_facts": dict,
        "settings": dict,
        "started": str,
        "wall_s": (int, float),
        "records": list,
        "planned": int,
        "problems": list,
    }
    if any(not isinstance(given[name], kind) for name, kind in kinds.items()):
        raise TypeError
    known = {name: given[name] for name in kinds}
    known["records"] = tuple(map(record_from_json, cast("list[JsonValue]", known["records"])))  # pyright: ignore[reportArgumentType] - the fields of a run
    known["problems"] = tuple(map(str, cast("list[str]", known["problems"])))  # pyright: ignore[reportArgumentType] - the fields of a run
    return EvaluationRun(**known)  # pyright: ignore[reportArgumentType] - looked at above


@cache
def _adapter() -> TypeAdapter[CaseRecord]:
    from pydantic import TypeAdapter

    return TypeAdapter(CaseRecord)


__all__ = ["MAX_RUN_BYTES", "RUN_FIELD", "dump_run", "load_run", "loads", "record_from_json", "record_to_json"]
