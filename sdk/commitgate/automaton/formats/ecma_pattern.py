"""Judge whether a text is a regular expression by ECMA-262.

A text is one where the main grammar takes it with or without the ``u`` flag, and with what Annex B adds for brackets,
braces and needless escapes. ASCII letters and digits behind a backslash mean something or are refused, so that what
other dialects write (``\\a``, ``\\Z``, ``(?P<name>…)``) is not taken for it. Whether a Unicode property exists is not
looked up.

It is no part of the compiler of patterns, which stops at what no automaton can do; a test holds the two together.
Groups stand in one another at most 1,000 deep.

Source: ECMA-262 2025, section 22.2.1 and B.1.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEXADECIMAL_ESCAPE = re.compile(r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}\}")
_SURROGATE_PAIR = re.compile(r"u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_CONTROL_ESCAPE = re.compile(r"c[A-Za-z]|[fnrtv]|0(?![0-9])")
_CLASS_ESCAPE = re.compile(r"[dDsSwW]|[pP]\{[A-Za-z_]+(?:=[A-Za-z0-9_]+)?\}")
_BACK_REFERENCE = re.compile(r"[1-9][0-9]*")
_NAME = re.compile(r"<((?:[^\W\d]|[$_])(?:\w|[$\u200c\u200d])*)>")
_GROUP = re.compile(r"\?(?::|[=!]|<[=!]|(?=[ims-])([ims]*)(?:-([ims]*))?:)")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{([0-9]+)(?:(,)([0-9]*))?\})\??")
_LOOKBEHINDS = ("?<=", "?<!")
# A longer number counts more groups than any text has.
_MAX_DIGITS = 18
# Each name is compared with those of every open group.
_MAX_DEPTH = 1_000


@dataclass(slots=True)
class _Level:
    """Hold an open group: whether it may be repeated, and the names of its alternatives."""

    is_repeatable: bool = True
    names_before: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])


class _MalformedError(Exception):
    """Raised within this module where the text is no pattern."""


class _Reader:
    """Read a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._levels = [_Level()]
        self._groups = 0
        self._names: set[str] = set()
        self._references: list[int | str] = []

    def read(self) -> None:
        """Read all of it. Raises: _MalformedError."""
        while self._at < len(self._text):
            if self._term():
                self._quantifier()
        if len(self._levels) > 1:
            raise _MalformedError
        for each in self._references:
            if each not in self._names if isinstance(each, str) else each > self._groups:
                raise _MalformedError

    def _term(self) -> bool:
        """Read a term, without its quantifier; return whether it may have one."""
        character = self._next()
        if character == "(":
            return self._open()
        if character == ")":
            return self._close()
        if character == "|":
            level = self._levels[-1]
            level.names_before |= level.names
            level.names = set()
            return False
        if character == "[":
            self._class()
        elif character == "\\":
            return self._escape()
        elif character in "*+?" or (character == "{" and _QUANTIFIER.match(self._text, self._at - 1)):
            raise _MalformedError
        return character not in "^$"

    def _open(self) -> bool:
        if len(self._levels) == _MAX_DEPTH:
            raise _MalformedError
        level = _Level()
        named = _NAME.match(self._text, self._at + 1) if self._text.startswith("?<", self._at) else None
        if named:
            self._at = named.end()
            self._groups += 1
            self._add_name(named[1])
        elif self._text.startswith("?", self._at):
            kind = _GROUP.match(self._text, self._at)
            if not kind or not _are_legal_flags(kind[1], kind[2]):
                raise _MalformedError
            level.is_repeatable = kind[0] not in _LOOKBEHINDS
            self._at = kind.end()
        else:
            self._groups += 1
        self._levels.append(level)
        return False

    def _add_name(self, name: str) -> None:
        # Two groups may share a name only where no match goes through both.
        if any(name in level.names for level in self._levels):
            raise _MalformedError
        self._levels[-1].names.add(name)
        self._names.add(name)

    def _close(self) -> bool:
        if len(self._levels) == 1:
            raise _MalformedError
        level = self._levels.pop()
        self._levels[-1].names |= level.names | level.names_before
        return level.is_repeatable

    def _escape(self) -> bool:
        """Read what follows a backslash outside a class; return whether it may be repeated."""
        if self._text.startswith(("b", "B"), self._at):
            self._at += 1
            return False
        if number := self._take(_BACK_REFERENCE):
            self._references.append(int(number[0][:_MAX_DIGITS]))
        elif self._text.startswith("k", self._at):
            self._at += 1
            name = self._take(_NAME)
            if not name:
                raise _MalformedError
            self._references.append(name[1])
        else:
            self._character_escape()
        return True

    def _character_escape(self) -> int | None:
        """Read an escape of one character, which is returned, or of a class of them. Raises: _MalformedError."""
        if self._take(_CLASS_ESCAPE):
            return None
        if found := self._take(_SURROGATE_PAIR):
            return 0x10000 + (int(found[1], 16) % 0x400 << 10) + int(found[2], 16) % 0x400
        if found := self._take(_HEXADECIMAL_ESCAPE):
            return int(found[0].strip("xu{}"), 16)
        if found := self._take(_CONTROL_ESCAPE):
            return ord(found[0][1]) % 32 if found[0][0] == "c" else "0_______tnvfr".index(found[0])
        character = self._next()
        if character.isascii() and character.isalnum():
            raise _MalformedError
        return ord(character)

    def _class(self) -> None:
        """Read a class behind its opening bracket."""
        if self._text.startswith("^", self._at):
            self._at += 1
        while (first := self._class_atom()) != "]":
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                last = self._class_atom()
                if isinstance(first, int) and isinstance(last, int) and first > last:
                    raise _MalformedError

    def _class_atom(self) -> int | str | None:
        """Read one member of a class: a code point, None for a class in it, or the closing bracket."""
        character = self._next()
        if character == "]":
            return character
        if character != "\\":
            return ord(character)
        if self._text.startswith("b", self._at):
            self._at += 1
            return 8
        return self._character_escape()

    def _quantifier(self) -> None:
        found = self._take(_QUANTIFIER)
        if found and found[1] and found[3] and _is_larger(found[1], found[3]):
            raise _MalformedError

    def _next(self) -> str:
        if self._at == len(self._text):
            raise _MalformedError
        self._at += 1
        return self._text[self._at - 1]

    def _take(self, wanted: re.Pattern[str]) -> re.Match[str] | None:
        found = wanted.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found


def _are_legal_flags(added: str | None, removed: str | None) -> bool:
    if added is None:
        return True
    flags = added + (removed or "")
    return len(set(flags)) == len(flags) > 0


def _is_larger(one: str, other: str) -> bool:
    # Numbers of any length, which int() refuses.
    one, other = one.lstrip("0"), other.lstrip("0")
    return (len(one), one) > (len(other), other)


def is_ecma_pattern(text: str) -> bool:
    """Return whether the text is a regular expression by ECMA-262."""
    try:
        _Reader(text).read()
    except _MalformedError:
        return False
    return True


__all__ = ["is_ecma_pattern"]
