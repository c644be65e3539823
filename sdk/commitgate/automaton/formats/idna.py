"""Judge the characters of a U-label: which may stand there at all, which in what company, and in which direction.

The properties are derived from Python's own Unicode data, so newer versions of Python know newer letters.

Source: RFC 5892, sections 2 and 3, appendix A; RFC 5893, section 2.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from commitgate.automaton.formats.unicode_ranges import Property, has_property

_ZERO_WIDTH_NON_JOINER = 0x200C
_ZERO_WIDTH_JOINER = 0x200D
_MIDDLE_DOT = 0xB7
_KERAIA = 0x375
_GERESH = 0x5F3
_GERSHAYIM = 0x5F4
_KATAKANA_MIDDLE_DOT = 0x30FB
_ARABIC_DIGITS = range(0x660, 0x66A)
_EXTENDED_ARABIC_DIGITS = range(0x6F0, 0x6FA)
_VIRAMA_CLASS = 9

_LEGAL_BY_EXCEPTION = frozenset((0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007))
_ILLEGAL_BY_EXCEPTION = frozenset((0x640, 0x7FA, 0x302E, 0x302F, *range(0x3031, 0x3036), 0x303B))
_IGNORED_BLOCKS = (range(0x20D0, 0x2100), range(0x1D100, 0x1D250))
_OLD_HANGUL = (range(0x1100, 0x1200), range(0xA960, 0xA980), range(0xD7B0, 0xD800))
_LETTERS_AND_DIGITS = frozenset(("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"))

LETTERS_RIGHT_TO_LEFT: Final = frozenset(("R", "AL", "AN"))
_IN_EITHER_DIRECTION = frozenset(("EN", "ES", "CS", "ET", "ON", "BN", "NSM"))


def has_legal_characters(label: str) -> bool:
    """Return whether every character of the label may stand where it does."""
    return all(_is_legal_at(label, at) for at in range(len(label)))


def is_legal_direction(label: str) -> bool:
    """Return whether the label of a name with right-to-left letters reads in one direction. It is not empty."""
    classes = [unicodedata.bidirectional(each) for each in label]
    last = next((each for each in reversed(classes) if each != "NSM"), "")
    kinds = set(classes)
    if classes[0] == "L":
        return kinds <= _IN_EITHER_DIRECTION | {"L"} and last in ("L", "EN")
    if classes[0] not in ("R", "AL"):
        return False
    is_mixed = "EN" in kinds and "AN" in kinds
    return kinds <= _IN_EITHER_DIRECTION | LETTERS_RIGHT_TO_LEFT and last in ("R", "AL", "EN", "AN") and not is_mixed


def _is_legal_at(label: str, at: int) -> bool:
    point = ord(label[at])
    if point == _ZERO_WIDTH_JOINER:
        return _is_after_virama(label, at)
    if point == _ZERO_WIDTH_NON_JOINER:
        return _is_after_virama(label, at) or _is_between_joining_letters(label, at)
    if point == _MIDDLE_DOT:
        return label[at - 1 : at] == "l" and label[at + 1 : at + 2] == "l"
    if point == _KERAIA:
        return at + 1 < len(label) and has_property(label[at + 1], Property.GREEK)
    if point in (_GERESH, _GERSHAYIM):
        return at > 0 and has_property(label[at - 1], Property.HEBREW)
    if point == _KATAKANA_MIDDLE_DOT:
        return any(has_property(each, Property.KANA_OR_HAN) for each in label)
    if point in _ARABIC_DIGITS:
        return not any(ord(each) in _EXTENDED_ARABIC_DIGITS for each in label)
    if point in _EXTENDED_ARABIC_DIGITS:
        return not any(ord(each) in _ARABIC_DIGITS for each in label)
    return _is_legal_anywhere(label[at])


def _is_after_virama(label: str, at: int) -> bool:
    return at > 0 and unicodedata.combining(label[at - 1]) == _VIRAMA_CLASS


def _is_between_joining_letters(label: str, at: int) -> bool:
    before = next((each for each in reversed(label[:at]) if not _is_transparent(each)), None)
    after = next((each for each in label[at + 1 :] if not _is_transparent(each)), None)
    if before is None or after is None:
        return False
    return has_property(before, Property.JOINS_THE_NEXT) and has_property(after, Property.JOINS_THE_LAST)


def _is_transparent(character: str) -> bool:
    # Marks are transparent to joining, and so are most format characters, which no label may hold but the two joiners.
    return unicodedata.category(character) in ("Mn", "Me")


def _is_legal_anywhere(character: str) -> bool:
    point = ord(character)
    if point in _LEGAL_BY_EXCEPTION:
        return True
    if point in _ILLEGAL_BY_EXCEPTION or any(point in block for block in (*_IGNORED_BLOCKS, *_OLD_HANGUL)):
        return False
    if character == "-":
        return True
    if unicodedata.category(character) not in _LETTERS_AND_DIGITS or has_property(character, Property.IGNORABLE):
        return False
    folded = unicodedata.normalize("NFKC", character).casefold()
    return unicodedata.normalize("NFKC", folded) == character


__all__ = ["LETTERS_RIGHT_TO_LEFT", "has_legal_characters", "is_legal_direction"]
