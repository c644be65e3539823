"""Spell host names as patterns, and judge the labels that no pattern can: A-labels and U-labels.

A label that begins with ``xn--`` is legal only where its Punycode decodes to a legal U-label and back to itself; labels
of a name with right-to-left letters bind each other. Both are computed, so the languages here hold a few names more.
ASCII labels that look like a reserved extension (``ab--cd``) are legal, as RFC 1123 has them.

Source: RFC 1123, section 2.1; RFC 1035, section 2.3.4 (63 octets a label; 253 characters a name without its last dot);
RFC 5890, section 2.3.2; RFC 5891, sections 4.2 and 5.4; RFC 3490, section 3.1 (the four dots).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from commitgate.automaton.formats.idna import LETTERS_RIGHT_TO_LEFT, has_legal_characters, is_legal_direction

MAX_LABEL_LENGTH = 63
MAX_NAME_LENGTH = 253

_PREFIX = "xn--"
_DOTS = ".\u3002\uff0e\uff61"
_NOT_ASCII = "\u0080-\U0010ffff"


def _label(characters: str) -> str:
    inner = MAX_LABEL_LENGTH - 2
    return f"[{characters}](?:[{characters}-]{{0,{inner}}}[{characters}])?"


def _name(label: str, dot: str) -> str:
    return f"{label}(?:{dot}{label})*"


_OTHER_DOTS = _DOTS[1:]
# What is not ASCII, but the three dots that are not.
_NOT_ASCII_BUT_DOTS = "\u0080-\u3001\u3003-\uff0d\uff0f-\uff60\uff62-\U0010ffff"

HOSTNAME = _name(_label("A-Za-z0-9"), "\\.")
IDN_HOSTNAME = _name(_label(f"A-Za-z0-9{_NOT_ASCII_BUT_DOTS}"), f"[.{_OTHER_DOTS}]")
IDN_MAIL_DOMAIN = _name(_label(f"A-Za-z0-9{_NOT_ASCII}"), "\\.")
A_LABEL_SOMEWHERE = "(?:[^]*\\.)?[Xx][Nn]--[^]*"
MORE_THAN_ASCII = f"[^]*[{_NOT_ASCII}][^]*"


def is_hostname(text: str) -> bool:
    """Return whether a text of the language ``HOSTNAME`` is a host name: whether its A-labels are legal."""
    return _is_legal([_decoded(label) for label in text.split(".")])


def is_idn_hostname(text: str) -> bool:
    """Return whether a text of the language ``IDN_HOSTNAME`` is an internationalised host name."""
    for dot in _OTHER_DOTS:
        text = text.replace(dot, ".")
    labels = text.split(".")
    lengths = [_encoded_length(label) for label in labels]
    if max(lengths) > MAX_LABEL_LENGTH or sum(lengths) + len(labels) - 1 > MAX_NAME_LENGTH:
        return False
    return _is_legal([_decoded(label) for label in labels])


def _is_legal(labels: Sequence[str | None]) -> bool:
    """Return whether labels in their Unicode form, None where there is none, make a name."""
    known = [label for label in labels if label is not None]
    if len(known) < len(labels) or not all(label.isascii() or _is_u_label(label) for label in known):
        return False
    is_bidi = any(unicodedata.bidirectional(each) in LETTERS_RIGHT_TO_LEFT for label in known for each in label)
    return not is_bidi or all(is_legal_direction(label) for label in known)


def _is_u_label(label: str) -> bool:
    if label[2:4] == "--" or label.startswith("-") or label.endswith("-"):
        return False
    if unicodedata.category(label[0]).startswith("M") or not unicodedata.is_normalized("NFC", label):
        return False
    return has_legal_characters(label)


def _decoded(label: str) -> str | None:
    """Return the Unicode form of a label: itself unless it is an A-label; None for an A-label of nothing."""
    lower = label.lower()
    if not (label.isascii() and lower.startswith(_PREFIX)):
        return label
    try:
        decoded = lower[len(_PREFIX) :].encode("ascii").decode("punycode")
    except UnicodeError:
        return None
    if any(unicodedata.category(each) == "Cs" for each in decoded):
        return None
    return decoded if _PREFIX + decoded.encode("punycode").decode("ascii") == lower else None


def _encoded_length(label: str) -> int:
    return len(label) if label.isascii() else len(_PREFIX) + len(label.encode("punycode"))


__all__ = [
    "A_LABEL_SOMEWHERE",
    "HOSTNAME",
    "IDN_HOSTNAME",
    "IDN_MAIL_DOMAIN",
    "MAX_LABEL_LENGTH",
    "MAX_NAME_LENGTH",
    "MORE_THAN_ASCII",
    "is_hostname",
    "is_idn_hostname",
]
