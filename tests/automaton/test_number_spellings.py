"""Every spelling of a set's numbers is accepted, nothing else, and what cannot become a member is dead at once."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.multiples import step_at, steps_up_to
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.terms import Arena, Term

GRAMMAR = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")
ENDS = [Decimal(text) for text in ("0", "4", "-123", "42", "0.5", "0.25", "10", "18446744073709551615", "1e20", "-2.5")]
STEPS = [Decimal(text) for text in ("1", "0.01", "5", "3", "2.5", "7", "100", "0.25", "1e-15", "12", "1e300")]
LISTED = [Decimal(text) for text in ("0", "150", "-2.5", "0.003", "1e20", "105", "1000", "12", "1.5", "-15", "15")]


SHORT_ENDS = [end for end in ENDS if abs(end) < 1000]
SHORT_STEPS = [step for step in STEPS if Decimal("0.001") < step < 1000]


@st.composite
def number_sets(draw: st.DrawFn, *, is_short: bool = False) -> NumberSet:
    """Return a set of numbers, often a narrow one; ``is_short`` where some member has a few digits alone."""
    ends, steps = st.sampled_from(SHORT_ENDS if is_short else ENDS), st.sampled_from(SHORT_STEPS if is_short else STEPS)
    kind = draw(st.integers(0, 5))
    found: NumberSet | None
    if kind == 0:
        found = NumberSet.of_values(draw(st.lists(st.sampled_from(LISTED), min_size=1, max_size=4)))
    else:
        found = NumberSet.between(
            draw(st.none() | ends),
            draw(st.none() | ends),
            is_low_open=draw(st.booleans()),
            is_high_open=draw(st.booleans()),
            divisor=draw(st.none() | steps),
            indivisible=draw(st.lists(steps, max_size=2)) if kind == 1 else (),
            excluded=draw(st.lists(st.sampled_from(LISTED + ENDS), max_size=3)) if kind == 2 else (),
        )
    return ANY_NUMBER if found is None else found


def spelled(draw: st.DrawFn, value: Decimal) -> str:
    """Return one of the value's spellings."""
    shift = draw(st.integers(-6, 6))
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    mantissa = format(Decimal((sign, digits, exponent - shift)), "f")
    zeros = draw(st.sampled_from(["", "0", "00"]))
    mantissa += zeros if "." in mantissa else "." + zeros if zeros else ""
    written = f"{draw(st.sampled_from('eE'))}{'-' if shift < 0 else draw(st.sampled_from(['', '+']))}"
    written += draw(st.sampled_from(["", "0"])) + str(abs(shift))
    return mantissa + ("" if shift == 0 and draw(st.booleans()) else written)


@st.composite
def spellings(draw: st.DrawFn, numbers: NumberSet) -> str:
    """Return some spelling of a value near the set's borders, or digits and signs in any order."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return draw(st.text("-0123510.eE+", max_size=8))
    if kind == 1:
        return spelled(draw, draw(st.decimals(-1000, 1000, places=draw(st.integers(0, 3)))))
    own = [*(end for end in (numbers.low, numbers.high) if end is not None), *numbers.excluded, *(numbers.values or ())]
    base = draw(st.sampled_from(own if own and draw(st.booleans()) else [*LISTED, *ENDS]))
    step = numbers.divisor or draw(st.sampled_from(STEPS))
    if step > 1000 or base > 10**30:
        return spelled(draw, base)
    near = base + draw(st.integers(-3, 3)) * step
    return spelled(draw, near if kind == 2 else step_at(steps_up_to(base, step), step))


def is_allowed(numbers: NumberSet, text: str) -> bool:
    if not GRAMMAR.match(text):
        return False
    exponent = re.search(r"[eE]([+-]?\d+)", text)
    return not (exponent and abs(int(exponent[1])) > 400) and numbers.contains(Decimal(text))


@settings(max_examples=600, deadline=None)
@given(data=st.data(), numbers=number_sets())
def test_acceptance_is_membership_and_no_accepted_prefix_is_dead(data: st.DataObject, numbers: NumberSet) -> None:
    arena = Arena()
    start = accept_term(arena, numbers)
    for text in data.draw(st.lists(spellings(numbers), min_size=1, max_size=12)):
        accepted = start.walk(text.encode()).nullable
        assert accepted == is_allowed(numbers, text), (numbers, text)
        if accepted:
            assert all(start.walk(text[:end].encode()) is not arena.empty for end in range(len(text)))


def is_finishable(term: Term, budget: int = 4_000) -> bool:
    """Return whether some text ends the term, by a search that takes what is near an end first."""
    seen, layer = {id(term)}, [term]
    while layer and budget > 0:
        following: list[Term] = []
        for state in layer:
            if state.nullable:
                return True
            budget -= 1
            for _, after in state.successors():
                if id(after) not in seen:
                    seen.add(id(after))
                    following.append(after)
        layer = following
    return False


@settings(max_examples=300, deadline=None)
@given(data=st.data(), numbers=number_sets(is_short=True), is_literal=st.booleans())
def test_every_live_state_of_a_walk_can_be_finished(data: st.DataObject, numbers: NumberSet, is_literal: bool) -> None:
    arena = Arena()
    term = accept_term(arena, numbers, is_literal_integer=is_literal)
    if term is arena.empty:
        return
    read = ""
    for _ in range(data.draw(st.integers(0, 8))):
        choices = sorted((members, id(after), after) for members, after in term.successors())
        if not choices:
            break
        members, _, term = data.draw(st.sampled_from(choices))
        read += chr(data.draw(st.sampled_from(sorted(members))))
    assert is_finishable(term), (numbers, read)


@pytest.mark.parametrize(
    ("numbers", "prefix"),
    [
        (NumberSet.between(Decimal(0), is_low_open=True), "-0.1"),
        (NumberSet.between(Decimal(4), Decimal(9)), "-"),
        (NumberSet.between(Decimal(41), Decimal(42)), "5"),
        (NumberSet.between(Decimal(41), Decimal(42)), "40"),
        (NumberSet.between(Decimal(41), Decimal(42)), "43"),
        (NumberSet.between(Decimal(41), Decimal(42), is_high_open=True), "42"),
        (NumberSet.between(Decimal(0), Decimal(10), divisor=Decimal(1)), "12345"),
        (NumberSet.between(Decimal(0), Decimal(10), divisor=Decimal(1)), "1.5e-"),
        (NumberSet.of_values([Decimal(150)]), "16"),
        (NumberSet.of_values([Decimal(150)]), "1.5e3"),
        (NumberSet.between(divisor=Decimal("0.01")), "3.001e-"),
        (NumberSet.between(Decimal(700), Decimal(800), divisor=Decimal(9)), "7003"),
        (NumberSet.between(divisor=Decimal(1), indivisible=[Decimal(10)]), "1e1"),
    ],
)
def test_prefix_that_cannot_reach_a_member_is_dead(numbers: NumberSet, prefix: str) -> None:
    arena = Arena()
    assert accept_term(arena, numbers).walk(prefix.encode()) is arena.empty


@pytest.mark.parametrize(
    "text", ["9" * 1001, "1e401", "1e-401", "0." + "0" * 1001, "9" * 1000 + ".", "9" * 1000 + "e", "9" * 998 + "e100"]
)
def test_number_beyond_the_limits_of_size_is_dead(text: str) -> None:
    arena = Arena()
    assert accept_term(arena, ANY_NUMBER).walk(text.encode()) is arena.empty


@pytest.mark.parametrize("text", ["9" * 1000, "1e400", "1E-400", "9" * 997 + "e400", "0" + "." + "0" * 998 + "e1"])
@pytest.mark.parametrize("numbers", [ANY_NUMBER, NumberSet.between(Decimal(0))])
def test_number_at_the_limits_of_size_is_accepted(numbers: NumberSet, text: str) -> None:
    assert accept_term(Arena(), numbers).walk(text.encode()).nullable


def test_many_integers_above_a_bound_share_their_states() -> None:
    arena = Arena()
    start = accept_term(arena, NumberSet.between(Decimal(0), divisor=Decimal(1)) or ANY_NUMBER)
    for number in range(0, 100_000, 7):
        assert start.walk(str(number).encode()).nullable
    assert len(arena) < 150


def test_long_digit_runs_between_bounds_share_their_states() -> None:
    arena = Arena()
    start = accept_term(arena, NumberSet.between(Decimal("-7.25"), Decimal(18446744073709551615)) or ANY_NUMBER)
    for number in range(1, 10**18, 10**14 + 12345):
        assert start.walk(str(number).encode()).nullable
    assert len(arena) < 2_000


def test_counters_that_cannot_matter_are_saturated() -> None:
    start = accept_term(Arena(), ANY_NUMBER)
    assert start.walk(b"12345").saturated(32) is start.walk(b"987").saturated(32)
    assert start.walk(b"1e00").saturated(32) is start.walk(b"21e000").saturated(32)


def test_bounds_and_divisors_of_thousands_of_digits_are_read() -> None:
    low = Decimal("0." + "123" * 2_000)
    multiples = NumberSet.between(low, divisor=Decimal("0." + "7" * 5_000))
    assert not accept_term(Arena(), multiples or ANY_NUMBER).walk(b"0.7").nullable
    above = accept_term(Arena(), NumberSet.between(low) or ANY_NUMBER)
    assert [above.walk(text).nullable for text in (b"0.1231", b"0.1232")] == [False, True]


def test_long_list_accepts_its_values_alone() -> None:
    numbers = NumberSet.of_values(Decimal(number) / 2 for number in range(20_000))
    term = accept_term(Arena(), numbers or ANY_NUMBER)
    assert term.walk(b"9999.5").nullable
    assert term.walk(b"99.995e2").nullable
    assert not term.walk(b"9999.6").nullable
    assert not term.walk(b"10000").nullable


def test_integer_may_be_written_with_zeros_after_the_point() -> None:
    start = accept_term(Arena(), ANY_INTEGER)
    assert [start.walk(text).nullable for text in (b"1.0", b"-0.0", b"15e-1", b"150e-1")] == [True, True, False, True]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), numbers=number_sets())
def test_literal_integer_has_neither_point_nor_exponent(data: st.DataObject, numbers: NumberSet) -> None:
    arena = Arena()
    start = accept_term(arena, numbers, is_literal_integer=True)
    assert (start is arena.empty) == (numbers.meet(ANY_INTEGER) is None)
    for text in data.draw(st.lists(spellings(numbers) | st.integers(-200, 200).map(str), min_size=1, max_size=8)):
        expected = re.fullmatch(r"-?(0|[1-9]\d*)", text) is not None and numbers.contains(Decimal(text))
        assert start.walk(text.encode()).nullable == expected


@pytest.mark.parametrize("prefix", ["1.", "1e", "11", "-"])
def test_literal_integer_that_cannot_become_a_member_is_dead(prefix: str) -> None:
    arena = Arena()
    numbers = NumberSet.between(Decimal(0), Decimal(10), is_low_open=True)
    assert accept_term(arena, numbers or ANY_NUMBER, is_literal_integer=True).walk(prefix.encode()) is arena.empty
