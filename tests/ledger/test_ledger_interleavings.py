"""What holds in every interleaving of two workers at one key, with a crash at any point and one more trouble."""

import pytest
from ledger.two_workers import World, explore

from commitgate.effect_kind import EffectKind
from commitgate.ledger import State

TROUBLES = {
    "two leases end": {"ends": 2},
    "an answer is lost": {"ends": 1, "lost": 1},
    "the clock is set back": {"ends": 1, "back": 1},
    "somebody looks downstream": {"ends": 1, "looks": 1},
    "a person decides": {"ends": 1, "asks_a_person": True},
    "rows are pruned": {"ends": 1, "prunes": 1},
}
WITHOUT_AN_EFFECT = {"new", State.CLAIMED, State.COMMITTED}
WITH_AN_EFFECT = WITHOUT_AN_EFFECT | {
    State.RELEASED,
    State.EFFECT_STARTED,
    State.IN_DOUBT,
    State.FAILED_BEFORE_EFFECT,
}
BY_A_PERSON = {
    "somebody looks downstream": {State.NOT_APPLIED},
    "a person decides": {State.AWAITING_APPROVAL, State.APPROVED, State.REJECTED},
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("kind", [None, *EffectKind])
def test_no_interleaving_of_two_workers_and_a_crash_breaks_a_promise(kind: EffectKind | None, trouble: str) -> None:
    found = explore(World(kind, crashes=1, **TROUBLES[trouble]))
    # All of it was there to be seen.
    if kind is None:
        assert found.keys() == WITHOUT_AN_EFFECT
    else:
        assert found.keys() == WITH_AN_EFFECT | BY_A_PERSON.get(trouble, set())
