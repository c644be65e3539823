"""Read a pattern as what a whole text is made of."""

from __future__ import annotations

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.expression import Expression
from commitgate.automaton.regex.classes import DOT
from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.groups import read_flags
from commitgate.automaton.regex.lowering import whole_match
from commitgate.automaton.regex.machine import Steps
from commitgate.automaton.regex.notation import Notation
from commitgate.automaton.regex.parser import parse
from commitgate.errors import LimitExceededError, NotationError, UnsupportedError
from commitgate.limits import Limits

FLAGS = "ims"
"""The flags of a pattern that is a contract of its own."""
LARK_FLAGS = "imsxu"
"""The flags of a terminal of Lark: verbose patterns too, and ``u``, which changes nothing here."""


def pattern_expression(
    pattern: str,
    flags: str,
    limits: Limits,
    *,
    known_flags: str = FLAGS,
    dot: CharacterSet = DOT,
    steps: Steps | None = None,
) -> Expression:
    """Return the texts that a pattern matches from their first character to their last.

    Args:
        pattern: a regular expression, in the notation that docs/text-contracts.md describes.
        flags: letters that hold from its start, each once.
        limits: bounds on its size.
        known_flags: the letters that there are.
        dot: what ``.`` takes.
        steps: counts the steps of automata, where several patterns share them; None gives this one its own.

    Raises:
        NotationError: it is malformed, or has an unknown flag.
        UnsupportedError: it is not regular.
        LimitExceededError: it is longer than ``pattern_characters``, or what its look-arounds and boundaries ask for
            takes too large an automaton (``pattern_states``).
    """
    check_size("pattern_characters", len(pattern), limits, "regex")
    try:
        check_size("schema_bytes", len(pattern.encode()), limits, "regex")
    except UnicodeEncodeError as error:
        message = f"the pattern must be text that UTF-8 can encode, found a lone surrogate at character {error.start}"
        raise NotationError(message, keyword="regex", position=error.start) from None
    try:
        chosen = read_flags(flags, known_flags)
    except ValueError as error:
        raise NotationError(f"the flags of the pattern: {error}", keyword="regex") from None
    notation = Notation(is_extended=True, flags=chosen, known_flags=known_flags, dot=dot)
    try:
        return whole_match(parse(pattern, notation), steps)
    except PatternError as error:
        message = f"the pattern is malformed at character {error.position}: {error}"
        raise NotationError(message, keyword="regex", position=error.position) from None
    except PatternUnsupported as error:
        advice = "" if "write" in str(error) else "; write the alternatives out, or check it in a rule"
        raise UnsupportedError(
            f"the pattern cannot be enforced for what stands at character {error.position}: {error}{advice}",
            pointer="",
            keyword="regex",
            reason=str(error),
            position=error.position,
        ) from None
    except TooManyStates as error:
        raise LimitExceededError(
            f"the look-arounds, boundaries or inner anchors of the pattern take too much: {error}; "
            "write it without them, or check it in a rule",
            limit_name="pattern_states",
            limit=error.limit,
            found=error.limit + 1,
            keyword="regex",
        ) from None


__all__ = ["FLAGS", "LARK_FLAGS", "pattern_expression"]
