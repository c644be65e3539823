"""Name a run: what is asked of whom, with which contracts and settings, by which release."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

from commitgate.evaluation.case import Suite
from commitgate.evaluation.settings import RunSettings
from commitgate.evaluation.suite_digest import contract_digests, digest_of_suite
from commitgate.json_value import JsonObject


def header_of(suite: Suite[object], model: str, settings: RunSettings) -> JsonObject:
    """Return what names a run, and when it was begun. CPU work for a worker thread."""
    return {
        "suite": suite.name,
        "suite_version": suite.version,
        "suite_digest": digest_of_suite(suite),
        "contracts": contract_digests(suite),
        "model": model,
        "settings": settings.to_json(suite),
        "package_version": version("commitgate"),
        "planned": len(settings.plan(suite)),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


__all__ = ["header_of"]
