"""Test that every outcome says in one sentence what it is, so that logging one never fails."""

from __future__ import annotations

from typing import get_args

import pytest

from commitgate.backends.base import FaultKind
from commitgate.outcome import Committed, Receipt, Refused, Unavailable, Unsupported


def test_committed_value_is_told_without_showing_it() -> None:
    fresh = Committed(value="secret", receipt=Receipt())
    again = Committed(value="secret", receipt=Receipt(), is_replayed=True)
    assert fresh.summary() != again.summary()
    assert "secret" not in fresh.summary() + again.summary() + Refused(text="secret", receipt=Receipt()).summary()


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_failed_backend_points_to_its_words_and_shows_none(kind: FaultKind) -> None:
    told = Unavailable(kind=kind, message="status 400", detail="secret", receipt=Receipt()).summary()
    silent = Unavailable(kind=kind, message="status 400", receipt=Receipt()).summary()
    assert "outcome.detail" in told
    assert "secret" not in told
    assert "outcome.detail" not in silent
    assert f"({kind}): status 400" in silent


@pytest.mark.parametrize(
    ("kind", "status", "hint"),
    [
        ("auth", 401, "key"),
        ("quota", 402, "account"),
        ("unreachable", None, "address"),
        ("untrusted", None, "verify"),
        ("bad_request", 404, "model's name"),
        ("protocol", 200, "base_url"),
        ("overload", 503, "later"),
    ],
)
def test_failed_backend_says_what_to_do(kind: FaultKind, status: int | None, hint: str) -> None:
    assert hint in Unavailable(kind=kind, message="it failed", status=status, receipt=Receipt()).summary()


@pytest.mark.parametrize("keyword", ["", "pattern"])
def test_contract_that_a_server_refused_points_to_its_words_and_shows_none(keyword: str) -> None:
    told = Unsupported(keyword=keyword, pointer="", reason="refused", detail="secret", receipt=Receipt()).summary()
    assert "outcome.detail" in told
    assert "secret" not in told
    silent = Unsupported(keyword=keyword, pointer="", reason="refused", receipt=Receipt()).summary()
    assert "outcome.detail" not in silent
