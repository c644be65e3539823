"""Check what a contract says by itself: can it be used, can it be satisfied, does anything grow without end?"""

from __future__ import annotations

from collections.abc import Iterator

from commitgate.lint import UNBOUNDED, Finding, LintReport
from commitgate.preflight.check import Check, check


def contract_checks(found: LintReport) -> Iterator[Check]:
    """Yield the checks of a contract.

    Args:
        found: what lint makes of it.
    """
    yield _usable(found)
    yield _satisfiable(found)
    yield _bounded(found)


def _usable(found: LintReport) -> Check:
    errors = [each for each in found.findings if each.severity == "error"]
    if errors:
        first = errors[0]
        return check("usable", "failed", first.message, first.instead, map(_place, errors))
    words = [each for each in found.findings if each.code == "unknown_word"]
    if words:
        told = f"{len(words)} words of it constrain nothing, though they look so"
        return check("usable", "warned", told, words[0].instead, map(_place, words))
    size = found.complexity
    told = f"{found.kind} of {size.schema_bytes:,} bytes, {size.places} places" if size.places else f"a {found.kind}"
    return check("usable", "passed", told)


def _satisfiable(found: LintReport) -> Check:
    empty = [each for each in found.findings if each.code == "unsatisfiable"]
    if empty:
        return check("satisfiable", "failed", empty[0].message, empty[0].instead, map(_place, empty))
    if not found.is_usable or found.walks is None:
        return check("satisfiable", "not_applicable", "no contract can be made of it")
    walks = found.walks
    if walks.finished:
        return check("satisfiable", "passed", f"{walks.finished} of {walks.texts} sample texts came to an end")
    told = f"none of {walks.texts} sample texts ended within {walks.most_bytes:,} bytes"
    return check("satisfiable", "warned", told, "bound strings, arrays and nesting; answers may end as Truncated")


def _bounded(found: LintReport) -> Check:
    if not found.is_usable:
        return check("bounded", "not_applicable", "no contract can be made of it")
    places = [each for each in found.findings if each.code in UNBOUNDED]
    if not places:
        return check("bounded", "passed", "every string, array and object has an upper bound")
    count = found.complexity.unbounded
    told = f"{count} place{'s' if count > 1 else ''} may grow until a limit stops the answer; it then ends as Truncated"
    return check("bounded", "warned", told, places[0].instead, map(_place, places))


def _place(found: Finding) -> str:
    where = f"character {found.position}" if found.position is not None else found.pointer or "the root"
    return f"{where}: {found.message}"


__all__ = ["contract_checks"]
