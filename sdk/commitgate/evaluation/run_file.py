"""Read a run back from a file, whichever of the two forms it has: as it was kept, or as it was written for machines."""

from __future__ import annotations

import os
from typing import cast

from commitgate.errors import RunStoreError
from commitgate.evaluation.record import EvaluationRun
from commitgate.evaluation.record_json import MAX_RUN_BYTES, RUN_FIELD, load_run
from commitgate.evaluation.store import Kept, parse_store
from commitgate.evaluation.suite_check import shown
from commitgate.json_value import JsonObject

_MAGIC = f'{{"{RUN_FIELD}":'.encode()


def read_run(path: str | os.PathLike[str]) -> EvaluationRun:
    """Return the run in a file: a store of ``evaluate``, also of a run that was cut short, or what ``dump_run`` wrote.

    The records of a store come in the order in which they were made. Blocking work for a worker thread.

    Raises:
        RunStoreError: it cannot be read, is neither of the two, or damaged.
    """
    name = shown(os.fspath(path))
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_RUN_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no path of a file"
        raise RunStoreError(f"the run {name} cannot be read: {reason}") from error
    if data.startswith(_MAGIC):
        return load_run(data)
    kept = parse_store(data, name)
    if kept is None:
        raise RunStoreError(f"the run {name} is empty")
    return run_of(kept, name)


def run_of(kept: Kept, name: str) -> EvaluationRun:
    """Return the run of what a store has.

    Args:
        kept: it.
        name: the file's, for messages.

    Raises:
        RunStoreError: its header is damaged.
    """
    header = kept.header
    facts: JsonObject = {**(kept.answered_by[0] if kept.answered_by else {}), "contracts": header.get("contracts")}
    if len(kept.answered_by) > 1:
        facts["answered_by"] = list(kept.answered_by)
    records = {record.key: record for record in reversed(kept.records)}
    found = {name: header.get(name) for name in ("suite", "suite_digest", "model", "started", "planned", "settings")}
    kinds = {**dict.fromkeys(("suite", "suite_digest", "model", "started"), str), "planned": int, "settings": dict}
    if any(not isinstance(found[name], kind) for name, kind in kinds.items()):
        raise RunStoreError(f"the run {name} has a damaged header")
    version = header.get("suite_version")
    planned = cast(int, found["planned"])
    problems: list[str] = [] if len(records) == planned else [f"{len(records)} of {planned} records are there"]
    if kept.was_torn:
        problems.append("the last line of the kept records was cut off")
    return EvaluationRun(
        suite=cast(str, found["suite"]),
        suite_version=version if isinstance(version, str) else None,
        suite_digest=cast(str, found["suite_digest"]),
        model=cast(str, found["model"]),
        receipt_facts=facts,
        settings=cast(JsonObject, found["settings"]),
        started=cast(str, found["started"]),
        wall_s=kept.wall_s,
        records=tuple(reversed(records.values())),
        planned=planned,
        problems=tuple(problems),
    )


__all__ = ["read_run", "run_of"]
