"""Write a language of texts as a pattern that every engine reads alike: literal characters, classes, groups and stars.

The schema's validator finds the keys of ``patternProperties`` in an engine of its own, whose ``\\d``, ``\\s``, ``.``
and ``$`` are not those of ECMA-262. What is written here has none of these.

Source: state elimination (Brzozowski and McCluskey 1963).
"""

from __future__ import annotations

from commitgate.automaton.dfa import Dfa
from commitgate.automaton.text_language import TextLanguage

MOST_STATES = 300
"""Most states of an automaton that is written as a pattern; more would take long and end too long."""
MOST_CHARACTERS = 20_000
"""Longest pattern that is written."""
MOST_COUNTED = 500
"""Highest bound on the length that is written as a count; the validator's engine unrolls counts."""

NEVER = "a^"
"""A pattern that is found in no text."""

_ANY = "[\x00-\ud7ff\ue000-\U0010ffff]"
_SPECIAL = frozenset("\\]^-[&~.*+?(){}|$/")


def rust_pattern(language: TextLanguage | None) -> str | None:
    """Return a pattern that is found in the texts of ``language`` alone; None where it would be too large.

    Args:
        language: None for no text at all.
    """
    if language is None:
        return NEVER
    if len(language.dfa) > MOST_STATES or max(language.least, language.most or 0) > MOST_COUNTED:
        return None
    body = _eliminated(language.dfa)
    if body is None:
        return None
    if language.least == 0 and language.most is None:
        return body
    most = "" if language.most is None else str(language.most)
    return f"^(?={_ANY}{{{language.least},{most}}}$){body}"


def _eliminated(dfa: Dfa) -> str | None:
    """Take the states out one by one, joining the patterns of the ways through each."""
    start, end = -1, -2
    edges: dict[int, dict[int, str]] = {start: {0: ""}, **{state: {} for state in range(len(dfa))}}
    for state in edges:
        if state != start and state != dfa.universal:
            edges[state] = _edges_of(dfa, state)
        if state in dfa.accepting:
            # Behind the universal state anything may follow, which needs no words; elsewhere the text ends.
            edges[state][end] = "" if state == dfa.universal else "$"
    for state in sorted(range(len(dfa)), key=lambda state: _degree(edges, state)):
        leaving = edges.pop(state)
        loop = leaving.pop(state, None)
        around = "" if loop is None else f"{_group(loop)}*"
        for others in edges.values():
            entering = others.pop(state, None)
            if entering is None:
                continue
            for target, pattern in leaving.items():
                through = _sequence(entering, around, pattern)
                others[target] = f"{others[target]}|{through}" if target in others else through
                if len(others[target]) > MOST_CHARACTERS:
                    return None
    return "^" + _group(edges[start][end])


def _edges_of(dfa: Dfa, state: int) -> dict[int, str]:
    members: dict[int, list[tuple[int, int]]] = {}
    for first, last, target in dfa.ranges(state):
        members.setdefault(target, []).append((first, last))
    return {target: _class(ranges) for target, ranges in members.items()}


def _degree(edges: dict[int, dict[int, str]], state: int) -> int:
    return len(edges[state]) * sum(state in targets for targets in edges.values())


def _sequence(*patterns: str) -> str:
    return "".join(_group(pattern) if "|" in pattern else pattern for pattern in patterns)


def _group(pattern: str) -> str:
    return pattern if _is_one_item(pattern) else f"(?:{pattern})"


def _is_one_item(pattern: str) -> bool:
    return len(pattern) == 1 or (pattern.startswith("[") and pattern.find("]") == len(pattern) - 1)


def _class(ranges: list[tuple[int, int]]) -> str:
    parts = [_literal(first) if first == last else f"{_literal(first)}-{_literal(last)}" for first, last in ranges]
    return parts[0] if len(parts) == 1 and ranges[0][0] == ranges[0][1] else f"[{''.join(parts)}]"


def _literal(point: int) -> str:
    character = chr(point)
    return f"\\{character}" if character in _SPECIAL else character


__all__ = ["MOST_CHARACTERS", "MOST_COUNTED", "MOST_STATES", "NEVER", "rust_pattern"]
