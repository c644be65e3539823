"""Define the steps that a script may have, and check them before any is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast, get_args

from commitgate.argument import check_choice, check_finite, check_int, check_kind, check_text, wrong_kind
from commitgate.backends.base import DeadEndCause, FaultKind
from commitgate.errors import MisuseError

Step: TypeAlias = Mapping[str, object]
"""One step of a script: a dict with one entry, of which ``ScriptedBackend`` tells the kinds."""

STEPS = (
    "text",
    "reasoning",
    "refusal",
    "tool",
    "prose",
    "usage",
    "finish",
    "done",
    "fault",
    "dead_end",
    "event",
    "raw",
    "ping",
    "http",
    "wait",
    "wait_s",
    "repeat",
    "raise",
    "connect",
    "pool",
    "close",
)
"""Main keys of a step."""

CLOSINGS = ("eof", "fin", "rst")
"""How a stream can end: cleanly, or by a line that broke in one of two ways."""

_REPEATABLE = ("text", "reasoning", "refusal", "tool", "prose", "usage", "event", "raw", "ping")


def check_script(name: str, script: object) -> None:
    """Check every step of a script.

    Args:
        name: what messages call the script; steps are counted from 0.
        script: the steps.

    Raises:
        MisuseError: it is no list, or a step is none that can be played there.
    """
    check_kind(name, script, Sequence, "a list of steps")
    if isinstance(script, str | bytes):
        raise wrong_kind(name, "a list of steps", script)
    for number, step in enumerate(cast("Sequence[object]", script)):
        place = f"step {number}" if name == "script" else f"{name}: step {number}"
        check_step(place, step)
        if number and ("connect" in cast(Step, step) or "pool" in cast(Step, step)):
            raise MisuseError(f"{place} must come first: it happens before the request is sent")


def check_step(name: str, step: object) -> None:
    """Check one step of a script.

    Args:
        name: what messages call it.
        step: the step.

    Raises:
        MisuseError: it has no main key, more than one, a key that means nothing beside it, or a value that none of its
            kind can have.
    """
    _check_keys(name, step, _CHECKS)


def _check_keys(name: str, step: object, kinds: Mapping[str, Mapping[str, Callable[[str, object], None]]]) -> None:
    if not isinstance(step, Mapping):
        raise wrong_kind(name, "a dict", step)
    given = cast("Mapping[object, object]", step)
    if sum(key in given for key in kinds) != 1:
        raise MisuseError(f"{name} must have exactly one of: {', '.join(kinds)}")
    main = next(key for key in kinds if key in given)
    checks = kinds[main]
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
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if not is_list or len(cast("Sequence[object]", value)) not in (2, 3):
        raise MisuseError(f"{name} must be [input_tokens, output_tokens], and reasoning_tokens where there are some")
    for count in cast("Sequence[object]", value):
        if count is not None:
            _check_count(name, count)


def _check_seconds(name: str, value: object) -> None:
    check_finite(name, value, "a number of seconds")
    if cast(float, value) < 0:
        raise MisuseError(f"{name} must be >= 0")


def _kind(kind: type[object], wanted: str) -> Callable[[str, object], None]:
    return lambda name, value: check_kind(name, value, kind, wanted)


def _one_of(*words: str) -> Callable[[str, object], None]:
    return lambda name, value: check_choice(name, value, words)


def _check_true(name: str, value: object) -> None:
    if value is not True:
        raise wrong_kind(name, "True", value)


def _check_raised(name: str, value: object) -> None:
    if not isinstance(value, str | BaseException):
        raise wrong_kind(name, "an exception or a str", value)


def _check_waitable(name: str, value: object) -> None:
    if value is not None and not callable(getattr(value, "wait", None)):
        raise wrong_kind(name, "an object with an async wait(), or None", value)


def check_answer_head(name: str, value: object) -> None:
    """Check the parts of an HTTP answer: ``status`` 200 to 599, ``headers``, ``body``.

    Raises:
        MisuseError: it has another part, or one has a value that it cannot have.
    """
    check_kind(name, value, Mapping, "a dict")
    parts = cast("Mapping[object, object]", value)
    if not parts.keys() <= {"status", "headers", "body"}:
        raise MisuseError(f"{name} may have only the keys: status, headers, body")
    status = parts.get("status", 200)
    check_int(f"{name}: status", status)
    if not 200 <= cast(int, status) <= 599:
        raise MisuseError(f"{name}: status must lie in [200, 599], found {status!r}")
    headers = parts.get("headers", {})
    check_kind(f"{name}: headers", headers, Mapping, "a dict")
    for field, text in cast("Mapping[object, object]", headers).items():
        check_text(f"{name}: headers", field)
        check_text(f"{name}: headers: {field}", text)
    check_kind(f"{name}: body", parts.get("body", ""), str | bytes | Mapping | list, "a str, bytes, dict or list")  # pyright: ignore[reportArgumentType] - isinstance takes a union


def _check_call(name: str, value: object) -> None:
    check_kind(name, value, Mapping, "a dict")
    parts = cast("Mapping[object, object]", value)
    if not parts.keys() <= {"i", "id", "name", "args"}:
        raise MisuseError(f"{name} may have only the keys: i, id, name, args")
    _check_count(f"{name}: i", parts.get("i"))
    for key in ("id", "name"):
        if parts.get(key) is not None:
            check_text(f"{name}: {key}", parts[key])
    _check_answer(f"{name}: args", parts.get("args", ""))


def _check_repeated(name: str, value: object) -> None:
    _check_keys(name, value, _REPEATED)
    step = cast(Step, value)
    if ("count" in step) == ("for_s" in step):
        raise MisuseError(f"{name} must have count, or every_s and for_s")
    if "for_s" in step and not cast(float, step.get("every_s", 0)) > 0:
        raise MisuseError(f"{name}: every_s must be > 0 beside for_s")


_CHECKS: Mapping[str, Mapping[str, Callable[[str, object], None]]] = {
    "text": {
        "text": _check_answer,
        "legal_mass": _check_mass,
        "forced": _kind(bool, "True or False"),
        "tokens": _check_count,
    },
    "reasoning": {"reasoning": _check_answer},
    "refusal": {"refusal": check_text},
    "tool": {"tool": _check_call},
    "prose": {"prose": _check_answer},
    "usage": {"usage": _check_usage},
    "finish": {"finish": _kind(str, "a str"), "native": _kind(str, "a str")},
    "done": {"done": _check_true},
    "fault": {
        "fault": _one_of(*get_args(FaultKind)),
        "message": check_text,
        "status": check_int,
        "code": check_text,
        "retry_after_s": check_finite,
        "request_id": check_text,
    },
    "dead_end": {
        "dead_end": _one_of(*get_args(DeadEndCause)),
        "prefix_tokens": _check_count,
        "explanation": check_text,
    },
    "event": {"event": _kind(Mapping, "a dict")},
    "raw": {"raw": _check_answer},
    "ping": {"ping": _check_true},
    "http": {"http": check_answer_head},
    "wait": {"wait": _check_waitable},
    "wait_s": {"wait_s": _check_seconds},
    "repeat": {"repeat": _check_repeated, "prefix": _check_answer},
    "raise": {"raise": _check_raised},
    "connect": {"connect": _one_of("black hole")},
    "pool": {"pool": _one_of("busy")},
    "close": {"close": _one_of(*CLOSINGS)},
}
"""For each main key the keys that a step may have, each with the check of its value."""

_REPEATED = {
    main: {**_CHECKS[main], "count": _check_count, "every_s": _check_seconds, "for_s": _check_seconds}
    for main in _REPEATABLE
}


__all__ = ["CLOSINGS", "STEPS", "Step", "check_answer_head", "check_script", "check_step"]
