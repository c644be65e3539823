"""Test that the likeliest slips with a pattern or a grammar lead to what was meant."""

from __future__ import annotations

import pytest

from commitgate.contract import Contract
from commitgate.errors import ContractError
from commitgate.languages import Grammar, Regex, TextSource


@pytest.mark.parametrize(
    ("source", "words", "position"),
    [
        (Grammar('start: "a"'), 'syntax="lark"', 5),
        (Grammar('root ::= "a"', "lark"), 'syntax="gbnf"', 6),
        (Grammar("sum.gbnf"), "not the name of its file", 3),
        (Grammar("root ::= 'a'"), "double quotes", 9),
        (Grammar('root ::= "a"\n | "b"'), "at the end of the line before", 14),
        (Regex("a{2"), "write .{ for the brace", 1),
        (Regex("a{2x}"), "write .{ for the brace", 1),
        (Regex(r"(a)\1"), "write the alternatives out", 3),
    ],
)
def test_a_likely_slip_leads_to_what_was_meant(source: TextSource, words: str, position: int) -> None:
    with pytest.raises(ContractError, match=words) as caught:
        Contract.of(source)
    assert caught.value.position == position
