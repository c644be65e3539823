"""Check what the calls of a trial came to: their endings, their times, and how the model took the constraint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from commitgate.preflight.check import Check, check
from commitgate.preflight.trial import Spread, Trial, TrialRun

LEAST_LEGAL_MASS = 0.5
"""Mean legal mass of a call, in [0, 1], below which the model mostly wanted to write something else."""

_OF_MODEL = frozenset({"refused", "filtered", "truncated", "invalid"})
"""Endings that hang on what was asked; all others but a value are faults of the backend, the contract or the time."""

_IDS = ("answers", "first_token", "per_token", "legal_mass", "dead_ends")


def trial_checks(run: TrialRun, trial: Trial) -> Iterator[Check]:
    """Yield the checks of a trial.

    Args:
        run: what it came to.
        trial: what was asked for, with the limits of time.
    """
    yield _answers(run)
    yield _times("first_token", run, trial.first_token_s)
    yield _times("per_token", run, trial.per_token_s)
    yield _legal_mass(run)
    yield _dead_ends(run)


def nothing_tried(reason: str, *, was_wanted: bool) -> Iterator[Check]:
    """Yield the checks of a trial that was not made.

    Args:
        reason: why not.
        was_wanted: something else kept it from being made; else nobody asked for it.
    """
    for id in _IDS:
        if was_wanted:
            yield check(id, "not_applicable", reason)
        else:
            yield check(id, "warned", reason, "ask the model at least once: --calls 8")


def _answers(run: TrialRun) -> Check:
    endings: Counter[str] = Counter()
    for phase in (run.cold, run.hot):
        endings.update(phase.endings)
    total = endings.total()
    others = {words: count for words, count in endings.items() if words != "committed"}
    if not others:
        return check("answers", "passed", f"{total} of {total} calls came to a value")
    reasons = [each.summary for each in run.calls if each.summary]
    told = f"{endings['committed']} of {total} calls came to a value; {_counted(others)}"
    if all(words.partition(" ")[0] in _OF_MODEL for words in others):
        instead = "look at such answers: the prompt, max_tokens or the contract may have to change"
        return check("answers", "warned", told, instead, reasons)
    return check("answers", "failed", told, "see what each of them says, and launch without them", reasons)


def _times(id: Literal["first_token", "per_token"], run: TrialRun, limit_s: float | None) -> Check:
    cold: Spread | None = getattr(run.cold, f"{id}_s")
    hot: Spread | None = getattr(run.hot, f"{id}_s")
    if hot is None:
        if id == "per_token" and run.hot.first_token_s is not None:
            return check(id, "not_applicable", "no answer came in more than one piece")
        return check(id, "warned", "no hot call came so far", "see how the calls ended")
    told = f"hot {_spread(hot)}" + ("" if cold is None else f"; cold {_spread(cold)}")
    if not run.is_cold_sure and id == "first_token":
        told += "; whether the schema was new to the server is not known"
    if limit_s is None:
        return check(id, "passed", f"{told}; no limit was given")
    told += f"; the limit is {_duration(limit_s)}"
    if hot.p95 > limit_s:
        return check(id, "failed", told, "fewer calls at once, a smaller contract, or a faster machine")
    if cold is not None and cold.most > limit_s:
        instead = "ask once with the contract when the program starts, before anybody waits for it"
        return check(id, "warned", f"{told}, and a cold call took longer", instead)
    return check(id, "passed", told)


def _spread(spread: Spread) -> str:
    return f"p50 {_duration(spread.median)}, p95 {_duration(spread.p95)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1_000 * seconds:.3g} ms"


def _legal_mass(run: TrialRun) -> Check:
    means = [each.legal_mass_mean for each in run.calls if each.legal_mass_mean is not None]
    if not means:
        return check("legal_mass", "not_applicable", "only a backend that decodes by itself can tell")
    low = sum(mean < LEAST_LEGAL_MASS for mean in means)
    least = min((each.legal_mass_min for each in run.calls if each.legal_mass_min is not None), default=0.0)
    told = f"mean {sum(means) / len(means):.2f}, least step {least:.2g}"
    if low:
        instead = "show the model what is wanted (prompt, examples, descriptions): it is forced where it would not go"
        return check(
            "legal_mass", "warned", f"{told}; below {LEAST_LEGAL_MASS} in {low} of {len(means)} calls", instead
        )
    return check("legal_mass", "passed", told)


def _dead_ends(run: TrialRun) -> Check:
    dead = sum(each.ending == "dead_end" for each in run.calls)
    if dead:
        instead = "change the contract or the tokenizer as the ending says; asking again does not help"
        return check("dead_ends", "failed", f"{dead} of {len(run.calls)} calls", instead)
    if all(each.legal_mass_mean is None for each in run.calls):
        return check("dead_ends", "not_applicable", "only a backend that decodes by itself can tell")
    return check("dead_ends", "passed", f"none in {len(run.calls)} calls")


def _counted(endings: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {words}" for words, count in endings.items())


__all__ = ["LEAST_LEGAL_MASS", "nothing_tried", "trial_checks"]
