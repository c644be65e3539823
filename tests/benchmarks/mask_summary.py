"""Make rows of the report out of what the engines took: over what all of them did, and over each one's own.

Engines decline different schemas and follow different texts to their end. Percentiles over each one's own would
compare easy work with hard, so the rows that compare are over the schemas and texts that all of them did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from mask_worker import TIME_LIMIT, Timing, Together
from results import BASE, Row, percentiles, with_ratios

FIRST, AGAIN = "First mask", "First mask, compiled schema kept"
COLD, WARM = "Between masks, first pass", "Between masks, second pass"
ALL, OWN = "schemas and texts that all of them do", "each one's own schemas and texts"
PARTS = (FIRST, AGAIN, COLD, WARM)
COUNTS = "Schemas and texts"
IN_TURN, THREADS = "Second pass, one thread for all matchers", "Second pass, a thread for each matcher"

_MS, _US = 1e3, 1e6


def compared(
    timings: Mapping[str, Sequence[Timing]], *, base: str = BASE, of: str = ALL, parts: Collection[str] = PARTS
) -> list[Row]:
    """Return rows over the schemas that all engines took, and the texts that all of them followed to the end.

    Args:
        timings: by engine, one of each schema, in the same order.
        base: the engine that ratios are to.
        of: how the report names the common part.
        parts: which of ``PARTS`` are wanted.
    """
    taken = [number for number, each in enumerate(zip(*timings.values(), strict=True)) if not _refused(each)]
    rows = list[Row]()
    for who, found in timings.items():
        kept = [found[number] for number in taken]
        texts = [
            [text for text in range(len(found[number].cold)) if not _lost(timings.values(), number, text)]
            for number in taken
        ]
        rows += _rows(who, kept, texts, of)
    return with_ratios((row for row in rows if row.what.partition(": ")[0] in parts), base=base)


def own(timings: Mapping[str, Sequence[Timing | None]]) -> list[Row]:
    """Return rows over what each engine did itself; None stands for a schema that it was not asked for."""
    rows = list[Row]()
    for who, found in timings.items():
        kept = [timing for timing in found if timing is not None and timing.refusal is None]
        texts = [[text for text, taken in enumerate(timing.cold) if taken is not None] for timing in kept]
        rows += _rows(who, kept, texts, OWN)
    return rows


def counts(timings: Mapping[str, Sequence[Timing | None]]) -> list[Row]:
    """Return how many schemas and texts each engine did."""
    rows = list[Row]()
    for who, found in timings.items():
        asked = [timing for timing in found if timing is not None]
        texts = [taken for timing in asked for taken in timing.cold]
        values = {
            "schemas asked": len(asked),
            "taken": sum(timing.refusal is None for timing in asked),
            "refused": sum(timing.refusal is not None for timing in asked),
            "of these by time": sum((timing.refusal or "").startswith(TIME_LIMIT) for timing in asked),
            "valid texts": len(texts),
            "not followed to the end": sum(taken is None for taken in texts),
            "tokens": sum(len(taken) for taken in texts if taken is not None),
        }
        rows.append(Row(what=COUNTS, who=who, unit="", values={name: float(count) for name, count in values.items()}))
    return rows


def together(found: Mapping[tuple[str, int], Together]) -> list[Row]:
    """Return rows of matchers that went at the same time, by engine and number of matchers."""
    rows = list[Row]()
    for (who, matchers), taken in found.items():
        detail = f"{matchers} matcher{'s' if matchers > 1 else ''}"
        rows.append(Row(what=f"{IN_TURN}: {detail}", who=who, unit="µs", values=percentiles(taken.in_turn, scale=_US)))
        rate = {"all together": taken.masks_a_second}
        rows.append(Row(what=f"{THREADS}: {detail}", who=who, unit="masks/s", values=rate))
    return with_ratios(rows)


def _rows(who: str, kept: Sequence[Timing], texts: Sequence[Sequence[int]], of: str) -> Iterable[Row]:
    """Make the rows of one engine over schemas that it took, and of each over some texts that it followed."""
    firsts = [timing.first_s for timing in kept]
    agains = [timing.again_s for timing in kept]
    cold = chain.from_iterable(
        timing.cold[text] or () for timing, of_it in zip(kept, texts, strict=True) for text in of_it
    )
    warm = chain.from_iterable(
        timing.warm[text] or () for timing, of_it in zip(kept, texts, strict=True) for text in of_it
    )
    shown = (
        (FIRST, "ms", percentiles(firsts, scale=_MS)),
        (AGAIN, "µs", percentiles(agains, scale=_US)),
        (COLD, "µs", percentiles(list(cold), scale=_US)),
        (WARM, "µs", percentiles(list(warm), scale=_US)),
    )
    return [Row(what=f"{what}: {of}", who=who, unit=unit, values=values) for what, unit, values in shown if values]


def _refused(each: Sequence[Timing]) -> bool:
    return any(timing.refusal is not None for timing in each)


def _lost(timings: Iterable[Sequence[Timing]], number: int, text: int) -> bool:
    return any(found[number].cold[text] is None for found in timings)


__all__ = ["AGAIN", "ALL", "COLD", "FIRST", "OWN", "PARTS", "WARM", "compared", "counts", "own", "together"]
