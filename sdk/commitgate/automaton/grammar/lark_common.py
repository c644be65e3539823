"""Define the terminals that ``%import common`` brings, each by what its name means.

Texts that end at a mark, such as a string's closing quote, end at the first one: that is what Lark's own definitions,
which are lazy patterns, come to.

Source: lark 1.3, ``grammars/common.lark``, for the names.
"""

from __future__ import annotations

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.grammar.expression import Characters, Either, Expression, Row, Times, Word


def common_terminals() -> dict[str, Expression]:
    """Return the standard terminals by name."""
    return {**_numbers(), **_words(), **_white_space(), **_comments(), "ESCAPED_STRING": _string()}


def _one_of(text: str) -> Expression:
    return Characters(CharacterSet.of_text(text))


def _none_of(text: str) -> Expression:
    return Characters(CharacterSet.of_text(text).complement())


def _between(*ranges: str) -> Expression:
    return Characters(CharacterSet.of((ord(each[0]), ord(each[1])) for each in ranges))


def _row(*parts: Expression) -> Expression:
    return Row(parts)


def _maybe(item: Expression) -> Expression:
    return Times(item, 0, 1)


def _some(item: Expression) -> Expression:
    return Times(item, 1, None)


def _any_number(item: Expression) -> Expression:
    return Times(item, 0, None)


def _signed(item: Expression) -> Expression:
    return _row(_maybe(_one_of("+-")), item)


def _numbers() -> dict[str, Expression]:
    digit = _between("09")
    whole = _some(digit)
    decimal = Either((_row(whole, Word("."), _maybe(whole)), _row(Word("."), whole)))
    exponent = _row(_one_of("eE"), _signed(whole))
    float_number = Either((_row(whole, exponent), _row(decimal, _maybe(exponent))))
    number = Either((float_number, whole))
    return {
        "DIGIT": digit,
        "HEXDIGIT": _between("09", "af", "AF"),
        "INT": whole,
        "SIGNED_INT": _signed(whole),
        "DECIMAL": decimal,
        "FLOAT": float_number,
        "SIGNED_FLOAT": _signed(float_number),
        "NUMBER": number,
        "SIGNED_NUMBER": _signed(number),
    }


def _words() -> dict[str, Expression]:
    letter = _between("az", "AZ")
    return {
        "LCASE_LETTER": _between("az"),
        "UCASE_LETTER": _between("AZ"),
        "LETTER": letter,
        "WORD": _some(letter),
        "CNAME": _row(_between("az", "AZ", "__"), _any_number(_between("az", "AZ", "__", "09"))),
    }


def _white_space() -> dict[str, Expression]:
    return {
        "WS_INLINE": _some(_one_of(" \t")),
        "WS": _some(_one_of(" \t\f\r\n")),
        "CR": Word("\r"),
        "LF": Word("\n"),
        "NEWLINE": _some(_row(_maybe(Word("\r")), Word("\n"))),
    }


def _comments() -> dict[str, Expression]:
    line = _any_number(_none_of("\n"))
    stars = _some(Word("*"))
    inside = Either((_none_of("*"), _row(stars, _none_of("*/"))))
    return {
        "SH_COMMENT": _row(Word("#"), line),
        "CPP_COMMENT": _row(Word("//"), line),
        "SQL_COMMENT": _row(Word("--"), line),
        "C_COMMENT": _row(Word("/*"), _any_number(inside), stars, Word("/")),
    }


def _string() -> Expression:
    inside = Either((_none_of('"\\\n'), _row(Word("\\"), _none_of("\n"))))
    return _row(Word('"'), _any_number(inside), Word('"'))


__all__ = ["common_terminals"]
