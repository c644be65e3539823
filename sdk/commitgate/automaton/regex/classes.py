r"""Name sets of characters: ``.``, ``\d``, ``\s``, ``\w`` and Unicode properties.

Source: ECMA-262, 14th edition (2023), sections 12.2, 12.3, 22.2.2.9 and tables 67 to 70.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.regex.unicode_tables import BASE_32, BINARY_PROPERTIES, EXTENSIONS, SCRIPTS
from commitgate.automaton.strings import LAST_CODE_POINT

LINE_TERMINATORS = CharacterSet.of_text("\n\r\u2028\u2029")
DOT = LINE_TERMINATORS.complement()
DIGITS = CharacterSet.of([(0x30, 0x39)])
WORD = CharacterSet.of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACES = CharacterSet.of_text("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff").union(
    CharacterSet.of([(0x2000, 0x200A)])
)
CLASS_ESCAPES = {
    "d": DIGITS,
    "D": DIGITS.complement(),
    "s": SPACES,
    "S": SPACES.complement(),
    "w": WORD,
    "W": WORD.complement(),
}

_CATEGORY_NAMES = {
    "Cased_Letter": "LC",
    "Close_Punctuation": "Pe",
    "Connector_Punctuation": "Pc",
    "Control": "Cc",
    "Currency_Symbol": "Sc",
    "Dash_Punctuation": "Pd",
    "Decimal_Number": "Nd",
    "Enclosing_Mark": "Me",
    "Final_Punctuation": "Pf",
    "Format": "Cf",
    "Initial_Punctuation": "Pi",
    "Letter": "L",
    "Letter_Number": "Nl",
    "Line_Separator": "Zl",
    "Lowercase_Letter": "Ll",
    "Mark": "M",
    "Math_Symbol": "Sm",
    "Modifier_Letter": "Lm",
    "Modifier_Symbol": "Sk",
    "Nonspacing_Mark": "Mn",
    "Number": "N",
    "Open_Punctuation": "Ps",
    "Other": "C",
    "Other_Letter": "Lo",
    "Other_Number": "No",
    "Other_Punctuation": "Po",
    "Other_Symbol": "So",
    "Paragraph_Separator": "Zp",
    "Private_Use": "Co",
    "Punctuation": "P",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Spacing_Mark": "Mc",
    "Surrogate": "Cs",
    "Symbol": "S",
    "Titlecase_Letter": "Lt",
    "Unassigned": "Cn",
    "Uppercase_Letter": "Lu",
    "Combining_Mark": "M",
    "cntrl": "Cc",
    "digit": "Nd",
    "punct": "P",
}
_DIGIT_VALUES = {digit: value for value, digit in enumerate(BASE_32)}
_CASED = ("Lu", "Ll", "Lt")


@cache
def _categories() -> dict[str, CharacterSet]:
    """Return each two-letter General_Category of this Python's Unicode data with its characters."""
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for point in range(1, LAST_CODE_POINT + 1):
        category = unicodedata.category(chr(point))
        if category != current:
            found.setdefault(current, []).append((start, point - 1))
            start, current = point, category
    found.setdefault(current, []).append((start, LAST_CODE_POINT))
    return {category: CharacterSet.of(ranges) for category, ranges in found.items()}


@cache
def category(name: str) -> CharacterSet | None:
    """Return the characters of a General_Category, by its long or short name; None for an unknown one."""
    short = _CATEGORY_NAMES.get(name, name)
    if short not in _CATEGORY_NAMES.values():
        return None
    known = _categories()
    if short == "LC":
        parts = [known[part] for part in _CASED]
    else:
        parts = [members for part, members in known.items() if part.startswith(short)]
    return CharacterSet(()).union(*parts)


@cache
def _records(table: str) -> dict[str, str]:
    """Return each name of a table with its runs, still as digits."""
    found: dict[str, str] = {}
    for record in table.split("=")[1:]:
        names, _, runs = record.partition("\n")
        found |= dict.fromkeys(names.split(), runs)
    return found


def _decoded(runs: str) -> CharacterSet:
    numbers: list[int] = []
    number = 0
    for character in runs.replace("\n", ""):
        digit = _DIGIT_VALUES[character]
        number = number * 32 + digit % 32
        if digit < 32:
            numbers.append(number)
            number = 0
    ranges: list[tuple[int, int]] = []
    start = 0
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        ranges.append((start + gap, start + gap + length))
        start += gap + length + 1
    return CharacterSet.of(ranges)


def _script(name: str, *, has_extensions: bool) -> CharacterSet | None:
    name = name.replace("_", "").upper()
    scripts = _records(SCRIPTS)
    if name in ("UNKNOWN", "ZZZZ"):
        return CharacterSet(()).union(*(_decoded(runs) for runs in set(scripts.values()))).complement()
    runs = scripts.get(name)
    if runs is None:
        return None
    if has_extensions:
        extensions = _records(EXTENSIONS)
        runs = next((extensions[known] for known in extensions if scripts[known] == runs), runs)
    return _decoded(runs)


@cache
def property_set(name: str, value: str | None) -> CharacterSet | None:
    r"""Return the characters of ``\p{name=value}`` or ``\p{name}``; None for an unknown one.

    General categories are those of this Python's Unicode data. Names of scripts may be written in any case.
    """
    if name in ("General_Category", "gc") and value is not None:
        return category(value)
    if name in ("Script", "sc", "Script_Extensions", "scx") and value is not None:
        return _script(value, has_extensions=name in ("Script_Extensions", "scx"))
    if value is not None:
        return None
    if name == "Any":
        return ANY_CHARACTER
    if name == "ASCII":
        return CharacterSet.of([(0, 0x7F)])
    if name == "Assigned":
        unassigned = category("Cn")
        return None if unassigned is None else unassigned.complement()
    runs = _records(BINARY_PROPERTIES).get(name)
    return category(name) if runs is None else _decoded(runs)


__all__ = ["CLASS_ESCAPES", "DIGITS", "DOT", "LINE_TERMINATORS", "SPACES", "WORD", "category", "property_set"]
