"""Tell what a model and its masks hold and did as numbers for ``/metrics``."""

from __future__ import annotations

from commitgate_local.engine import MaskEngine
from commitgate_local.local_model import LocalModel


def model_gauges(model: LocalModel) -> dict[str, float]:
    """Return the counts of a model and of its masks by name."""
    stats = model.stats()
    return {
        "model_requests_in_flight": stats.in_flight,
        "model_requests_queued": stats.queued,
        "model_slots": model.slots,
        "model_passes_total": stats.passes,
        "model_tokens_fed_total": stats.fed_tokens,
        "model_tokens_reused_total": stats.reused_tokens,
        "model_cache_bytes": stats.cache_bytes,
        **mask_gauges(model.engine),
    }


def mask_gauges(engine: MaskEngine) -> dict[str, float]:
    """Return the engine's counts by name."""
    stats = engine.stats()
    return {
        "mask_contracts": stats.contracts,
        "mask_states": stats.states,
        "masks_kept": stats.masks,
        "masks_asked": stats.masks_asked,
        "masks_computed": stats.masks_computed,
        "mask_seconds": stats.computing_s,
        "mask_longest_seconds": stats.longest_s,
        "mask_cache_bytes": stats.cache_bytes,
    }


__all__ = ["mask_gauges", "model_gauges"]
