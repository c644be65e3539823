"""Every recorded response of a server is read rightly however the network cut it, and a cut proves nothing."""

from itertools import pairwise
from random import Random

import pytest
from backends.recorded import Recorded, recorded

from commitgate.testing import Replay

ENDED = frozenset({"complete", "tool_call", "truncated", "refused", "filtered", "paused", "aborted", "malformed"})
"""Readings that only a finish of the server's brings."""

every_response = pytest.mark.parametrize("response", recorded(), ids=str)


def reading(found: Replay, wanted: dict[str, object]) -> dict[str, object]:
    """Return what was read, as far as it is known how it should be."""
    told: dict[str, object] = {
        "outcome": found.outcome,
        "text": found.text,
        "finish_native": found.finish_native,
        "terminal": found.terminal,
        "usage": [found.usage.input_tokens, found.usage.output_tokens],
        "tool_calls": [[call.id, call.name, call.arguments] for call in found.tool_calls],
        "reasoning": found.reasoning,
        "refusal": found.refusal,
        "retry_after_s": None if found.fault is None else found.fault.retry_after_s,
    }
    return {name: told[name] for name in wanted if name in told}


def without(wanted: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in wanted.items() if name not in names}


def test_all_of_them_are_there() -> None:
    assert len(recorded()) == 136
    assert len({response.name for response in recorded()}) == 136


@every_response
def test_response_is_read(response: Recorded) -> None:
    wanted = without(response.wanted, "retryable")
    assert reading(response.replay(), wanted) == wanted


@every_response
def test_cuts_of_the_network_change_nothing(response: Recorded) -> None:
    whole = response.replay()
    length = len(response.body)
    assert response.replay(split_at=response.split_at) == whole
    assert response.replay(split_at=tuple(range(length))) == whole
    for seed in range(20):
        random = Random(f"{response.name} {seed}")
        cuts = tuple(random.randrange(length) for _ in range(random.randint(0, min(64, length)))) if length else ()
        assert response.replay(split_at=cuts) == whole


@every_response
def test_end_at_any_event_is_complete_only_where_the_finish_was_read(response: Recorded) -> None:
    whole = response.replay()
    for boundary in response.boundaries():
        for end in ("clean", "reset"):
            found = response.replay(length=boundary, end=end)
            # A character that was cut in two is shown as such.
            assert whole.text.startswith(found.text.rstrip("\ufffd"))
            assert found.finish_native is not None or found.outcome not in ENDED
            assert found.finish_native in (None, whole.finish_native)


@pytest.mark.parametrize("response", [each for each in recorded() if each.status == 200], ids=str)
def test_end_within_an_event_adds_nothing_to_the_events_before_it(response: Recorded) -> None:
    boundaries = response.boundaries()
    for start, stop in pairwise(boundaries):
        before = response.replay(length=start, end="reset")
        within = response.replay(length=(start + stop) // 2, end="reset")
        assert within == before


@every_response
def test_failure_is_asked_again_only_where_that_may_help(response: Recorded) -> None:
    found = response.replay()
    if found.fault is not None and "retryable" in response.wanted:
        passes = found.fault.kind in ("rate_limit", "overload", "server")
        assert passes == response.wanted["retryable"]
