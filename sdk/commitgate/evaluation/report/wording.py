"""Say numbers of an evaluation in words, the same on every face of a report."""

from __future__ import annotations

from commitgate.evaluation.layer import Measure
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.record import Variant
from commitgate.evaluation.statistics import Interval
from commitgate.evaluation.summary import LayerSummary, VariantSummary

TITLES: dict[Measure, str] = {
    Measure.LIVENESS: "it ended",
    Measure.REFUSAL: "not refused",
    Measure.TRUNCATION: "not cut",
    Measure.SYNTAX: "syntax",
    Measure.SCHEMA: "schema",
    Measure.RULES: "rules",
    Measure.FACTS: "facts",
    Measure.AUTHORIZATION: "authorization",
    Measure.TOOLS: "tools and effects",
    Measure.QUALITY: "quality",
    Measure.IDEMPOTENCY: "idempotency",
}
"""What each layer is called for people."""

WAYS: dict[Variant, str] = {"constrained": "constrained", "prompt_only": "by the prompt alone"}
"""What each way of asking is called for people."""

QUANTITIES: dict[str, str] = {
    "time_to_first_token_s": "time to the first token",
    "time_per_token_s": "time of each token",
    "total_s": "time of a whole call",
    "output_tokens": "tokens written",
}
"""What each quantity of a comparison is called for people."""

SIGNIFICANT = 0.05
"""A corrected p value below this is marked."""

GROUPS: tuple[tuple[str, tuple[Measure, ...]], ...] = (
    ("form", (Measure.LIVENESS, Measure.REFUSAL, Measure.TRUNCATION, Measure.SYNTAX, Measure.SCHEMA)),
    ("content", (Measure.RULES, Measure.FACTS, Measure.QUALITY)),
    ("acts", (Measure.AUTHORIZATION, Measure.TOOLS, Measure.IDEMPOTENCY)),
)
"""The layers by what they are about, so that a form that is right does not look like content that is."""

_FORM = (Measure.SCHEMA, Measure.SYNTAX)
_TRUTH = (Measure.FACTS, Measure.QUALITY, Measure.RULES)


def percent(share: float | None) -> str:
    """Return a rate in percent; a rate that is not quite 0 or 1 is never written as such."""
    if share is None:
        return "-"
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(share, 0.001), 0.999):.1%}"


def bounds(interval: Interval | None) -> str:
    """Return an interval in percent."""
    return "" if interval is None else f"{interval.low:.0%} to {interval.high:.0%}"


def counted(rate: Rate) -> str:
    """Return a rate as how many of how many."""
    return f"{rate.passed:,} of {rate.reached:,}"


def seconds(value: float | None) -> str:
    """Return a time so that it can be read: in milliseconds, seconds or minutes."""
    if value is None:
        return "-"
    if value < 1:
        return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"
    if value < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.0f} min"


def form_of(summary: VariantSummary) -> LayerSummary | None:
    """Return the layer that says most of the form; None where no answer came so far."""
    return _first(summary, _FORM)


def truth_of(summary: VariantSummary) -> LayerSummary | None:
    """Return the layer that says most of the content; None where none was judged."""
    return _first(summary, _TRUTH)


def _first(summary: VariantSummary, measures: tuple[Measure, ...]) -> LayerSummary | None:
    return next((summary.layer(each) for each in measures if summary.layer(each).rate.reached), None)


def headline(summary: VariantSummary) -> str:
    """Return in one sentence what a reader must not miss: the form beside the content."""
    form, truth = form_of(summary), truth_of(summary)
    if form is None:
        return f"No answer came as far as a form that could be judged ({summary.answers:,} asked)."
    said = f"The {TITLES[form.measure]} holds in {counted(form.rate)} answers"
    if truth is None:
        return f"{said}; what they say was not judged."
    holds = "holds" if truth.measure is Measure.QUALITY else "hold"
    return f"{said}; the {TITLES[truth.measure]} {holds} in {counted(truth.rate)}."


def title_of(name: str) -> str:
    """Return what a layer, or another row of a comparison, is called for people."""
    return next((title for measure, title in TITLES.items() if measure.value == name), name.replace("_", " "))


__all__ = [
    "GROUPS",
    "QUANTITIES",
    "SIGNIFICANT",
    "TITLES",
    "WAYS",
    "bounds",
    "counted",
    "form_of",
    "headline",
    "percent",
    "seconds",
    "title_of",
    "truth_of",
]
