"""Limits of a server are checked when they are made."""

from dataclasses import fields
from typing import Any

import pytest

from commitgate.errors import MisuseError
from commitgate_local.server.server_limits import ServerLimits

NUMBERS = [entry.name for entry in fields(ServerLimits) if entry.name != "contract"]
SECONDS = {name for name in NUMBERS if name.endswith("_s")}
MAY_BE_ZERO = {"queued_requests", "idempotency_entries", "idempotency_bytes", "drain_s"}


def made(name: str, value: Any) -> ServerLimits:
    further = {"default_max_tokens": 1} if name == "max_tokens" else {}
    return ServerLimits(**{**further, name: value})


@pytest.mark.parametrize("name", NUMBERS)
def test_limit_takes_numbers_of_its_range_alone(name: str) -> None:
    least = 0 if name in MAY_BE_ZERO else 1
    assert getattr(made(name, least), name) == least
    if name in SECONDS:
        assert getattr(made(name, 0.5), name) == 0.5
    refused: list[Any] = [-1, "1", None, True, float("inf"), float("nan")]
    refused += [] if name in MAY_BE_ZERO else [0]
    refused += [] if name in SECONDS else [1.5]
    for value in refused:
        with pytest.raises(MisuseError, match=f"ServerLimits.{name} must"):
            made(name, value)


def test_contract_takes_limits_of_contracts_alone() -> None:
    with pytest.raises(MisuseError, match="contract must be a Limits"):
        ServerLimits(contract=3)


def test_default_of_tokens_is_within_their_limit() -> None:
    assert ServerLimits(max_tokens=5, default_max_tokens=5).max_tokens == 5
    with pytest.raises(MisuseError, match="default_max_tokens must be at most max_tokens"):
        ServerLimits(max_tokens=5, default_max_tokens=6)
