r"""Read what stands for text in the notation of Lark: strings, ranges of characters and regular expressions.

In a string ``\n \r \t \f \xHH \uHHHH \UHHHHHHHH \" \\`` stand for one character; any other backslash stands for itself.

Source: lark 1.3, grammar reference, "Terminals", and what it does with escapes that the reference leaves open.
"""

from __future__ import annotations

import re

from commitgate.automaton.characters import FIRST_SURROGATE, LAST_SURROGATE, CharacterSet
from commitgate.automaton.grammar.expression import EMPTY_TEXT, Characters, Expression, Row, Word
from commitgate.automaton.grammar.flattening import parts_of
from commitgate.automaton.grammar.lark_tokens import Token, Tokens, place
from commitgate.automaton.regex.case_folding import with_all_cases
from commitgate.automaton.regex.expression import LARK_FLAGS, pattern_expression
from commitgate.automaton.regex.machine import Steps
from commitgate.automaton.strings import LAST_CODE_POINT
from commitgate.errors import ContractError
from commitgate.limits import Limits

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", '"': '"', "\\": "\\"}
_CODED = "xuU"
_RANGES_OF_A_SYMBOL = 8
_DOT = CharacterSet.of_text("\n").complement()
"""What ``.`` takes in Lark's patterns, which are Python's: every character but one."""


class Literals:
    """Read literals of one grammar; the same regular expression is read once.

    Args:
        text: the grammar.
        tokens: makes errors with their place.
        limits: bounds on patterns.
    """

    def __init__(self, text: str, tokens: Tokens, limits: Limits) -> None:
        self._text = text
        self._tokens = tokens
        self._limits = limits
        self._known: dict[str, Expression] = {}
        self._classes: set[CharacterSet] = set()
        self._steps = Steps()

    def is_known(self, token: Token) -> bool:
        """Return whether this regular expression, or this string in either case, was read before."""
        return token.text in self._known

    def weight(self, expression: Expression) -> int:
        """Return how many symbols an expression counts for: what it is made of, and the size of classes not yet met."""
        found = -1
        waiting = [expression]
        while waiting:
            each = waiting.pop()
            found += not isinstance(each, Row)
            if isinstance(each, Characters) and each.members not in self._classes:
                self._classes.add(each.members)
                found += len(each.members.ranges) // _RANGES_OF_A_SYMBOL
            waiting.extend(parts_of(each))
        return max(found, 0)

    def string(self, token: Token) -> Expression:
        """Return what a string denotes."""
        if not token.text.endswith("i"):
            text = self._unescaped(token)
            return Word(text) if text else EMPTY_TEXT
        known = self._known.get(token.text)
        if known is None:
            known = self._known[token.text] = _either_case(self._unescaped(token))
        return known

    def characters(self, first: Token, last: Token) -> Expression:
        """Return what a range between two strings of one character denotes."""
        ends = [self._end(first), self._end(last)]
        if ends[0] > ends[1]:
            raise self._tokens.error("a range goes from a character to one that is not before it", first.position)
        return Characters(CharacterSet.of([(ends[0], ends[1])]))

    def pattern(self, token: Token) -> Expression:
        """Return what a regular expression denotes: the texts that it matches as a whole.

        Raises:
            ContractError: as ``pattern_expression`` raises it, with the position in the grammar.
        """
        known = self._known.get(token.text)
        if known is None:
            known = self._known[token.text] = self._read_pattern(token)
        return known

    def _read_pattern(self, token: Token) -> Expression:
        end = token.text.rindex("/")
        flags = token.text[end + 1 :]
        for index, flag in enumerate(flags):
            if flag not in LARK_FLAGS:
                raise self._tokens.error(
                    f"a regular expression takes the flags i, m, s, u and x, found {flag!r}",
                    token.position + end + 1 + index,
                )
        try:
            return pattern_expression(
                token.text[1:end],
                "".join(sorted(set(flags))),
                self._limits,
                known_flags=LARK_FLAGS,
                dot=_DOT,
                steps=self._steps,
            )
        except ContractError as error:
            error.position = token.position + 1 + (error.position or 0)
            error.keyword = "grammar"
            where = place(self._text, error.position)
            error.args = (f"{error.args[0]} (in the regular expression of the grammar, at {where})",)
            raise

    def _end(self, token: Token) -> int:
        text = self._unescaped(token)
        if len(text) != 1 or token.text.endswith("i"):
            raise self._tokens.error("a range stands between two strings of one character each", token.position)
        return ord(text)

    def _unescaped(self, token: Token) -> str:
        end = token.text.rindex('"')
        if "\\" not in token.text:
            return token.text[1:end]
        parts: list[str] = []
        at = 1
        while (start := token.text.find("\\", at, end)) >= 0:
            parts.append(token.text[at:start])
            found = _ESCAPE.match(token.text, start, end)
            assert found is not None  # a string's token never ends within an escape
            parts.append(self._character(found, token.position + start))
            at = found.end()
        parts.append(token.text[at:end])
        return self._joined("".join(parts), token)

    def _character(self, found: re.Match[str], position: int) -> str:
        if digits := found[1] or found[2] or found[3]:
            point = int(digits, 16)
            if point > LAST_CODE_POINT:
                raise self._tokens.error("the escape names no character: the last one is \\U0010ffff", position)
            return chr(point)
        if found[4] in _CODED:
            raise self._tokens.error(
                f"the escape \\{found[4]} needs {dict(zip(_CODED, (2, 4, 8), strict=True))[found[4]]} hex digits",
                position,
            )
        return _SHORT.get(found[4], found[0])

    def _joined(self, text: str, token: Token) -> str:
        """Return the text with two halves of a character joined; one alone is no text."""
        if not any(FIRST_SURROGATE <= ord(character) <= LAST_SURROGATE for character in text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self._tokens.error("the string holds half a character (a lone surrogate)", token.position) from None


def _either_case(text: str) -> Expression:
    """Return the text in upper and lower case and any mixture."""
    cased = {character: found for character in set(text) if (found := _cased(character)) is not None}
    parts: list[Expression] = []
    start = 0
    for index, character in enumerate(text):
        if character in cased:
            parts += [Word(text[start:index])] * (index > start)
            parts.append(cased[character])
            start = index + 1
    parts += [Word(text[start:])] * (len(text) > start)
    return parts[0] if len(parts) == 1 else Row(tuple(parts))


def _cased(character: str) -> Characters | None:
    """Return the character in either case; None for one that has no case."""
    given = CharacterSet.of_text(character)
    found = with_all_cases(given)
    return None if found == given else Characters(found)


__all__ = ["Literals"]
