"""Name the ways in which an effect can be kept from happening twice."""

from __future__ import annotations

from enum import StrEnum


class EffectKind(StrEnum):
    """Say what makes a second run of an effect impossible or harmless."""

    ONCE = "once"
    """Nothing downstream does: it is started at most once, and one whose fate is unknown is never run again."""
    BY_KEY = "by_key"
    """Downstream does, by the effect key: one whose fate is unknown may be run again under the same key."""
    TRANSACTIONAL = "transactional"
    """The ledger's own database does: its rows and the ledger's final state are written in one transaction."""


RESUMABLE = frozenset((EffectKind.BY_KEY, EffectKind.TRANSACTIONAL))
"""Kinds that may be run again with the same value after a call of which nobody knows how far it came."""


RUN_AGAIN = "; call again with the same key: it is run again under the same effect key"
"""What ends the reason of a doubt that the next call does away with."""

__all__ = ["RESUMABLE", "RUN_AGAIN", "EffectKind"]
