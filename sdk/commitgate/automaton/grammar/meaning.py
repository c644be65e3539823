"""Work out what a text contract means, once: its rules, and that some text satisfies it."""

from __future__ import annotations

from typing import assert_never

from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.expression import Expression, Rules, Words
from commitgate.automaton.grammar.gbnf import gbnf_rules
from commitgate.automaton.grammar.lark import lark_rules
from commitgate.automaton.grammar.machine import read_machine
from commitgate.automaton.json_schema.support import SupportRow
from commitgate.automaton.regex.expression import pattern_expression
from commitgate.errors import NotationError
from commitgate.json_value import JsonValue
from commitgate.languages import Choices, Grammar, Machine, Regex, TextKind, TextSource, kind_of_text
from commitgate.limits import Limits

START = "start"
"""The name of the one rule of what is no grammar."""


class TextMeaning:
    """Hold what a text contract means.

    Args:
        source: what the texts are made from.
        limits: bounds on its size.

    Attributes:
        source: as given.
        limits: as given.
        rules: what a text is made of.
        described: the source as JSON, its kind first; what digests are made of.

    Raises:
        NotationError: it is no pattern, grammar, list of choices or machine.
        UnsupportedError: it uses what no automaton can hold.
        LimitExceededError: it is larger than a limit.
    """

    def __init__(self, source: TextSource, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.rules, self.described = _read(source, limits)

    @property
    def support(self) -> tuple[SupportRow, ...]:
        """Return one row: texts that are no JSON are decoded as a whole, or refused."""
        return (SupportRow(kind_of_text(self.source), "", "decoded"),)


def _read(source: TextSource, limits: Limits) -> tuple[Rules, JsonValue]:
    match source:
        case Regex(pattern, flags):
            described: JsonValue = ["regex", pattern, "".join(sorted(set(flags)))]
            return _one(pattern_expression(pattern, flags, limits)), described
        case Grammar(text, syntax, start):
            _check_bytes(text, limits, "grammar")
            read = gbnf_rules if syntax == "gbnf" else lark_rules
            return read(text, start, limits), ["grammar", syntax, start, text]
        case Choices(texts):
            return _one(_choices(texts, limits)), ["choices", *sorted(set(texts))]
        case Machine():
            machine = read_machine(source, limits)
            return machine.rules, machine.described
        case _:
            assert_never(source)


def _one(expression: Expression) -> Rules:
    return Rules(START, {START: expression})


def _choices(texts: tuple[str, ...], limits: Limits) -> Words:
    if not texts:
        raise NotationError("choices needs at least one text", keyword="choices")
    check_size("enum_values", len(texts), limits, "choices")
    _check_bytes("".join(texts), limits, "choices")
    return Words(tuple(sorted(set(texts))))


def _check_bytes(text: str, limits: Limits, keyword: TextKind) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise NotationError(
            f"the {keyword} must be text that UTF-8 can encode, found a lone surrogate",
            keyword=keyword,
            position=None if keyword == "choices" else error.start,
        ) from None
    check_size("schema_bytes", size, limits, keyword)


__all__ = ["START", "TextMeaning"]
