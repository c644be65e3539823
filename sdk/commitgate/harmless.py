"""Make text that came from elsewhere safe to write to a terminal.

A model's answer, a schema and a file name may hold escape sequences that move the cursor, change the window's title
or turn the direction of writing. Every character that is not meant to be seen is written as an escape.
"""

from __future__ import annotations

from unicodedata import category

_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that show nothing."""


def harmless(text: str, *, keep: str = "") -> str:
    """Return the text with every control, format, private, blank and surrogate character as ``\\uXXXX``.

    Args:
        text: from anywhere.
        keep: characters to leave as they are, such as a line feed.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) if character not in keep else character for character in text)


def _shown(character: str) -> str:
    number = ord(character)
    is_selector = 0xE0100 <= number <= 0xE01EF
    if category(character) not in _UNSEEN and character not in _BLANK_LETTERS and not is_selector:
        return character
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


__all__ = ["harmless"]
