"""Find characters in a text that do something to its reader or hide from him.

Line feeds and tabs are layout. All other control characters, terminal escapes among them, are refused; so is what
turns the direction of writing around, and what cannot be seen. Some unseen characters are part of writing: joiners
between Indic and Persian letters and within emoji, selectors of a glyph, the soft hyphen, marks of direction. They are
let through one at a time where such writing has them; in a row, or elsewhere, they can only hide something.

Source: Unicode 17, sections 23.1 to 23.9 (controls, layout, tags, variation selectors); Unicode Technical Standard 51
(emoji sequences); RFC 5892 appendix A.1 and A.2 (joiners in context); ECMA-48 (control functions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from unicodedata import category

TERMINAL_ESCAPE = "terminal_escape"
"""Code of a text that can give a terminal orders."""

CONTROL_CHARACTER = "control_character"
"""Code of a text with another control character than line feed and tab."""

BIDI_CONTROL = "bidi_control"
"""Code of a text that turns the direction of writing around."""

INVISIBLE_CHARACTER = "invisible_character"
"""Code of a text with characters that cannot be seen."""

WANTED: Mapping[str, str] = MappingProxyType(
    {
        TERMINAL_ESCAPE: "a text must hold no escape sequence of terminals",
        CONTROL_CHARACTER: "a text must hold no control characters but line feeds and tabs",
        BIDI_CONTROL: "a text must hold no overrides, embeddings or isolates of the direction of writing",
        INVISIBLE_CHARACTER: "a text must hold no characters that cannot be seen",
    }
)
"""What each code asks for, in words."""

_JOINERS = "\u200c\u200d"
_MARKS = "\u00ad\u034f\u061c\u200e\u200f"
_PRESENTATIONS = "\ufe0e\ufe0f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ALWAYS = (
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)


def _flag(region: str) -> str:
    return "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"


_SUSPECT = re.compile(
    f"(?P<flag>{'|'.join(map(_flag, ('gbeng', 'gbsct', 'gbwls')))})"
    f"|(?P<{TERMINAL_ESCAPE}>[\x1b\x90\x98\x9b\x9d-\x9f])"
    f"|(?P<{CONTROL_CHARACTER}>[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff])"
    f"|(?P<{BIDI_CONTROL}>[\u202a-\u202e\u2066-\u206f])"
    f"|(?P<{INVISIBLE_CHARACTER}>[{_ALWAYS}])"
    f"|(?P<run>[{_JOINERS}{_MARKS}{_SELECTORS}]+)"
)

_JOINED = frozenset({"Lm", "Lo", "Mc", "Mn", "Sk", "Sm", "So"})
_PRESENTED = frozenset({"Lo", "Nd", "Pd", "Po", "Sk", "Sm", "So"})
_SELECTED = frozenset({"Lo", "Sm", "So"})


def hidden_characters(text: str) -> dict[str, int]:
    """Return where a text first has each kind of hidden character, by its code; empty where it has none."""
    found: dict[str, int] = {}
    for match in _SUSPECT.finditer(text):
        code = match.lastgroup or ""
        if code == "run":
            code = "" if _is_writing(text, match.start(), match.group()) else INVISIBLE_CHARACTER
        if code in WANTED:
            found.setdefault(code, match.start())
    return found


def _is_writing(text: str, start: int, run: str) -> bool:
    """Say whether a run of unseen characters is one that writing has where it stands."""
    first, rest = run[0], run[1:]
    if rest and not (first in _PRESENTATIONS and rest == "\u200d"):
        return False
    before = text[start - 1] if start else ""
    if first in _MARKS:
        return True
    if not before:
        return False
    if first in _JOINERS:
        return not before.isascii() and category(before) in _JOINED
    return category(before) in (_PRESENTED if first in _PRESENTATIONS else _SELECTED)


__all__ = [
    "BIDI_CONTROL",
    "CONTROL_CHARACTER",
    "INVISIBLE_CHARACTER",
    "TERMINAL_ESCAPE",
    "WANTED",
    "hidden_characters",
]
