"""Say what a caller allows to be asked again."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.argument import check_finite, check_int
from commitgate.errors import MisuseError

_SECONDS = "a number of seconds > 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Allow further requests within one call; ``Retry(attempts=1)`` allows none.

    Without any, the call makes one request. What ends a call for good, and what may be asked again, is fixed:
    this says only how often, and how long to wait between. All of it happens within ``Timeouts.total_s``.

    Attributes:
        attempts: most requests for one question as long as nothing of its answer was shown, >= 1.
        restarts: further requests of the call after something was shown, each announced by a ``Reset``, >= 0.
        reasks: further questions after an ``Invalid`` answer, with what was wrong fed back, >= 0.
        larger_max_tokens: ask once more with this ``max_tokens`` where the one before cut the answer, >= 1; None not.
        backoff_s: longest wait before the second request, in seconds, > 0; it doubles with each further one.
        backoff_most_s: longest wait that it doubles up to, in seconds, >= ``backoff_s``.
        retry_after_most_s: longest wait that a server may ask for, in seconds, > 0; past it the call ends at once.

    Raises:
        MisuseError: a field is out of its range, or ``backoff_s`` is longer than ``backoff_most_s``.
    """

    attempts: int = 3
    restarts: int = 0
    reasks: int = 0
    larger_max_tokens: int | None = None
    backoff_s: float = 0.5
    backoff_most_s: float = 8.0
    retry_after_most_s: float = 120.0

    def __post_init__(self) -> None:
        _check_count("attempts", self.attempts, least=1)
        _check_count("restarts", self.restarts, least=0)
        _check_count("reasks", self.reasks, least=0)
        if self.larger_max_tokens is not None:
            _check_count("larger_max_tokens", self.larger_max_tokens, least=1)
        _check_seconds("backoff_s", self.backoff_s)
        _check_seconds("backoff_most_s", self.backoff_most_s)
        _check_seconds("retry_after_most_s", self.retry_after_most_s)
        if self.backoff_s > self.backoff_most_s:
            raise MisuseError(
                f"Retry.backoff_s must be <= Retry.backoff_most_s ({self.backoff_most_s!r}), found {self.backoff_s!r}"
            )


def _check_count(field_name: str, value: int, *, least: int) -> None:
    name = f"Retry.{field_name}"
    check_int(name, value)
    if value < least:
        raise MisuseError(f"{name} must be an int >= {least}, found {value}")


def _check_seconds(field_name: str, value: float) -> None:
    name = f"Retry.{field_name}"
    check_finite(name, value, _SECONDS)
    if value <= 0:
        raise MisuseError(f"{name} must be {_SECONDS}, found {value!r}")


__all__ = ["Retry"]
