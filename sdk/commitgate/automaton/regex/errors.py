"""Name what can be wrong with a pattern."""

from __future__ import annotations


class PatternError(ValueError):
    """Raised when a pattern is no regular expression of ECMA-262; write it as the message says.

    Attributes:
        position: index of the character at fault.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class PatternUnsupported(ValueError):  # noqa: N818 - a verdict that callers turn into a support row, not a failure
    """Raised when a pattern is well-formed but no automaton can hold it; it is left to a check after the fact.

    Attributes:
        position: index of the character where the construct stands.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


__all__ = ["PatternError", "PatternUnsupported"]
