"""Find the place from which on a pattern that no text satisfies contradicts itself."""

from __future__ import annotations

from commitgate.automaton.grammar.expression import Either
from commitgate.automaton.regex.expression import pattern_expression
from commitgate.automaton.regex.machine import Steps
from commitgate.errors import ContractError, LimitExceededError
from commitgate.languages import Regex
from commitgate.limits import Limits

_MOST_CHARACTERS = 200
"""Longest pattern that is looked through: each of its beginnings is read, and all of them together cost the square."""

_NOTHING = Either(options=())


def contradiction_position(regex: Regex, limits: Limits) -> int | None:
    """Return the offset of the first character behind the longest beginning that a text satisfies.

    The groups that a beginning leaves open are closed behind it.

    Args:
        regex: a pattern.
        limits: bounds on it.

    Returns:
        An offset in characters from 0. None where the pattern has a text, is none, or is too large to look through.
    """
    pattern = regex.pattern
    if len(pattern) > _MOST_CHARACTERS:
        return None
    steps = Steps()  # shared, so that all beginnings together take no more than one pattern may
    depths = _open_groups(pattern)
    try:
        if _has_text(pattern, regex.flags, limits, steps) is not False:
            return None
        for end in range(len(pattern) - 1, -1, -1):
            if _has_text(pattern[:end] + ")" * depths[end], regex.flags, limits, steps):
                return end
    except LimitExceededError:
        pass
    return None


def _has_text(pattern: str, flags: str, limits: Limits, steps: Steps) -> bool | None:
    """Say whether a text satisfies a pattern; None where it is no pattern, as it ends within an escape or a class."""
    try:
        return pattern_expression(pattern, flags, limits, steps=steps) != _NOTHING
    except LimitExceededError:
        raise
    except ContractError:
        return None


def _open_groups(pattern: str) -> list[int]:
    """Return for each offset, and for the end, how many groups are open before it."""
    depths: list[int] = []
    depth, is_class, is_escaped = 0, False, False
    for character in pattern:
        depths.append(depth)
        if is_escaped or character == "\\":
            is_escaped = not is_escaped
        elif is_class:
            is_class = character != "]"
        elif character == "[":
            is_class = True
        else:
            depth = max(0, depth + (character == "(") - (character == ")"))
    return [*depths, depth]


__all__ = ["contradiction_position"]
