"""What a caller may allow."""

from dataclasses import FrozenInstanceError, fields
from math import inf, nan

import pytest

from commitgate.errors import MisuseError
from commitgate.retry import Retry

COUNTS = {"attempts": 1, "restarts": 0, "reasks": 0, "larger_max_tokens": 1}
SECONDS = ("backoff_s", "backoff_most_s", "retry_after_most_s")


def test_every_field_is_checked() -> None:
    assert {entry.name for entry in fields(Retry)} == {*COUNTS, *SECONDS}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_have_a_least(name: str) -> None:
    assert getattr(Retry(**{name: COUNTS[name]}), name) == COUNTS[name]
    with pytest.raises(MisuseError, match=rf"Retry\.{name} must be an int >= {COUNTS[name]}, found"):
        Retry(**{name: COUNTS[name] - 1})


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [True, 1.0, "1"])
def test_counts_are_whole_numbers(name: str, value: object) -> None:
    with pytest.raises(MisuseError, match=rf"Retry\.{name} must be an int, found"):
        Retry(**{name: value})  # pyright: ignore[reportArgumentType] - the misuse is the test


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("value", [0, -1.0, nan, inf, 10**400, True, "1", None])
def test_waits_are_seconds(name: str, value: object) -> None:
    with pytest.raises(MisuseError, match=rf"Retry\.{name} must be a number of seconds > 0, found"):
        Retry(**{name: value})  # pyright: ignore[reportArgumentType] - the misuse is the test


def test_policy_is_a_value() -> None:
    assert Retry() == Retry(attempts=3)
    with pytest.raises(FrozenInstanceError):
        Retry().attempts = 5  # pyright: ignore[reportAttributeAccessIssue] - the misuse is the test


def test_wait_that_doubles_does_not_begin_above_where_it_ends() -> None:
    assert Retry(backoff_s=8, backoff_most_s=8.0).backoff_s == 8
    with pytest.raises(MisuseError, match=r"Retry\.backoff_s must be <= Retry\.backoff_most_s \(8\.0\), found 8\.1"):
        Retry(backoff_s=8.1)
    with pytest.raises(MisuseError, match=r"Retry\.backoff_s must be <= Retry\.backoff_most_s \(0\.1\), found 0\.5"):
        Retry(backoff_most_s=0.1)
