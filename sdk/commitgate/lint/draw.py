"""Draw numbers that look like chance and are the same every time.

Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
"""

from __future__ import annotations

_MASK = (1 << 64) - 1


class Draw:
    """Draw numbers.

    Args:
        seed: equal seeds draw equal numbers.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``; ``bound`` is at least 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) % bound


__all__ = ["Draw"]
