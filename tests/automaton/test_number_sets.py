"""Sets of numbers: meeting, complement and counting say what membership says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet

POINTS = [Decimal(number) / 4 for number in range(-60, 61)] + [Decimal(text) for text in ("1e400", "-1e-400", "0.1")]
ENDS = st.one_of(st.none(), st.sampled_from([Decimal(number) / 2 for number in range(-16, 17)]))
STEPS = st.sampled_from([Decimal(text) for text in ("1", "0.5", "2", "3", "1.5", "5", "0.25", "7", "1e300", "0.1")])
VALUES = st.sampled_from(POINTS)


@st.composite
def raw_sets(draw: st.DrawFn) -> NumberSet:
    """Return a set as a schema may say it, not in normal form and perhaps empty."""
    if draw(st.integers(0, 4)) == 0:
        return NumberSet(values=tuple(sorted(set(draw(st.lists(VALUES, min_size=1, max_size=6))))))
    return NumberSet(
        draw(ENDS),
        draw(ENDS),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.one_of(st.none(), STEPS)),
        tuple(draw(st.lists(STEPS, max_size=3))),
        tuple(draw(st.lists(VALUES, max_size=4))),
    )


def normal(raw: NumberSet) -> NumberSet | None:
    if raw.values is not None:
        return NumberSet.of_values(raw.values)
    return NumberSet.between(
        raw.low,
        raw.high,
        is_low_open=raw.is_low_open,
        is_high_open=raw.is_high_open,
        divisor=raw.divisor,
        indivisible=raw.indivisible,
        excluded=raw.excluded,
    )


def is_member(raw: NumberSet, value: Decimal) -> bool:
    if raw.values is not None:
        return value in raw.values
    exact = Fraction(value)
    return not (
        (raw.low is not None and (exact < Fraction(raw.low) or (raw.is_low_open and exact == Fraction(raw.low))))
        or (raw.high is not None and (exact > Fraction(raw.high) or (raw.is_high_open and exact == Fraction(raw.high))))
        or (raw.divisor is not None and (exact / Fraction(raw.divisor)).denominator != 1)
        or any((exact / Fraction(step)).denominator == 1 for step in raw.indivisible)
        or value in raw.excluded
    )


def is_in(found: NumberSet | None, value: Decimal) -> bool:
    return found is not None and found.contains(value)


@settings(max_examples=300, deadline=None)
@given(raw=raw_sets())
def test_normal_form_has_the_members_that_were_asked_for(raw: NumberSet) -> None:
    found = normal(raw)
    assert [is_in(found, point) for point in POINTS] == [is_member(raw, point) for point in POINTS]
    assert found is None or hash(found) == hash(normal(found))
    assert found is None or found == normal(found)


@settings(max_examples=300, deadline=None)
@given(first=raw_sets(), second=raw_sets())
def test_meeting_has_the_common_members(first: NumberSet, second: NumberSet) -> None:
    left, right = normal(first), normal(second)
    met = None if left is None or right is None else left.meet(right)
    expected = [is_member(first, point) and is_member(second, point) for point in POINTS]
    assert [is_in(met, point) for point in POINTS] == expected
    if left is not None and right is not None:
        assert met == right.meet(left)


@settings(max_examples=300, deadline=None)
@given(raw=raw_sets(), other=raw_sets())
def test_complement_has_each_other_number_once(raw: NumberSet, other: NumberSet) -> None:
    found = normal(raw)
    if found is None:
        return
    parts = found.complement()
    for point in POINTS:
        assert sum(part.contains(point) for part in parts) == (not is_member(raw, point))
    assert all(found.meet(part) is None for part in parts)
    smaller = normal(other)
    if smaller is not None:
        for point in POINTS:
            expected = is_member(raw, point) and not is_member(other, point)
            assert any(part.contains(point) for part in found.without(smaller)) == expected


@settings(max_examples=300, deadline=None)
@given(
    low=st.integers(-30, 30),
    width=st.integers(0, 40),
    divisor=STEPS.filter(lambda step: step < 100),
    indivisible=st.lists(STEPS, max_size=3),
    excluded=st.lists(VALUES, max_size=5),
)
def test_count_and_emptiness_of_a_bounded_set_are_exact(
    low: int, width: int, divisor: Decimal, indivisible: list[Decimal], excluded: list[Decimal]
) -> None:
    raw = NumberSet(
        Decimal(low),
        Decimal(low + width),
        divisor=divisor,
        indivisible=tuple(indivisible),
        excluded=tuple(excluded),
    )
    every = (Decimal(number) / 20 for number in range(low * 20, (low + width) * 20 + 1))
    expected = sum(is_member(raw, value) for value in every)
    found = normal(raw)
    assert (0 if found is None else found.count(10_000)) == expected
    assert found is None or found.count(3) == min(expected, 3)


@pytest.mark.parametrize(
    "empty",
    [
        NumberSet.between(Decimal(0), Decimal(1), is_low_open=True, is_high_open=True, divisor=Decimal(1)),
        NumberSet.between(Decimal(1), Decimal(34), divisor=Decimal(35)),
        NumberSet.between(Decimal(2), Decimal(4), divisor=Decimal(1), indivisible=(Decimal(2), Decimal(3))),
        NumberSet.between(Decimal("0.5"), Decimal("0.5"), is_low_open=True),
        NumberSet.between(Decimal(2), Decimal(1)),
        NumberSet.between(divisor=Decimal(6), indivisible=(Decimal(3),)),
        NumberSet.between(Decimal(5), Decimal(7), divisor=Decimal(1), excluded=map(Decimal, (5, 6, 7))),
        NumberSet.of_values(()),
    ],
)
def test_set_without_members_is_none(empty: NumberSet | None) -> None:
    assert empty is None


def test_coprime_steps_in_a_narrow_interval_are_empty() -> None:
    fives = NumberSet.between(Decimal(1), Decimal(30), divisor=Decimal(5))
    sevens = NumberSet.between(divisor=Decimal(7))
    assert fives is not None
    assert sevens is not None
    assert fives.meet(sevens) is None


def test_largest_member_is_found_below_steps_that_are_left_out() -> None:
    found = NumberSet.between(Decimal(0), Decimal(8), divisor=Decimal(1), indivisible=(Decimal(2), Decimal(3)))
    assert found is not None
    assert (found.low, found.high, found.count(10)) == (Decimal(1), Decimal(7), 3)


def test_point_is_a_value() -> None:
    assert NumberSet.between(Decimal("0.50"), Decimal("0.5")) == NumberSet.of_values([Decimal("0.5")])
    assert NumberSet.between(Decimal("0.5"), Decimal("1.5"), divisor=Decimal(1)) == NumberSet.of_values([Decimal(1)])


def test_negative_zero_is_zero() -> None:
    assert NumberSet.of_values([Decimal("-0"), Decimal("0.0")]) == NumberSet.of_values([Decimal(0)])
    found = NumberSet.between(Decimal("-0"))
    assert found is not None
    assert found.contains(Decimal("-0.0"))


def test_distant_exponents_are_exact() -> None:
    huge = NumberSet.between(Decimal("1e300"), divisor=Decimal("0.001"))
    assert huge is not None
    assert huge.contains(Decimal("1e300"))
    assert huge.contains(Decimal(10**300 + 1))
    assert not huge.contains(Decimal(f"{10**300}.0001"))
    met = huge.meet(NumberSet(divisor=Decimal("1e300")))
    assert met is not None
    assert met.divisor == Decimal("1e300")


def test_step_beyond_every_number_leaves_zero() -> None:
    huge = NumberSet(divisor=Decimal("7e399"))
    for prime in (11, 13, 17, 19):
        met = huge.meet(NumberSet(divisor=Decimal(f"{prime**300}")))
        assert met is not None
        huge = met
    assert huge == NumberSet.of_values([Decimal(0)])


def test_long_lists_meet_and_leave_others_out() -> None:
    many = NumberSet.of_values(map(Decimal, range(100_000)))
    even = NumberSet.between(Decimal(10), divisor=Decimal(2))
    assert many is not None
    assert even is not None
    assert many.meet(even) == NumberSet.of_values(map(Decimal, range(10, 100_000, 2)))
    (others,) = many.complement()
    rest = others.meet(ANY_INTEGER)
    assert rest is not None
    assert [rest.contains(Decimal(value)) for value in (-1, 0, 99_999, 100_000)] == [True, False, False, True]
    assert rest.meet(many) is None


def test_coarser_set_keeps_bounds_and_integers() -> None:
    fine = NumberSet.between(Decimal(1), Decimal(10**12), divisor=Decimal(1_000_003), indivisible=(Decimal(5),))
    assert fine is not None
    assert fine.coarser() == NumberSet.between(fine.low, fine.high, divisor=Decimal(1))
    halves = NumberSet.between(Decimal(0), divisor=Decimal("0.5"))
    assert halves is not None
    assert halves.coarser() == NumberSet.between(Decimal(0))


def test_everything_has_no_complement() -> None:
    assert ANY_NUMBER.complement() == ()
    assert ANY_INTEGER.complement() == (NumberSet(indivisible=(Decimal(1),)),)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ANY_INTEGER, "an integer"),
        (NumberSet.between(Decimal(0), Decimal(10), is_low_open=True), "a number above 0 and of at most 10"),
        (NumberSet.between(divisor=Decimal(5), excluded=[Decimal(10)]), "a multiple of 5, but not 10"),
        (NumberSet.of_values(map(Decimal, range(7))), "the number 0, 1, 2, 3, 4 or one of 2 more"),
    ],
)
def test_set_is_described_in_words(found: NumberSet, words: str) -> None:
    assert found.describe() == words
