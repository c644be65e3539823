"""Write how two runs compare as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from commitgate.evaluation.comparison import Comparison, LayerComparison, RatioComparison
from commitgate.evaluation.report.changes import Change
from commitgate.evaluation.report.report_data import Compared
from commitgate.evaluation.report.wording import QUANTITIES, SIGNIFICANT, WAYS, title_of
from commitgate.evaluation.statistics import Interval
from commitgate.harmless import harmless

_LABEL = 19
_MOST_CASES = 12


def comparison_lines(compared: Compared) -> list[Text]:
    """Return the lines: the layers, what is not chance marked, then times and the cases that came out otherwise."""
    comparison = compared.comparison
    layers = (_layer(each) for each in comparison.layers)
    return [*_head(comparison), *layers, *_ratios(comparison), *_changes(compared.changes)]


def _head(comparison: Comparison) -> Iterator[Text]:
    first, second = harmless(comparison.first), harmless(comparison.second)
    if comparison.variant != comparison.second_variant:
        first, second = f"{first} {WAYS[comparison.variant]}", f"{second} {WAYS[comparison.second_variant]}"
    yield Text(f"second {second} against first {first}, {comparison.pairs:,} pairs", style="bold")
    unpaired = comparison.unpaired_first, comparison.unpaired_second
    if any(unpaired):
        yield Text(f"not paired: {unpaired[0]:,} of the first, {unpaired[1]:,} of the second", style="yellow")
    if comparison.differs:
        yield Text(f"not the same in both: {', '.join(map(harmless, comparison.differs))}", style="dim")
    yield Text(
        f"{'layer':<{_LABEL}}{'pairs':>6}{'only 1st':>10}{'only 2nd':>10}{'change':>9}  interval, p", style="dim"
    )


def _layer(layer: LayerComparison) -> Text:
    p_value = layer.corrected_p_value
    is_marked = p_value is not None and p_value < SIGNIFICANT
    style = "" if not is_marked else "green" if (layer.difference or 0) > 0 else "red"
    change = "-" if layer.difference is None else f"{layer.difference:+.1%}"
    told = "" if p_value is None else f"p {p_value:.2g}{' *' if is_marked else ''}"
    return Text(
        f"{title_of(layer.name):<{_LABEL}}{layer.pairs:>6,}{layer.only_first:>10,}{layer.only_second:>10,}{change:>9}  "
        f"{_points(layer.interval)} {told}",
        style=style,
    )


def _points(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:+.0%} to {interval.high:+.0%}"


def _ratios(comparison: Comparison) -> Iterator[Text]:
    yield Text("* below 0.05 after Holm's correction for all rows", style="dim")
    for ratio in comparison.ratios:
        yield Text(_ratio(ratio))


def _ratio(ratio: RatioComparison) -> str:
    name = QUANTITIES.get(ratio.name, ratio.name)
    interval = f"{ratio.interval.low:.2f} to {ratio.interval.high:.2f}"
    return f"{name}: {ratio.ratio:.2f} times the first ({interval}, p {ratio.p_value:.2g}, {ratio.cases:,} cases)"


def _changes(changes: tuple[Change, ...]) -> Iterator[Text]:
    """Tell first what got worse: that is what somebody has to look at."""
    if not changes:
        return
    yield Text(f"came out otherwise: {len(changes):,} cases", style="bold")
    for change in changes[:_MOST_CASES]:
        line = Text(f"  {harmless(change.case_id)}{f' #{change.repetition}' if change.repetition > 1 else ''}: ")
        if change.lost:
            line.append(f"lost {', '.join(map(title_of, change.lost))}", style="red")
        if change.gained:
            line.append(f"{'; ' if change.lost else ''}gained {', '.join(map(title_of, change.gained))}", style="green")
        yield line
    if len(changes) > _MOST_CASES:
        yield Text(f"  and {len(changes) - _MOST_CASES:,} more; --html FILE shows them", style="dim")


__all__ = ["comparison_lines"]
