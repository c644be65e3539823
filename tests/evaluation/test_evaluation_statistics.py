"""Intervals and tests against values from the literature."""

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.evaluation.resampling import bootstrap_mean, sign_flip
from commitgate.evaluation.statistics import (
    area_under_curve,
    fisher,
    holm,
    mcnemar,
    paired_difference,
    percentile,
    wilson,
)

counts = st.integers(0, 40)


@pytest.mark.parametrize(
    ("passed", "count", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval(passed: int, count: int, low: float, high: float) -> None:
    found = wilson(passed / count, count)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 200), st.data())
def test_wilson_interval_holds_its_rate_and_stays_within_0_and_1(count: int, data: st.DataObject) -> None:
    rate = data.draw(st.integers(0, count)) / count
    found = wilson(rate, count)
    assert 0 <= found.low <= rate <= found.high <= 1


@pytest.mark.parametrize(
    ("one", "two", "p"),
    [(0, 0, 1.0), (12, 2, 0.012939453125), (5, 5, 1.0), (1, 9, 0.021484375), (0, 6, 0.03125)],
)
def test_exact_mcnemar(one: int, two: int, p: float) -> None:
    assert mcnemar(one, two) == pytest.approx(p, rel=1e-12)
    assert mcnemar(one, two) == mcnemar(two, one)


def test_mcnemar_of_many_pairs_is_the_same_by_logarithms() -> None:
    exact = 2 * sum(comb(1001, k) for k in range(471)) / 2**1001
    assert mcnemar(470, 531) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 2635, table II, method 10.
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((54, 0, 0, 0), -0.0664, 0.0664),
        ((0, 54, 0, 0), 0.9061, 1.0000),
        # Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014) 2850: airway responses before and after.
        ((1, 1, 7, 12), -0.507, -0.026),
    ],
)
def test_interval_of_a_paired_difference(table: tuple[int, int, int, int], low: float, high: float) -> None:
    found = paired_difference(*table)
    digits = 1e-3 if low == -0.507 else 1e-4
    assert (found.low, found.high) == (pytest.approx(low, abs=digits), pytest.approx(high, abs=digits))


@given(counts, counts, counts, counts)
def test_interval_of_a_paired_difference_turns_with_its_sides(a: int, b: int, c: int, d: int) -> None:
    if not a + b + c + d:
        return
    one, two = paired_difference(a, b, c, d), paired_difference(a, c, b, d)
    assert (one.low, one.high) == (pytest.approx(-two.high), pytest.approx(-two.low))
    assert -1 - 1e-9 <= one.low <= (b - c) / (a + b + c + d) + 1e-9 <= one.high + 2e-9 <= 1 + 1e-8


@pytest.mark.parametrize(
    ("table", "p"),
    [
        ((3, 1, 1, 3), 0.485714286),  # Fisher's lady and her tea
        ((8, 2, 1, 5), 0.034965035),
        ((10, 2, 3, 15), 0.000536724),  # Fisher's convicted twins, 1935
        ((0, 0, 3, 4), 1.0),
    ],
)
def test_fisher(table: tuple[int, int, int, int], p: float) -> None:
    assert fisher(*table) == pytest.approx(p, rel=1e-6)


def test_holm_keeps_the_order_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)


def test_area_under_the_curve_of_hanley_and_mcneil() -> None:
    # Table I of their paper: ratings of 51 abnormal and 58 normal images; the area is 0.893, its error 0.032.
    normal = [1] * 33 + [2] * 6 + [3] * 6 + [4] * 11 + [5] * 2
    abnormal = [1] * 3 + [2] * 2 + [3] * 2 + [4] * 11 + [5] * 33
    area, interval = area_under_curve([float(each) for each in abnormal], [float(each) for each in normal])
    assert round(area, 3) == 0.893
    assert (interval.high - area) / 1.959964 == pytest.approx(0.032, abs=0.001)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_area_is_the_share_of_pairs_in_order(hits: list[int], others: list[int]) -> None:
    wins = sum((a > b) + (a == b) / 2 for a, b in product(hits, others))
    area, interval = area_under_curve(list(map(float, hits)), list(map(float, others)))
    assert area == pytest.approx(wins / (len(hits) * len(others)))
    assert 0 <= interval.low <= interval.high <= 1


def test_percentiles_lie_between_values() -> None:
    assert [percentile([1.0, 2.0, 3.0, 4.0], share) for share in (0, 0.5, 0.9, 1)] == pytest.approx([1, 2.5, 3.7, 4])
    assert percentile([7.0], 0.3) == 7.0


def test_sign_flips_of_fishers_maize() -> None:
    # Darwin's 15 pairs, in eighths of an inch: of 32,768 assignments 1,726 are as far out (Fisher 1935, section 21).
    maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip(maize) == 1726 / 32768
    assert sign_flip([*maize, 1e-9]) == pytest.approx(1726 / 32768, abs=0.006)


def test_sign_flips_of_few_pairs_are_all_looked_at() -> None:
    assert sign_flip([1, 2, 3]) == 2 / 8
    assert sign_flip([1, -1]) == 1.0
    assert sign_flip([]) == sign_flip([0.0, 0.0]) == 1.0


def test_drawn_p_value_is_repeatable_and_never_zero() -> None:
    far = [10.0] * 40
    assert sign_flip(far) == sign_flip(far) == pytest.approx(1e-4)


def test_bootstrap_of_a_mean_is_repeatable_and_about_as_wide_as_it_should_be() -> None:
    values = [float(each % 10) for each in range(100)]
    found = bootstrap_mean(values)
    assert found == bootstrap_mean(values)
    # A standard error of 0.287, 1.96 times to each side of 4.5.
    assert (found.low, found.high) == (pytest.approx(3.94, abs=0.06), pytest.approx(5.06, abs=0.06))
    assert bootstrap_mean([3.0]).low == 3.0
