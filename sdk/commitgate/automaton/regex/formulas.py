"""Hold Boolean formulas in disjunctive normal form: what must match from here on.

A formula is a set of clauses, any of which must hold; a clause is a set of literals, all of which must hold. A literal
is the number of an atom, from 1 on, or its negative. No clause contradicts itself and none implies another, so that
only finitely many formulas exist over finitely many atoms.
"""

from __future__ import annotations

from typing import TypeAlias

from commitgate.automaton.dfa import TooManyStates

Clause: TypeAlias = "frozenset[int]"
Formula: TypeAlias = "frozenset[Clause]"

MAX_CLAUSES = 1_000
"""Most clauses of one formula."""

FALSE: Formula = frozenset()
TRUE: Formula = frozenset({frozenset[int]()})


def literal(number: int) -> Formula:
    """Return the formula of one literal."""
    return frozenset({frozenset({number})})


def either(*parts: Formula) -> Formula:
    """Return what holds where any of the parts does."""
    clauses: set[Clause] = set()
    clauses.update(*parts)
    return _reduced(clauses)


def both(first: Formula, second: Formula) -> Formula:
    """Return what holds where both do."""
    if first == TRUE or not second:
        return second
    if second == TRUE or not first:
        return first
    if len(first) == 1 and len(second) == 1:
        (mine,), (theirs,) = first, second
        return FALSE if any(-number in mine for number in theirs) else frozenset({mine | theirs})
    _check(len(first) * len(second) // 16)
    clauses: set[Clause] = set()
    for mine in first:
        for theirs in second:
            joined = mine | theirs
            if not any(-number in mine for number in theirs):
                clauses.add(joined)
    return _reduced(clauses)


def negated(formula: Formula) -> Formula:
    """Return what holds where the formula does not."""
    found = TRUE
    for clause in formula:
        found = both(found, frozenset(frozenset({-number}) for number in clause))
    return found


def _reduced(clauses: set[Clause]) -> Formula:
    if frozenset() in clauses:
        return TRUE
    while True:
        singles = {number for clause in clauses if len(clause) == 1 for number in clause}
        if any(-number in singles for number in singles if number < 0):
            return TRUE
        if len(singles) == len(clauses):
            return frozenset(clauses)
        _check(len(clauses) - len(singles))
        # Beside a single literal, a clause that has it too says nothing new, and its opposite may be left out.
        others = {
            frozenset(number for number in clause if -number not in singles)
            for clause in clauses
            if len(clause) > 1 and clause.isdisjoint(singles)
        }
        is_stable = all(len(clause) > 1 for clause in others)
        clauses = {frozenset({number}) for number in singles} | others
        if frozenset() in clauses:
            return TRUE
        if is_stable:
            return frozenset({frozenset({number}) for number in singles} | _absorbed(others))


def _absorbed(clauses: set[Clause]) -> set[Clause]:
    """Return the clauses without those that hold another one."""
    kept: list[Clause] = []
    for clause in sorted(clauses, key=len):
        if not any(smaller <= clause for smaller in kept):
            kept.append(clause)
    return set(kept)


def _check(clauses: int) -> None:
    if clauses > MAX_CLAUSES:
        raise TooManyStates(f"look-arounds that need more than {MAX_CLAUSES} cases", MAX_CLAUSES)


__all__ = ["FALSE", "MAX_CLAUSES", "TRUE", "Clause", "Formula", "both", "either", "literal", "negated"]
