"""Join the counts of repetition within repetition."""

from __future__ import annotations


def counts_of_counts(inner: tuple[int, int | None], outer: tuple[int, int | None]) -> tuple[int, int | None] | None:
    """Return the counts of rounds of rounds; None where they leave some out between the fewest and the most.

    Args:
        inner: fewest and most in one of the outer rounds; most None has no upper bound.
        outer: fewest and most outer rounds.
    """
    (few, many), (least, most) = inner, outer
    both = few * least, None if many is None or most is None else many * most
    if least == most or many is None:
        return both if least > 0 or few <= 1 else None
    return both if least * (many - few) >= few - 1 else None


__all__ = ["counts_of_counts"]
