"""Hold the counts of rounds of rounds to all that they can add up to."""

from __future__ import annotations

import pytest

from commitgate.automaton import compile
from commitgate.automaton.counts import counts_of_counts
from commitgate.languages import Grammar, Regex

_LONGEST = 60
_BOUNDS = [(least, most) for least in range(5) for most in (*range(max(least, 1), 6), None)]


def _sums(inner: tuple[int, int | None], outer: tuple[int, int | None]) -> set[int]:
    """Return how many items as many rounds may hold, up to the longest that is looked at."""
    (few, many), (least, most) = inner, outer
    found: set[int] = set()
    for rounds in range(least, (_LONGEST if most is None else most) + 1):
        last = 0 if rounds == 0 else _LONGEST if many is None else min(rounds * many, _LONGEST)
        found.update(range(rounds * few, last + 1))
    return found


@pytest.mark.parametrize("inner", _BOUNDS)
def test_counts_of_counts_are_joined_just_where_none_is_left_out(inner: tuple[int, int | None]) -> None:
    for outer in _BOUNDS:
        sums = _sums(inner, outer)
        counts = counts_of_counts(inner, outer)
        if counts is None:
            assert sums != set(range(min(sums), max(sums) + 1)), outer
        else:
            least, most = counts
            assert sums == set(range(least, min(_LONGEST, _LONGEST if most is None else most) + 1)), outer


@pytest.mark.parametrize(("inner", "outer"), [("{2,}", "?"), ("{2,}", "*"), ("{3}", "{0,2}"), ("{2,3}", "{1,2}")])
def test_a_round_of_many_may_be_missing_and_is_never_a_part_of_one(inner: str, outer: str) -> None:
    bounds = {"?": (0, 1), "*": (0, None), "{0,2}": (0, 2), "{1,2}": (1, 2)}
    least, _, most = inner.strip("{}").partition(",")
    sums = _sums((int(least), None if most == "" and "," in inner else int(most or least)), bounds[outer])
    for source in (Regex(f"(?:a{inner}){outer}"), Grammar(f'root ::= ("a"{inner}){outer}')):
        automaton = compile(source)
        assert {count for count in range(12) if automaton.accepts(b"a" * count)} == {n for n in sums if n < 12}
