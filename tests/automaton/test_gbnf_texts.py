"""Grammars in GBNF: the texts that they accept."""

from __future__ import annotations

import pytest

from commitgate.automaton import compile
from commitgate.languages import Grammar

SUM = """
root ::= expr
expr ::= term (("+" | "-") term)*
term ::= factor (("*" | "/") factor)*
factor ::= [0-9]+ | [a-z_] [a-z0-9_]* | "(" expr ")"
"""
CHESS = r"""
root ::= (
    "1. " move " " move "\n"
    ([1-9] [0-9]? ". " move " " move "\n")+
)
move ::= (pawn | piece | castle) [+#]?
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBRQ])?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
castle ::= "O-O" "-O"?
"""
LIST = 'root ::= ("- " item)+\nitem ::= [^\\n]+ "\\n"'
JSON = r"""
root ::= object
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws
array ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""


@pytest.mark.parametrize(
    ("grammar", "valid", "invalid"),
    [
        ('root ::= root "+" num | num\nnum ::= [0-9]+', ["1", "1+2+33"], ["", "+1", "1+", "1++2"]),
        ('root ::= "a" root "b" | "ab"', ["ab", "aaabbb"], ["", "aab", "abb", "ba"]),
        (
            'root ::= pre "<|s|>" [0-9]+\npre ::= ([^<] | "<" [^|])*',
            ["hi <b> <|s|>12", "<|s|>7"],
            ["hi", "<|s|>", "hi <|s|>x"],
        ),
        (SUM, ["42", "x+10", "(a+b)*(c-d)", "a*(b+c)-d/e_1"], ["", "+", "x++y", "(a+b", "x+y)", "42+", "1a"]),
        (
            CHESS,
            ["1. e4 e5\n2. Nf3 Nc6\n12. O-O-O Bxc3+\n"],
            ["1. e4 e5\n", "1. e4 e5\n2. Nf3\n", "2. e4 e5\n2. e4 e5\n"],
        ),
        (LIST, ["- a\n", "- a\n- é - 😀\n"], ["", "- a", "- \n", "a\n", "- a\n\n"]),
        (
            JSON,
            ['{"a": [1, -2.5e+3, true, {}]}', '{\n\t"é\\u00e9\\"": null}\n'],
            ["1", "{,}", '{"a":01}', '{"\n":1}', '{"a":1'],
        ),
        ("root ::= .", ["a", "\n", "\0", "😀"], ["", "ab"]),
        (r"root ::= [\uD7FF-\uE000]", ["\ud7ff", "\ue000"], ["\ud7fe", "\ue001"]),
        (r'root ::= "\xe9"', ["é"], ["e", "\u00c3"]),
        ('root ::= "a"{2,3} "b"{0} "c"{2,}', ["aacc", "aaacccc"], ["acc", "aaaacc", "aac", "aabcc"]),
        ('root ::= "ab"{2}?', ["", "abab"], ["ab", "ababab"]),
        ('root ::= ("a" | "b"?){3}', ["", "a", "bab"], ["abab", "c"]),
        ('root ::= "a" |\n', ["a", ""], ["b"]),
    ],
)
def test_texts(grammar: str, valid: list[str], invalid: list[str]) -> None:
    automaton = compile(Grammar(grammar))
    assert [text for text in valid if not automaton.accepts(text.encode())] == []
    assert [text for text in invalid if automaton.accepts(text.encode())] == []


def test_text_that_is_no_utf8_is_no_character() -> None:
    automaton = compile(Grammar("root ::= [^a]"))
    for data in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"):
        assert not automaton.accepts(data)


def test_other_start() -> None:
    automaton = compile(Grammar('root ::= "r"\nother ::= "o" root', start="other"))
    assert automaton.accepts(b"or")
    assert not automaton.accepts(b"r")


def test_large_counts_are_exact() -> None:
    automaton = compile(Grammar('root ::= "a"{3000,3001}'))
    assert [automaton.accepts(b"a" * count) for count in (2999, 3000, 3001, 3002)] == [False, True, True, False]
