"""Check the steps of a scripted backend before any is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

from commitgate.argument import check_finite, check_int, check_kind, check_text, wrong_kind
from commitgate.backends.base import DeadEndCause, FaultKind
from commitgate.errors import MisuseError

STEPS = ("text", "refusal", "usage", "finish", "fault", "dead_end", "wait", "raise", "close")
"""Main keys of a step."""


def check_step(name: str, step: object) -> None:
    """Check one step of a script.

    Args:
        name: what messages call it.
        step: the step.

    Raises:
        MisuseError: it has no main key, more than one, a key that means nothing beside it, or a value that none of its
            kind can have.
    """
    if not isinstance(step, Mapping):
        raise wrong_kind(name, "a dict", step)
    given = cast("Mapping[object, object]", step)
    if sum(key in given for key in STEPS) != 1:
        raise MisuseError(f"{name} must have exactly one of: {', '.join(STEPS)}")
    main = next(key for key in STEPS if key in given)
    checks = _CHECKS[main]
    if not given.keys() <= checks.keys():
        # A misspelled key would be passed over without a word.
        raise MisuseError(f"{name} may have only the keys: {', '.join(checks)}")
    for key, check in checks.items():
        if key in given and (key == main or given[key] is not None):
            check(f"{name}: {key}", given[key])


def _check_answer(name: str, value: object) -> None:
    if not isinstance(value, bytes):
        check_kind(name, value, str, "a str or bytes")
        check_text(name, value)


def _check_mass(name: str, value: object) -> None:
    # Any number: a backend that reports one outside [0, 1] can be played, too.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_kind(name, "a number", value)


def _check_count(name: str, value: object) -> None:
    check_int(name, value)
    if cast(int, value) < 0:
        raise MisuseError(f"{name} must be >= 0")


def _check_usage(name: str, value: object) -> None:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or len(cast("Sequence[object]", value)) != 2:
        raise MisuseError(f"{name} must be [input_tokens, output_tokens]")
    for count in cast("Sequence[object]", value):
        if count is not None:
            _check_count(name, count)


def _kind(kind: type[object], wanted: str) -> Callable[[str, object], None]:
    return lambda name, value: check_kind(name, value, kind, wanted)


def _one_of(words: tuple[str, ...]) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        if value not in words:
            raise MisuseError(f"{name} must be one of: {', '.join(words)}")

    return check


def _check_raised(name: str, value: object) -> None:
    if not isinstance(value, str | BaseException):
        raise wrong_kind(name, "an exception or a str", value)


def _check_waitable(name: str, value: object) -> None:
    if value is not None and not callable(getattr(value, "wait", None)):
        raise wrong_kind(name, "an object with an async wait(), or None", value)


_CHECKS: Mapping[str, Mapping[str, Callable[[str, object], None]]] = {
    "text": {
        "text": _check_answer,
        "legal_mass": _check_mass,
        "forced": _kind(bool, "True or False"),
        "tokens": _check_count,
    },
    "refusal": {"refusal": check_text},
    "usage": {"usage": _check_usage},
    "finish": {"finish": _kind(str, "a str"), "native": _kind(str, "a str")},
    "fault": {
        "fault": _one_of(get_args(FaultKind)),
        "message": check_text,
        "status": check_int,
        "code": check_text,
        "retry_after_s": check_finite,
    },
    "dead_end": {
        "dead_end": _one_of(get_args(DeadEndCause)),
        "prefix_tokens": _check_count,
        "explanation": check_text,
    },
    "wait": {"wait": _check_waitable},
    "raise": {"raise": _check_raised},
    "close": {"close": check_text},
}
"""For each main key the keys that a step may have, each with the check of its value."""


__all__ = ["STEPS", "check_step"]
