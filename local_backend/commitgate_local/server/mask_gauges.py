"""Tell what an engine holds and did as numbers for ``/metrics``."""

from __future__ import annotations

from commitgate_local.engine import MaskEngine


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


__all__ = ["mask_gauges"]
