"""Grammars in Lark's notation: which texts they accept, for what lark cannot be asked or authors write often."""

from __future__ import annotations

import pytest

from commitgate import Grammar
from commitgate.automaton import compile
from commitgate.errors import UnsatisfiableError

CALCULATOR = """
?start: sum
sum: product | sum ("+" | "-") product
product: atom | product ("*" | "/") atom
atom: NUMBER -> number
    | "-" atom -> negative
    | "(" sum ")"

%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""
JSON = r"""
?start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
array: "[" [_separated{value, ","}] "]"
object: "{" [_separated{pair, ","}] "}"
pair: STRING ":" value
_separated{item, sign}: item (sign item)*
STRING: "\"" (/[^"\\\x00-\x1f]/ | "\\" /["\\\/bfnrt]/ | "\\u" HEX ~ 4)* "\""
HEX: "0".."9" | "a".."f" | "A".."F"
NUMBER: "-"? ("0" | "1".."9" DIGIT*) ["." DIGIT+] [("e" | "E") ["+" | "-"] DIGIT+]
%import common (DIGIT, WS)
%ignore WS
"""
SELECT = """
start: "SELECT"i _names "FROM"i CNAME [where] ";"
_names: "*" | CNAME ("," CNAME)*
where: "WHERE"i CNAME OPERATOR (SIGNED_INT | STRING)
OPERATOR: "=" | "<" ["="] | ">" ["="]
STRING: "'" /[^']/* "'"
%import common (CNAME, SIGNED_INT, WS, SQL_COMMENT)
%ignore WS
%ignore SQL_COMMENT
"""


@pytest.mark.parametrize(
    ("grammar", "accepted", "refused"),
    [
        (CALCULATOR, ["1", " 1+2 * (3-4.5e3) ", "--1", "((1))", "1\t"], ["", "1 2", "1+", "(1", "1\n", "1 .5"]),
        (
            JSON,
            ["{}", '{ "a" : [1, -0.5e+2,null ] }', r'"\u00e9\n"', "[]", "\r\n true\n"],
            ["", "{a:1}", "01", '"\n"', r'"\u00g1"', "[1,]", "tr ue"],
        ),
        (
            SELECT,
            ["SELECT * FROM t;", "select a,b -- names\nfrom t where a >= -1 ;", "SELECT a FROM t WHERE b='x y';"],
            ["SELECT FROM t", "SELECT a FROM t WHERE b > = 1;", "SELECT a, FROM t;"],
        ),
        ("start: /(.|\\n)*/", ["", "a\r\nb", "é\u2028😀"], []),
        ('start: TEXT "." | \nTEXT: /[a-z]*/', ["", ".", "abc."], ["abc", "a.b."]),
        ('start: "" start "" | "a"', ["a"], ["", "aa"]),
        ("start: start start | | /[ab]/", ["", "a", "abba"], ["c", "abc"]),
        ('start: "a" ~ 2..100000', ["aa", "a" * 100_000], ["a", "a" * 100_001]),
        ('start: "a"\n%ignore /[ ]/\n%ignore /#[^\\n]*\\n/', ["a", " # one\n# two\n a# b\n"], ["a#", "#a"]),
        ("start: /a|ab/ /c/", ["ac", "abc"], ["a", "abbc"]),
        ('start: /^a$/ /(?<!b)c(?!d)/ "d"', ["acd"], ["ac"]),
        ("%import common.DECIMAL\nstart: DECIMAL", ["1.", "1.5", ".5"], [".", "1", "1.5."]),
        (
            "%import common.C_COMMENT\nstart: C_COMMENT",
            ["/**/", "/* / * \n **/"],
            ["/*/", "/**/ */", "/* **/*/", "/* *"],
        ),
        (
            "%import common.ESCAPED_STRING\nstart: ESCAPED_STRING",
            ['""', r'"\""', r'"a\\"'],
            ['"', r'"\"', '"a"b"', '"\n"'],
        ),
        ('start: one{"a"} one{"b"}\none{x}: x one{x} | x', ["ab", "aabbb"], ["", "a", "aba"]),
    ],
)
def test_texts(grammar: str, accepted: list[str], refused: list[str]) -> None:
    automaton = compile(Grammar(grammar, "lark"))
    assert [text for text in accepted if not automaton.accepts(text.encode())] == []
    assert [text for text in refused if automaton.accepts(text.encode())] == []


def test_start_names_the_rule_of_a_whole_text() -> None:
    automaton = compile(Grammar('start: one "!"\none: "a"\n%ignore " "', "lark", start="one"))
    assert automaton.accepts(b" a ")
    assert not automaton.accepts(b"a!")


@pytest.mark.parametrize("grammar", ["start: start", 'start: "a" one\none: "b" one', "start: /[^\\s\\S]/"])
def test_a_grammar_without_texts_is_refused(grammar: str) -> None:
    with pytest.raises(UnsatisfiableError):
        compile(Grammar(grammar, "lark"))
