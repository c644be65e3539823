"""Read and write lengths of time as a person does: ``45s``, ``12h``, ``30d``, ``2w``."""

from __future__ import annotations

import re
from math import isfinite

from commitgate.cli.command_error import CommandError

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WRITTEN = re.compile(r"([0-9]{1,6})([smhdw])", re.ASCII)
_LARGEST_FIRST = ("d", "h", "m", "s")
_TWO_OF_A_UNIT = 2
"""Smallest number of a unit that is shown in it: ``90s`` says more than ``1m``."""


def read_duration(text: str, option: str) -> int:
    """Return the seconds of a length of time.

    Args:
        text: a whole number > 0 and one of ``s``, ``m``, ``h``, ``d``, ``w``.
        option: where it was given, for the message.

    Raises:
        CommandError: it is not written so.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None or not int(found[1]):
        raise CommandError(f"{option} wants a number above 0 and one of s, m, h, d, w, for example 12h, 30d or 2w")
    return int(found[1]) * _SECONDS[found[2]]


def shown_duration(seconds: float) -> str:
    """Return a length of time in one unit, rounded down; one below zero is shown as ``0s``."""
    if not isfinite(seconds):
        return "?"
    whole = max(0, int(seconds))
    unit = next((unit for unit in _LARGEST_FIRST if whole >= _TWO_OF_A_UNIT * _SECONDS[unit]), "s")
    return f"{whole // _SECONDS[unit]:,}{unit}"


__all__ = ["read_duration", "shown_duration"]
