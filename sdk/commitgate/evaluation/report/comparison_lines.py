"""Write how two runs compare as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from commitgate.evaluation.comparison import Comparison, LayerComparison, RatioComparison
from commitgate.evaluation.statistics import Interval
from commitgate.harmless import harmless

SIGNIFICANT = 0.05
"""A corrected p value below this is marked."""


def comparison_lines(comparison: Comparison) -> list[Text]:
    """Return the lines."""
    return [*_head(comparison), *(_layer(each) for each in comparison.layers), *_ratios(comparison)]


def _head(comparison: Comparison) -> Iterator[Text]:
    first, second = harmless(comparison.first), harmless(comparison.second)
    ways = "" if comparison.variant == comparison.second_variant else f" ({comparison.second_variant})"
    yield Text(f"second {second}{ways} against first {first}, {comparison.pairs:,} pairs", style="bold")
    unpaired = comparison.unpaired_first, comparison.unpaired_second
    if any(unpaired):
        yield Text(f"not paired: {unpaired[0]:,} of the first, {unpaired[1]:,} of the second", style="yellow")
    if comparison.differs:
        yield Text(f"not the same in both: {', '.join(map(harmless, comparison.differs))}", style="dim")
    yield Text(f"{'layer':<18}{'pairs':>7}{'only 1st':>10}{'only 2nd':>10}{'change':>10}  interval, p", style="dim")


def _layer(layer: LayerComparison) -> Text:
    p_value = layer.corrected_p_value
    is_marked = p_value is not None and p_value < SIGNIFICANT
    style = "" if not is_marked else "green" if (layer.difference or 0) > 0 else "red"
    change = "-" if layer.difference is None else f"{layer.difference:+.1%}"
    told = "" if p_value is None else f"p {p_value:.2g}{' *' if is_marked else ''}"
    return Text(
        f"{layer.name:<18}{layer.pairs:>7,}{layer.only_first:>10,}{layer.only_second:>10,}{change:>10}  "
        f"{_points(layer.interval)} {told}",
        style=style,
    )


def _points(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:+.0%} to {interval.high:+.0%}"


def _ratios(comparison: Comparison) -> Iterator[Text]:
    for ratio in comparison.ratios:
        yield Text(_ratio(ratio))
    yield Text("* below 0.05 after Holm's correction for all rows", style="dim")


def _ratio(ratio: RatioComparison) -> str:
    interval = f"{ratio.interval.low:.2f} to {ratio.interval.high:.2f}"
    return f"{ratio.name}: {ratio.ratio:.2f} times the first ({interval}, p {ratio.p_value:.2g}, {ratio.cases:,} cases)"


__all__ = ["SIGNIFICANT", "comparison_lines"]
