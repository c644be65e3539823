"""Define the form in which a model declines in the contract's own language: ``{"refusal": "<reason>"}``."""

REFUSAL_KEY = "refusal"
"""The one key of a refusal."""

MOST_REFUSAL_CHARACTERS = 500
"""Longest reason of a refusal, in code points; the shortest has one."""

__all__ = ["MOST_REFUSAL_CHARACTERS", "REFUSAL_KEY"]
