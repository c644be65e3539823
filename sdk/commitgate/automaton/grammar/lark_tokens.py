"""Cut a grammar in the notation of Lark into tokens.

A line's end ends a definition, unless it stands inside brackets, ``|`` comes next or a backslash precedes it.

Source: lark 1.3, grammar reference, "General Syntax and notes".
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from commitgate.errors import NotationError, UnsupportedError


class TokenKind(StrEnum):
    """Name what a token is."""

    RULE = "a rule's name"
    TERMINAL = "a terminal's name"
    STRING = "a string"
    REGEX = "a regular expression"
    NUMBER = "a number"
    DIRECTIVE = "a directive"
    SIGN = "a sign"
    LINE_END = "the end of the line"
    END = "the end of the grammar"


class Token(NamedTuple):
    """Hold one token.

    Attributes:
        kind: what it is.
        text: as it is spelled.
        position: index of its first character.
        sign: its text where it is a sign, else empty.
    """

    kind: TokenKind
    text: str
    position: int
    sign: str

    @property
    def shown(self) -> str:
        """Return how messages call it: names and signs as spelled, the rest by its kind."""
        spelled = (TokenKind.RULE, TokenKind.TERMINAL, TokenKind.SIGN, TokenKind.DIRECTIVE)
        return shown(self.text) if self.kind in spelled else self.kind.value


_MOST_SHOWN = 80
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_LINE_ENDS = ("\n", "\r\n")
# What is passed is never given back: the marks to do so would take a hundred times the text's memory.
_BLANK = re.compile(r"(?:[ \t\f]|\\[ ]*+\r?\n|//[^\n]*+|#[^\n]*+)++")
_BLANK_LINES = re.compile(r"(?:[ \t\f\n]|\r\n|\\[ ]*+\r?\n|//[^\n]*+|#[^\n]*+)++")
_TOKEN = re.compile(
    r"""
    (?P<SIGN> -> | \.\. | [:|()\[\]{},.?*+~!<&@=] )
    | (?P<RULE> [A-Za-z_] (?: [A-Za-z0-9_] | -(?!>) )*+ )
    | (?P<STRING> " (?: \\[^\n] | [^"\\\n] )*+ " i? )
    | (?P<REGEX> / (?: \\[^\n] | [^/\\\n] )++ / [a-z]* )
    | (?P<NUMBER> -? [0-9]+ )
    | (?P<DIRECTIVE> % [a-z]* )
    """,
    re.VERBOSE,
)
_KINDS = dict(TokenKind.__members__)
_RULE_NAME = re.compile(r"_?[a-z][a-z0-9_-]*")
_TERMINAL_NAME = re.compile(r"_?[A-Z][A-Z0-9_-]*")
_FAULTS = {
    '"': "a string that its line does not close; write \\n for a line end in it",
    "\r": "a carriage return alone ends no line; end lines with \\n or \\r\\n",
    "/": "a regular expression that its line does not close; write \\n for a line end and \\/ for a slash in it",
}


class Tokens:
    """Hold a grammar's text and the token that comes next.

    Args:
        text: the grammar.

    Attributes:
        current: the token that comes next.
        depth: how many brackets are open before it.

    Raises:
        NotationError: what comes next is no token.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.depth = 0
        self.current = self._read_first()

    @property
    def is_at_end(self) -> bool:
        """Return whether no token but the last is left."""
        return self.current.kind is TokenKind.END

    @property
    def is_at_line_end(self) -> bool:
        """Return whether the current definition ends here."""
        return self.current.kind in (TokenKind.LINE_END, TokenKind.END)

    def take(self) -> Token:
        """Return the current token and go on to the next."""
        token = self.current
        if token.sign in _OPENING:
            self.depth += 1
        elif token.sign in _CLOSING:
            self.depth -= 1
        self.current = self._read()
        return token

    def take_sign(self, *signs: str) -> Token | None:
        """Return the current token where it is one of the signs, and go on; else None."""
        return self.take() if self.current.sign in signs else None

    def expect(self, kind: TokenKind, wanted: str = "") -> Token:
        """Return the current token, which must be of the kind, and go on."""
        if self.current.kind is not kind:
            raise self.unexpected(wanted or kind.value)
        return self.take()

    def expect_sign(self, sign: str) -> Token:
        """Return the current token, which must be the sign, and go on."""
        if self.current.sign != sign:
            raise self.unexpected(f"'{sign}'")
        return self.take()

    def unexpected(self, wanted: str) -> NotationError:
        """Return the error of a current token that is not what is wanted."""
        at = self.current.position
        is_gbnf = "::=" in self._text[max(at - 1, 0) : at + 3]
        hint = '; for a grammar of GBNF give syntax="gbnf"' if is_gbnf else ""
        return self.error(f"expected {wanted}, found {self.current.shown}{hint}", at)

    def error(self, fault: str, position: int) -> NotationError:
        """Return the error of a fault, with its place."""
        return NotationError(f"{fault}, at {place(self._text, position)}", keyword="grammar", position=position)

    def unsupported(self, what: str, advice: str, position: int) -> UnsupportedError:
        """Return the error of a construct that is not taken, with its place and what to write instead."""
        return UnsupportedError(
            f"{what} is not supported, at {place(self._text, position)}; {advice}",
            pointer="",
            keyword="grammar",
            reason=f"{what} is not supported",
            position=position,
        )

    def _read_first(self) -> Token:
        self._at = _end(_BLANK_LINES, self._text, 0)
        return self._read()

    def _read(self) -> Token:
        start = _end(_BLANK, self._text, self._at)
        if self._text.startswith(_LINE_ENDS, start):
            behind = _end(_BLANK_LINES, self._text, start)
            if behind < len(self._text) and self._text[behind] != "|" and not self.depth:
                self._at = behind
                return Token(TokenKind.LINE_END, "", start, "")
            start = behind
        if start == len(self._text):
            self._at = start
            return Token(TokenKind.END, "", start, "")
        return self._token(start)

    def _token(self, start: int) -> Token:
        found = _TOKEN.match(self._text, start)
        if found is None or found.lastgroup is None:
            first = self._text[start]
            raise self.error(_FAULTS.get(first, f"{first!r} begins nothing that Lark's notation has"), start)
        self._at = found.end()
        text = found.group()
        kind = _KINDS[found.lastgroup]
        if kind is TokenKind.RULE:
            kind = self._name_kind(text, start)
        return Token(kind, text, start, text if kind is TokenKind.SIGN else "")

    def _name_kind(self, name: str, start: int) -> TokenKind:
        if _RULE_NAME.fullmatch(name):
            return TokenKind.RULE
        if _TERMINAL_NAME.fullmatch(name):
            return TokenKind.TERMINAL
        raise self.error(
            "a name is all lowercase (a rule) or all uppercase (a terminal), with at most one underscore in front",
            start,
        )


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def shown(name: str) -> str:
    """Return how messages spell a name."""
    return repr(name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…")


def place(text: str, position: int) -> str:
    """Return where a character stands, as people count: ``line 2, column 1``."""
    line_start = text.rfind("\n", 0, position) + 1
    return f"line {text.count(chr(10), 0, position) + 1}, column {position - line_start + 1}"


__all__ = ["Token", "TokenKind", "Tokens", "place", "shown"]
