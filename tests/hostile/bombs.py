"""List every bomb, and measure them: ``python -m hostile.bombs`` from ``tests`` writes the table of docs/hostile.md."""

from __future__ import annotations

from hostile.bomb import Bomb
from hostile.schema_bombs import SCHEMA_BOMBS
from hostile.text_bombs import TEXT_BOMBS

BOMBS: dict[str, Bomb] = {bomb.name: bomb for bomb in (*SCHEMA_BOMBS, *TEXT_BOMBS)}

__all__ = ["BOMBS"]
