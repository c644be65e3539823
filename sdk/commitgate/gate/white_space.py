"""Measure runs of white space between the parts of a JSON text, where a model can spin without ever ending."""

from __future__ import annotations

import re

WHITE_SPACE_RUN_BYTES = 1_024
"""Most consecutive bytes of white space outside strings. A pretty-printed text of 64 levels needs far fewer; a model
that has lost its way writes them until its token limit."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_BETWEEN = re.compile(rb'[^ \t\n\r"]*')
_INSIDE = re.compile(rb'[^"\\]*')


class WhiteSpaceMeter:
    """Count white space outside strings, over any chunking of one JSON text."""

    __slots__ = ("_in_escape", "_in_string", "_run")

    def __init__(self) -> None:
        self._in_string = False
        self._in_escape = False
        self._run = 0

    def feed(self, data: bytes) -> int | None:
        """Read the next bytes of a legal JSON prefix.

        Returns:
            The offset in ``data`` of the first byte that makes a run too long, None where none does.
        """
        at = 0
        while at < len(data):
            if self._in_string:
                at = self._read_string(data, at)
                continue
            end = _end(_SPACE, data, at)
            if self._run + end - at > WHITE_SPACE_RUN_BYTES:
                return at + WHITE_SPACE_RUN_BYTES - self._run
            self._run += end - at
            at = end
            end = _end(_BETWEEN, data, at)
            if end > at:
                self._run = 0
            at = end
            if data[at : at + 1] == b'"':
                self._run = 0
                self._in_string = True
                at += 1
        return None

    def _read_string(self, data: bytes, at: int) -> int:
        if self._in_escape:
            self._in_escape = False
            return at + 1
        at = _end(_INSIDE, data, at)
        if data[at : at + 1] == b'"':
            self._in_string = False
        elif at < len(data):
            self._in_escape = True
        return at + 1


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    assert match is not None, "these patterns match the empty text too"
    return match.end()


__all__ = ["WHITE_SPACE_RUN_BYTES", "WhiteSpaceMeter"]
