"""Write what a run came to as lines for a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.text import Text

from commitgate.evaluation.baseline import Added, Baseline
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.legal_mass import LegalMass
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.record import CaseRecord, EvaluationRun
from commitgate.evaluation.report.wording import GROUPS, TITLES, WAYS, bounds, counted, headline, percent, seconds
from commitgate.evaluation.summary import LayerSummary, Summary, VariantSummary
from commitgate.harmless import harmless

_LABEL = 20
_CODES = 3
_MOST_REASONS = 8
_MOST_IDS = 6


def run_lines(run: EvaluationRun, summary: Summary, *, width: int | None = None) -> list[Text]:
    """Return the lines: what went wrong with the run first, then each layer by itself.

    Args:
        run: it.
        summary: of it.
        width: columns of the terminal; None where lines may be as long as they are.
    """
    found = [*_head(run)]
    for variant in summary.variants:
        found += _variant(variant, summary.confidence, _Columns.of(width))
    if summary.baseline is not None:
        found += _baseline(summary.baseline)
    found += _worst(run)
    return found


def _head(run: EvaluationRun) -> Iterator[Text]:
    for problem in run.problems:
        yield Text(f"problem: {harmless(problem)}", style="bold red")
    version = "" if run.suite_version is None else f" {harmless(run.suite_version)}"
    yield Text.assemble((f"{harmless(run.suite)}{version}", "bold"), f" on {harmless(run.model)}")
    whole = "" if run.is_complete else f" of {run.planned:,} planned"
    yield Text(f"{len(run.records):,} answers{whole}, {seconds(run.wall_s)}, begun {run.started}", style="dim")
    yield Text()


@dataclass(frozen=True, slots=True)
class _Columns:
    """Say what a row has room for."""

    bar: int
    has_interval: bool
    width: int | None

    @staticmethod
    def of(width: int | None) -> _Columns:
        if width is None or width >= 78:
            return _Columns(20, True, width)
        return _Columns(8 if width >= 52 else 0, width >= 64, width)


def _variant(summary: VariantSummary, confidence: float, columns: _Columns) -> Iterator[Text]:
    yield Text(f"{WAYS[summary.variant]}: {headline(summary)}", style="bold")
    interval = f"  {confidence:.0%} interval" if columns.has_interval else ""
    yield Text(f"{'layer':<{_LABEL}}{'':<{columns.bar}} {'rate':>7}  {'of reached':>14}{interval}", style="dim")
    for name, measures in GROUPS:
        yield Text(name, style="dim")
        for measure in measures:
            yield from _layer(summary.layer(measure), columns)
    yield Text("all of it", style="dim")
    yield _row("came through", summary.came_through, "bold", columns)
    yield from _facts(summary)
    if summary.legal_mass is not None:
        yield from _mass(summary.legal_mass)
    yield Text(f"outcomes: {_listed(summary.outcomes)}")
    if summary.errors:
        yield Text(f"raised in the caller's code: {_listed(summary.errors)}", style="yellow")
    yield Text()


def _layer(layer: LayerSummary, columns: _Columns) -> Iterator[Text]:
    share = layer.rate.share
    style = "dim" if share is None else "green" if share == 1 else "yellow" if share >= 0.5 else "red"
    line = _row(TITLES[layer.measure], layer.rate, style, columns)
    codes = ", ".join(f"{harmless(code)} {count:,}" for code, count in list(layer.faults.items())[:_CODES])
    is_long = columns.width is not None and line.cell_len + 2 + len(codes) > columns.width
    if codes and not is_long:
        line.append(f"  {codes}", style="dim")
    yield line
    if codes and is_long:
        yield Text(f"    {codes}", style="dim")


def _row(title: str, rate: Rate, style: str, columns: _Columns) -> Text:
    filled = 0 if rate.share is None else round(rate.share * columns.bar)
    # Nearly all is not all, and a few are not none.
    if rate.share is not None and 0 < rate.share < 1 and columns.bar:
        filled = min(max(filled, 1), columns.bar - 1)
    return Text.assemble(
        f"{'  ' + title:<{_LABEL}}",
        ("█" * filled, style),
        ("░" * (columns.bar - filled), "dim"),
        (f" {percent(rate.share):>7}", style),
        f"  {counted(rate):>14}",
        f"  {bounds(rate.interval)}" if columns.has_interval and rate.interval is not None else "",
    )


def _facts(summary: VariantSummary) -> Iterator[Text]:
    if summary.facts.reached:
        yield Text(f"single facts right: {counted(summary.facts)} ({percent(summary.facts.share)})")
    blocked, wrongly = summary.authorization.overreach_blocked, summary.authorization.rightful_blocked
    if blocked.reached or wrongly.reached:
        style = "" if blocked.passed == blocked.reached and not wrongly.passed else "red"
        words = f"overreach blocked: {counted(blocked)}; rightful acts blocked wrongly: {counted(wrongly)}"
        yield Text(words, style=style)
    if summary.layer(Measure.IDEMPOTENCY).rate.reached:
        second = f"second effects after doing it again: {summary.second_effects:,}"
        yield Text(second, style="bold red" if summary.second_effects else "")
    first, each = summary.first_token_s, summary.per_token_s
    if first is not None:
        per_token = "" if each is None else f"; a token: median {seconds(each.p50)}, 90 % {seconds(each.p90)}"
        yield Text(f"first token: median {seconds(first.p50)}, 90 % {seconds(first.p90)}{per_token}")
    usage = summary.usage
    if usage.input_tokens is not None or usage.output_tokens is not None:
        yield Text(
            f"tokens: {usage.input_tokens or 0:,} read, {usage.output_tokens or 0:,} written "
            f"in {summary.requests:,} requests"
        )


def _mass(mass: LegalMass) -> Iterator[Text]:
    low, high = mass.wrong_of_low, mass.wrong_of_high
    p_value = "" if mass.p_value is None else f" (p {mass.p_value:.2g})"
    yield Text(
        f"wrong answers: {counted(low)} of least legal mass below {mass.threshold:g}, {counted(high)} of the others"
        f"{p_value}"
    )
    if mass.area is not None:
        yield Text(f"a wrong answer has less legal mass than a right one in {percent(mass.area)} of pairs", style="dim")


def _baseline(baseline: Baseline) -> Iterator[Text]:
    yield Text(f"the constraint beside the prompt alone, {baseline.pairs:,} pairs", style="bold")
    ways = ((WAYS["constrained"], baseline.constrained), (WAYS["prompt_only"], baseline.prompt_only))
    for name, asking in ways:
        expected = asking.expected_requests
        requests = "none came right" if expected is None else f"{expected:.2f} requests until one is of the right form"
        yield Text(f"  {name:<20} right form at once: {counted(asking.valid)}; {requests}")
    saved = baseline.prompt_only.asked_again - baseline.constrained.asked_again
    yield Text(f"  answers that need not be asked for again: {saved:,}")
    added: tuple[tuple[str, Added | None], ...] = (
        ("first token", baseline.first_token_s),
        ("each token", baseline.per_token_s),
        ("whole call", baseline.total_s),
    )
    for name, found in added:
        if found is not None:
            interval = f"{_signed(found.interval.low)} to {_signed(found.interval.high)}"
            yield Text(f"  added to {name:<12} {_signed(found.mean)} ({interval}, p {found.p_value:.2g})")
    yield Text()


def _worst(run: EvaluationRun) -> Iterator[Text]:
    """Tell what did not come through: those that came least far first, and those alike together."""
    wrong = [record for record in run.records if not record.came_through and record.variant == "constrained"]
    if not wrong:
        return
    wrong.sort(key=lambda record: (sum(record.passed.values()), record.case_id, record.repetition))
    alike: dict[str, list[str]] = defaultdict(list)
    for record in wrong:
        again = f" #{record.repetition}" if record.repetition > 1 else ""
        alike[_why(record)].append(harmless(record.case_id) + again)
    yield Text(f"did not come through: {len(wrong):,}", style="bold")
    for why, names in list(alike.items())[:_MOST_REASONS]:
        more = f" and {len(names) - _MOST_IDS:,} more" if len(names) > _MOST_IDS else ""
        yield Text.assemble(f"  {why}: ", (", ".join(names[:_MOST_IDS]) + more, "dim"))
    if len(alike) > _MOST_REASONS:
        left = sum(len(names) for names in list(alike.values())[_MOST_REASONS:])
        yield Text(f"  and {left:,} for other reasons; --html FILE shows them all", style="dim")


def _why(record: CaseRecord) -> str:
    outcome = record.outcome or f"{record.error} in {record.error_at}"
    codes = dict.fromkeys(f"{TITLES[fault.measure]} {fault.code}" for fault in record.faults)
    told = ", ".join(harmless(code) for code in list(codes)[:_CODES])
    ending = "" if record.is_right_ending or record.error is not None else ", not as the case wants"
    return harmless(outcome) + (f" ({told})" if told else ending)


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + seconds(abs(value))


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{harmless(name)} {count:,}" for name, count in counts.items())


__all__ = ["run_lines"]
