"""Test that every outcome says in one sentence what it is, so that logging one never fails."""

from __future__ import annotations

from commitgate.outcome import Committed, Receipt, Refused


def test_committed_value_is_told_without_showing_it() -> None:
    fresh = Committed(value="secret", receipt=Receipt())
    again = Committed(value="secret", receipt=Receipt(), is_replayed=True)
    assert fresh.summary() != again.summary()
    assert "secret" not in fresh.summary() + again.summary() + Refused(text="secret", receipt=Receipt()).summary()
