"""Numbers are generated in their plain spelling, every one of them is a member, and no text is a dead end."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.generated_number import NumbersTooFine, generate_term
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.terms import Arena, Term

PLAIN = re.compile(r"(?!-0(\.0*)?\Z)-?(0|[1-9]\d*)(\.\d+)?\Z")
ENDS = [Decimal(text) for text in ("0", "4", "-123", "42", "0.5", "0.25", "10", "18446744073709551615", "1e20", "-2.5")]
STEPS = [Decimal(text) for text in ("1", "0.01", "5", "3", "2.5", "7", "100", "0.25", "1e-15", "12", "0.5")]
LISTED = [Decimal(text) for text in ("0", "150", "-2.5", "0.003", "1e20", "105", "1000", "12", "1.5", "-15", "15")]
UINT64 = Decimal(2**64 - 1)


def written(numbers: NumberSet | None, *, integer_digits: int = 15, fraction_digits: int = 12) -> Term:
    assert numbers is not None
    return generate_term(Arena(), numbers, integer_digits=integer_digits, fraction_digits=fraction_digits)


def between(low: str | None = None, high: str | None = None, step: str | None = None) -> NumberSet:
    """Return an interval of the multiples of ``step``; a bound that begins with ``>`` or ``<`` is open."""
    found = NumberSet.between(
        None if low is None else Decimal(low.lstrip(">")),
        None if high is None else Decimal(high.lstrip("<")),
        is_low_open=low is not None and low.startswith(">"),
        is_high_open=high is not None and high.startswith("<"),
        divisor=None if step is None else Decimal(step),
    )
    assert found is not None
    return found


@st.composite
def number_sets(draw: st.DrawFn) -> NumberSet:
    """Return a set of numbers, often a narrow one."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        found = NumberSet.of_values(draw(st.lists(st.sampled_from(LISTED), min_size=1, max_size=4)))
    else:
        found = NumberSet.between(
            draw(st.one_of(st.none(), st.sampled_from(ENDS))),
            draw(st.one_of(st.none(), st.sampled_from(ENDS))),
            is_low_open=draw(st.booleans()),
            is_high_open=draw(st.booleans()),
            divisor=draw(st.one_of(st.none(), st.sampled_from(STEPS))),
            indivisible=draw(st.lists(st.sampled_from(STEPS), max_size=2)) if kind == 1 else (),
            excluded=draw(st.lists(st.sampled_from(LISTED + ENDS), max_size=3)) if kind == 2 else (),
        )
    return ANY_NUMBER if found is None else found


@settings(max_examples=400, deadline=None)
@given(data=st.data(), numbers=number_sets(), digits=st.tuples(st.integers(1, 6), st.integers(0, 4)))
def test_every_walk_ends_in_a_member_in_its_plain_spelling(
    data: st.DataObject, numbers: NumberSet, digits: tuple[int, int]
) -> None:
    arena = Arena()
    try:
        start = generate_term(arena, numbers, integer_digits=digits[0], fraction_digits=digits[1])
    except NumbersTooFine:
        return
    assert start is not arena.empty
    for _ in range(4):
        term, text = start, ""
        while True:
            choices = sorted((members, id(after), after) for members, after in term.successors())
            assert choices or term.nullable, (numbers, text)
            if not choices or (term.nullable and data.draw(st.integers(0, 3)) == 0):
                break
            members, _, term = data.draw(st.sampled_from(choices))
            text += chr(data.draw(st.sampled_from(sorted(members))))
        assert PLAIN.match(text)
        assert numbers.contains(Decimal(text)), (numbers, text)
        assert accept_term(arena, numbers).walk(text.encode()).nullable


@settings(max_examples=400, deadline=None)
@given(
    data=st.data(),
    low=st.integers(-300, 300),
    width=st.integers(0, 300),
    step=st.sampled_from(["0.01", "0.02", "0.07", "0.25", "1", "3", "0.5", None]),
    indivisible=st.sampled_from([(), (Decimal(1),), (Decimal("0.5"), Decimal(3))]),
    excluded=st.lists(st.integers(-300, 300).map(lambda value: Decimal(value) / 100), max_size=4),
)
def test_every_member_within_the_digits_can_be_written(
    data: st.DataObject,
    low: int,
    width: int,
    step: str | None,
    indivisible: tuple[Decimal, ...],
    excluded: list[Decimal],
) -> None:
    numbers = NumberSet.between(
        Decimal(low) / 100,
        Decimal(low + width) / 100,
        is_low_open=data.draw(st.booleans()),
        divisor=None if step is None else Decimal(step),
        indivisible=indivisible,
        excluded=excluded,
    )
    if numbers is None:
        return
    start = written(numbers, integer_digits=1, fraction_digits=2)
    members = [value for value in (Decimal(cents) / 100 for cents in range(-300, 601)) if numbers.contains(value)]
    for value in members:
        plain = format(value.normalize(), "f")
        assert start.walk(plain.encode()).nullable, (numbers, plain)


@pytest.mark.parametrize(
    ("numbers", "yes", "no"),
    [
        (between(">0"), ["0.1", "0.000001", "7", "1.50"], ["0", "0.0", "-1", "-0.1", "-", "0.000000000000"]),
        (between("4"), ["4", "4.1", "10", "400"], ["3", "3.9", "0", "-5", "39.9e0"]),
        (between("-123", "42", "1"), ["-123", "42", "0", "-9", "41"], ["-124", "43", "100", "1.0", "-0", "-1230"]),
        (between("0", "18446744073709551615", "1"), ["18446744073709551615", "0"], ["18446744073709551616", "-1"]),
        (between("18446744073709551615", None, "1"), ["18446744073709551615"], ["9", "18446744073709551614"]),
        (between(None, None, "5"), ["0", "5", "-15", "100", "1235"], ["1", "-3", "5.0", "12", "-0"]),
        (between("0", "1.5", "0.01"), ["0.01", "1.5", "1.50", "1.49", "0"], ["1.51", "0.001", "1.500", "2"]),
        (between("0.5", "0.5"), ["0.5"], ["0.4", "0.51", "1"]),
        (between("1e20"), ["100000000000000000000", "999999999999999999999.5"], ["1", "99999999999999999999"]),
        (between(">0", "<1e-14"), ["0.000000000000001"], ["0", "0.00000000000001", "0.0000000000000001"]),
        (between(">0", None, "7e30"), ["7000000000000000000000000000000"], ["0", "7"]),
        (between("1", "2", "1e-15"), ["1.000000000000001", "1", "2"], ["0.5", "2.000000000000001"]),
        (ANY_INTEGER, ["0", "-7", "999999999999999"], ["-0", "1.0", "1000000000000000", "01"]),
        (ANY_NUMBER, ["0", "0.0", "-0.5", "1.50", "-0.000000000001"], ["-0", "-0.0", "1e3", "01", "0.0000000000001"]),
    ],
)
def test_plain_spellings_of_members_are_written(numbers: NumberSet, yes: list[str], no: list[str]) -> None:
    start = written(numbers)
    assert [text for text in yes if not start.walk(text.encode()).nullable] == []
    assert [text for text in no if start.walk(text.encode()).nullable] == []


@pytest.mark.parametrize("prefix", ["-", "0.0000000000000", "43", "5", "41.5"])
def test_prefix_that_cannot_become_a_member_is_dead(prefix: str) -> None:
    start = written(between("41.1", "42.5", "0.7"))
    assert start.walk(prefix.encode()) is start.arena.empty
    assert start.walk(b"42") is not start.arena.empty


def test_multiples_of_a_large_prime_are_too_fine() -> None:
    with pytest.raises(NumbersTooFine) as raised:
        written(between(None, None, "1000003"))
    assert raised.value.divisor == Decimal(1000003)


def test_few_multiples_of_a_large_prime_are_listed() -> None:
    start = written(between("0", "5000000", "1000003"))
    assert [start.walk(text).nullable for text in (b"0", b"1000003", b"4000012", b"1000004")] == [
        True,
        True,
        True,
        False,
    ]


def test_excluded_value_shares_no_state_with_its_neighbours() -> None:
    start = written(NumberSet.between(divisor=Decimal(1), excluded=[Decimal(12), Decimal(-13)]))
    texts = [b"11", b"12", b"13", b"-12", b"-13", b"120"]
    assert [start.walk(text).nullable for text in texts] == [True, False, True, True, False, True]


def test_powers_of_ten_are_never_too_fine() -> None:
    start = written(between(None, None, "1e14"))
    assert start.walk(b"-300000000000000").nullable
    assert not start.walk(b"30000000000000").nullable


def states_of(start: Term) -> int:
    seen, stack = {id(start)}, [start]
    while stack:
        for _, after in stack.pop().successors():
            if id(after) not in seen:
                seen.add(id(after))
                stack.append(after)
    return len(seen)


@pytest.mark.parametrize(
    ("numbers", "most"),
    [
        (ANY_INTEGER, 40),
        (ANY_NUMBER, 100),
        (between("0", None, "1"), 40),
        (between("0", "18446744073709551615", "1"), 80),
        (between("0", "1"), 60),
        (between(None, None, "5"), 60),
        (between("-90", "90"), 120),
        (between(None, None, "0.01"), 60),
        (between(None, None, "100"), 80),
        (between(None, None, "7"), 250),
    ],
)
def test_states_are_few(numbers: NumberSet, most: int) -> None:
    assert states_of(written(numbers)) <= most
