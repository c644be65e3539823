"""Name the keys of a turn's JSON."""

ANSWER = "answer"
ARGUMENTS = "arguments"
CALLS = "calls"
NAME = "name"

__all__ = ["ANSWER", "ARGUMENTS", "CALLS", "NAME"]
