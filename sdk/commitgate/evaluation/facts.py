"""Compare a value with what its case knows: expected facts, an authority's values, and what who asks may refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from commitgate.errors import MisuseError
from commitgate.evaluation.canonical import canonical
from commitgate.evaluation.case import Case
from commitgate.json_value import JsonValue
from commitgate.pointer import ARRAY_INDEX, child, escape_token, tokens_of

ANY = "*"
"""The token of a place that stands for every item or member."""

ANY_OF, CONTAINS, SET, ABSENT = WORDS = ("$any_of", "$contains", "$set", "$absent")
"""What an expected fact may be, beside a plain JSON value."""

Wrong: TypeAlias = tuple[str, str]
"""The code of what is wrong, and its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsFound:
    """Say what comparing came to.

    Attributes:
        asked: how many facts were expected.
        right: how many of them were right.
        wrong: what was not: ``wrong_fact``, ``missing_fact``, ``unexpected_fact`` and ``invented``.
    """

    asked: int = 0
    right: int = 0
    wrong: tuple[Wrong, ...] = ()


def compare_facts(case: Case, value: JsonValue) -> FactsFound:
    """Compare a value with the expected facts of its case, and with what its authority knows."""
    wrong: list[Wrong] = []
    for place, wanted in case.expected.items():
        code = _fault_of_fact(place, wanted, value)
        if code is not None:
            wrong.append((code, place))
    asked = len(case.expected)
    right = asked - len(wrong)
    wrong += [("invented", place) for place in outside(case.known, value)]
    return FactsFound(asked=asked, right=right, wrong=tuple(wrong))


def outside(allowed: Mapping[str, Sequence[JsonValue]], value: JsonValue) -> tuple[str, ...]:
    """Return the places at which a value has something that is not allowed there. What is not there is no fault."""
    found: list[str] = []
    for place, values in allowed.items():
        known = {canonical(each) for each in values}
        found += [at for at, each in found_at(value, place) if canonical(each) not in known]
    return tuple(found)


def found_at(value: JsonValue, place: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield what stands at a place, each with its own pointer; members under ``*`` keep the star.

    A key under a star was written by the model, so it is no part of a pointer that may reach a report.
    """
    level: list[tuple[str, JsonValue]] = [("", value)]
    for token in tokens_of(place):
        level = [step for pointer, each in level for step in _below(pointer, each, token)]
    yield from level


def check_fact(place: str, wanted: object) -> None:
    """Check that an expected fact can be compared with.

    Raises:
        MisuseError: one of its words is none or has a value that it cannot have.
    """
    canonical(wanted)
    word = _word(wanted)
    if word is None:
        return
    given = cast("Mapping[str, object]", wanted)[word]
    if word not in WORDS:
        raise MisuseError(f"a fact that begins with a dollar sign must be one of {', '.join(WORDS)}")
    if word == ABSENT and given is not True:
        raise MisuseError(f"{ABSENT} must be true")
    if word == CONTAINS and not isinstance(given, str):
        raise MisuseError(f"{CONTAINS} must be a text")
    if word in (ANY_OF, SET) and not isinstance(given, list | tuple):
        raise MisuseError(f"{word} must be a list")
    if word == ANY_OF and not given:
        raise MisuseError(f"{ANY_OF} must have at least one value: nothing could be right")


def _word(wanted: object) -> str | None:
    """Return the word of a fact; None of a plain value."""
    if not isinstance(wanted, Mapping):
        return None
    keys = list(cast("Mapping[str, object]", wanted))
    return keys[0] if len(keys) == 1 and keys[0].startswith("$") else None


def _fault_of_fact(place: str, wanted: JsonValue, value: JsonValue) -> str | None:
    found = [each for _, each in found_at(value, place)]
    word = _word(wanted)
    given = None if word is None else cast("Mapping[str, JsonValue]", wanted)[word]
    if word == ABSENT:
        return "unexpected_fact" if found else None
    if word == SET and ANY in tokens_of(place):
        return None if _is_same_set(found, given) else "wrong_fact"
    if not found:
        return "missing_fact"
    return None if all(_is_right(each, word, wanted, given) for each in found) else "wrong_fact"


def _is_right(found: JsonValue, word: str | None, wanted: JsonValue, given: JsonValue) -> bool:
    if word == ANY_OF:
        return canonical(found) in {canonical(each) for each in cast("list[JsonValue]", given)}
    if word == CONTAINS:
        return isinstance(found, str) and cast(str, given).casefold() in found.casefold()
    if word == SET:
        return isinstance(found, list) and _is_same_set(found, given)
    return canonical(found) == canonical(wanted)


def _is_same_set(found: Sequence[JsonValue], wanted: JsonValue) -> bool:
    return sorted(map(canonical, found)) == sorted(map(canonical, cast("list[JsonValue]", wanted)))


def _below(pointer: str, value: JsonValue, token: str) -> Iterator[tuple[str, JsonValue]]:
    if token == ANY:
        if isinstance(value, list):
            yield from ((child(pointer, index), item) for index, item in enumerate(value))
        elif isinstance(value, dict):
            yield from ((f"{pointer}/{ANY}", member) for member in value.values())
    elif isinstance(value, dict):
        if token in value:
            yield f"{pointer}/{escape_token(token)}", value[token]
    elif isinstance(value, list) and ARRAY_INDEX.fullmatch(token) and int(token) < len(value):
        yield child(pointer, token), value[int(token)]


__all__ = [
    "ABSENT",
    "ANY",
    "ANY_OF",
    "CONTAINS",
    "SET",
    "WORDS",
    "FactsFound",
    "check_fact",
    "compare_facts",
    "found_at",
    "outside",
]
