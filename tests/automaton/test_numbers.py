"""Numbers are judged by value: every spelling of an allowed value is accepted, and nothing else."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.generated_number import generate_term
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.number_text import plain_number
from commitgate.automaton.terms import Arena

GRAMMAR = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")
LISTED = [Decimal(text) for text in ("0", "150", "-2.5", "0.003", "1e20", "105", "1000", "12", "1.5")]


def is_allowed(numbers: NumberSet, text: str) -> bool:
    if not GRAMMAR.match(text):
        return False
    exponent = re.search(r"[eE]([+-]?\d+)", text)
    if exponent and abs(int(exponent[1])) > 400:
        return False
    value = Decimal(text)
    if numbers.values is not None:
        return value in numbers.values
    return numbers == ANY_NUMBER or value == value.to_integral_value()


def listed(*values: Decimal) -> NumberSet:
    """Return the set of these values."""
    found = NumberSet.of_values(values)
    assert found is not None
    return found


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """Return a listed value in some spelling, or digits and signs in any order."""
    if draw(st.booleans()):
        return draw(st.text("-0123510.eE+", max_size=8))
    shift = draw(st.integers(-6, 6))
    mantissa = format(draw(st.sampled_from(LISTED)).scaleb(-shift), "f")
    zeros = draw(st.sampled_from(["", "0", "00"])) if "." in mantissa else ""
    sign = "-" if shift < 0 else draw(st.sampled_from(["", "+"]))
    return f"{mantissa}{zeros}{draw(st.sampled_from('eE'))}{sign}{draw(st.sampled_from(['', '0']))}{abs(shift)}"


@settings(max_examples=600, deadline=None)
@given(
    text=spellings(),
    numbers=st.one_of(
        st.just(ANY_NUMBER),
        st.just(ANY_INTEGER),
        st.lists(st.sampled_from(LISTED), min_size=1, max_size=3, unique=True).map(lambda v: listed(*v)),
    ),
)
def test_acceptance_is_by_value_and_no_accepted_prefix_is_dead(text: str, numbers: NumberSet) -> None:
    arena = Arena()
    start = accept_term(arena, numbers)
    accepted = start.walk(text.encode()).nullable
    assert accepted == is_allowed(numbers, text)
    if accepted:
        assert all(start.walk(text[:end].encode()) is not arena.empty for end in range(len(text)))


@pytest.mark.parametrize(
    ("numbers", "prefix"),
    [
        (ANY_INTEGER, "1.5e-"),
        (ANY_INTEGER, "0.001e2,"),
        (listed(Decimal(150)), "16"),
        (listed(Decimal(150)), "-"),
        (listed(Decimal(150)), "1.5e3"),
        (listed(Decimal("-2.5")), "2"),
        (listed(Decimal(0)), "0.1"),
    ],
)
def test_prefix_that_cannot_reach_an_allowed_value_is_dead(numbers: NumberSet, prefix: str) -> None:
    arena = Arena()
    assert accept_term(arena, numbers).walk(prefix.encode()) is arena.empty


@pytest.mark.parametrize("text", ["9" * 1001, "1e401", "1e-401", "0." + "0" * 1001])
def test_number_beyond_the_limits_of_size_is_dead(text: str) -> None:
    arena = Arena()
    assert accept_term(arena, ANY_NUMBER).walk(text.encode()) is arena.empty


@pytest.mark.parametrize("text", ["9" * 1000, "1e400", "1E-400"])
def test_number_at_the_limits_of_size_is_accepted(text: str) -> None:
    assert accept_term(Arena(), ANY_NUMBER).walk(text.encode()).nullable


@pytest.mark.parametrize(
    ("text", "is_written"),
    [("0", True), ("-0", False), ("-0.0", False), ("-0.5", True), ("1.50", True), ("1e3", False), ("01", False)],
)
def test_generate_writes_no_exponent_and_no_negative_zero(text: str, is_written: bool) -> None:
    term = generate_term(Arena(), ANY_NUMBER, integer_digits=15, fraction_digits=12)
    assert term.walk(text.encode()).nullable == is_written


@pytest.mark.parametrize(("value", "text"), [("1e3", "1000"), ("-0", "0"), ("1.50", "1.5"), ("1e-3", "0.001")])
def test_plain_number_has_digits_alone(value: str, text: str) -> None:
    assert plain_number(Decimal(value)) == text


def test_long_enum_of_numbers_accepts_its_values_alone() -> None:
    numbers = listed(*(Decimal(number) / 2 for number in range(20_000)))
    term = accept_term(Arena(), numbers)
    assert term.walk(b"9999.5").nullable
    assert term.walk(b"99.995e2").nullable
    assert not term.walk(b"9999.6").nullable
    assert not term.walk(b"10000").nullable
