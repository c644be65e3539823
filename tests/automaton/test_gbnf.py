"""Grammars in GBNF: what is read, compared with the inner form; and that everything which can be written reads back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    Characters,
    Either,
    Expression,
    Named,
    Row,
    Times,
    Word,
    either,
    row,
    times,
)
from commitgate.automaton.grammar.gbnf import gbnf_rules
from commitgate.limits import Limits

A, B, C = Word("a"), Word("b"), Word("c")
MOST_COUNT = 1 << 53


def body(text: str) -> Expression:
    """Return what the only rule of a grammar denotes."""
    return gbnf_rules(f"root ::= {text}", None, Limits()).rules["root"]


def ranges(*found: tuple[str, str] | str) -> Characters:
    return Characters(CharacterSet.of((ord(each[0]), ord(each[-1])) for each in found))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        (r'"\n\r\t\\\"\[\]\-"', '\n\r\t\\"[]-'),
        (r'"\x41\u00e9\U0001F600"', "Aé😀"),
        (r'"\u00E9\U0001f600"', "é😀"),
        (r'"\x00\xff"', "\0ÿ"),
        ('"[a-z] # not a comment | ( \'"', "[a-z] # not a comment | ( '"),
        ('"日本 \t"', "日本 \t"),
        ('"two\nlines"', "two\nlines"),
        (r'"\x4142"', "A42"),
        ('"a" "b"\t"c"', "abc"),
        ('"a" ("b" ("c"))', "abc"),
        ('("a" "b") "" "c"', "abc"),
    ],
)
def test_text_in_quotes(written: str, text: str) -> None:
    assert body(written) == (Word(text) if text else EMPTY_TEXT)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[abc]", ranges("a", "b", "c")),
        ("[a-cx]", ranges("ac", "x")),
        ("[xa-c]", ranges("ac", "x")),
        ("[a-]", ranges("a", "-")),
        ("[-a]", ranges("-", "a")),
        ("[+--]", ranges("+-")),
        ("[a-c-e]", ranges("ac", "-", "e")),
        (r"[a\-c]", ranges("a", "-", "c")),
        (r"[\]\[\\]", ranges("]", "[", "\\")),
        ("[a^]", ranges("a", "^")),
        ('["#|(.*]', ranges(*'"#|(.*')),
        ("[ \t\n]", ranges(" ", "\t", "\n")),
        (r"[\x00-\x1F]", ranges("\x00\x1f")),
        (r"[\u3041-\u309F]", ranges("ぁゟ")),
        ("[ぁ-ゟ]", ranges("ぁゟ")),
        (r"[\U0001F600-\U0001F64F]", ranges("\U0001f600\U0001f64f")),
        (r"[\uD7FF-\uE000]", ranges("\ud7ff", "\ue000")),
        (r"[^\n]", Characters(CharacterSet.of_text("\n").complement())),
        ("[^^]", Characters(CharacterSet.of_text("^").complement())),
        ("[^-]", Characters(CharacterSet.of_text("-").complement())),
        ("[^]]", None),
        (r"[^\x00-\U0010FFFF]", Characters(CharacterSet.of(()))),
        (".", Characters(ANY_CHARACTER)),
    ],
)
def test_class(written: str, expected: Characters | None) -> None:
    if expected is None:
        with pytest.raises(Exception, match="without members"):
            body(written)
    else:
        assert body(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"a"*', Times(A, 0, None)),
        ('"a"+', Times(A, 1, None)),
        ('"a"?', Times(A, 0, 1)),
        ('"a" *', Times(A, 0, None)),
        ('"a"{3}', Times(A, 3, 3)),
        ('"a"{3,}', Times(A, 3, None)),
        ('"a"{3,5}', Times(A, 3, 5)),
        ('"a"{0,5}', Times(A, 0, 5)),
        ('"a"{003,05}', Times(A, 3, 5)),
        ('"a" { 3 ,\t5 } "b"', Row((Times(A, 3, 5), B))),
        ('"a"{0}', EMPTY_TEXT),
        ('"a"{0,0} "b"', B),
        ('"a"{1}', A),
        ('"ab"{2}', Times(Word("ab"), 2, 2)),
        ('"a" "b"{2}', Row((A, Times(B, 2, 2)))),
        ('"a"{2}?', Times(Times(A, 2, 2), 0, 1)),
        ('"a"*+?', Times(Times(Times(A, 0, None), 1, None), 0, 1)),
        ('("a" | "b")+', Times(Either((A, B)), 1, None)),
        ('("a" root)+', Times(Row((A, Named("root"))), 1, None)),
        ("()*", EMPTY_TEXT),
        ('("")*', EMPTY_TEXT),
        ('"a"{5000}', Times(A, 5000, 5000)),
        ('"a"{0,5000}', Times(A, 0, 5000)),
        ('"a"{' + "9" * 5000 + "}", Times(A, MOST_COUNT, MOST_COUNT)),
        ('"a"{' + str(MOST_COUNT + 1) + ",}", Times(A, MOST_COUNT, None)),
    ],
)
def test_repetition(written: str, expected: Expression) -> None:
    assert body(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"a" | "b"', Either((A, B))),
        ('"a" | ("b" | "c")', Either((A, B, C))),
        ('("a" | "b") | "c"', Either((A, B, C))),
        ('"a" | "b" | "a"', Either((A, B))),
        ('"a" | "a"', A),
        ('| "a"', Either((EMPTY_TEXT, A))),
        ('"a" |', Either((A, EMPTY_TEXT))),
        ('"a" || "b"', Either((A, EMPTY_TEXT, B))),
        ("", EMPTY_TEXT),
        ("()", EMPTY_TEXT),
        ('"a" (| "b") "c"', Row((A, Either((EMPTY_TEXT, B)), C))),
        ('"a" ("b" | "c")', Row((A, Either((B, C))))),
        ('("a" root) ("b" root "c")', Row((A, Named("root"), B, Named("root"), C))),
        ('"a" "b" | "c"', Either((Word("ab"), C))),
    ],
)
def test_alternatives_and_groups(written: str, expected: Expression) -> None:
    assert body(written) == expected


@pytest.mark.parametrize(
    "text",
    [
        'root ::= x "b"\nx ::= "a"',
        'root ::= x "b"\nx ::= "a"\n',
        'root ::= x "b"\r\nx ::= "a"\r\n',
        'root ::= x "b"\rx ::= "a"\r',
        '\n\n  # first\n\troot ::= x "b" # and\n\n# then\n  x ::= "a"# last',
        'root::=x"b"\nx::="a"',
        'root ::=\n\n  x "b"\nx ::= # why\n "a"',
        'root ::= (\n  x # a comment\r\n\n "b"\n)\nx ::= "a"',
        'root ::= (x\n"b")\nx ::= ("a"\n)',
        'x ::= "a"\nroot ::= x "b"',
    ],
)
def test_white_space_line_ends_and_comments(text: str) -> None:
    rules = gbnf_rules(text, None, Limits())
    assert (rules.start, rules.rules) == ("root", {"root": Row((Named("x"), B)), "x": A})


def test_rule_goes_on_behind_a_bar_at_the_end_of_a_line() -> None:
    rules = gbnf_rules('root ::= "a" |\n\n  # next\n  "b"\nx ::= "c"', None, Limits())
    assert rules.rules == {"root": Either((A, B)), "x": C}


def test_line_ends_within_a_group_stand_anywhere() -> None:
    expected = Times(Either((Times(Row((A, Named("root"))), 2, 3), B)), 0, None)
    assert body('(\n(\n"a"\nroot\n)\n{\n2\n,\n3\n}\n|\n"b"\n)*') == expected


def test_names() -> None:
    names = ["a", "A", "check-mate", "dataType", "UPPER-CASE", "rule_123", "7", "-", "1a"]
    text = f"root ::= {' '.join(names)}\n" + "".join(f'{name} ::= "{name}"\n' for name in names)
    rules = gbnf_rules(text, None, Limits())
    assert rules.rules["root"] == Row(tuple(Named(name) for name in names))
    assert [rules.rules[name] for name in names] == [Word(name) for name in names]


def test_positions_of_rules_and_names() -> None:
    text = '# é😀\nroot ::= item\n item ::= "x"'
    rules = gbnf_rules(text, None, Limits())
    found = rules.rules["root"]
    assert isinstance(found, Named)
    assert found.position == text.index("item")
    assert rules.positions == {"root": text.index("root"), "item": text.rindex("item")}


def test_start_rule_may_be_named() -> None:
    assert gbnf_rules('list ::= "x"\nroot ::= "y"', "list", Limits()).start == "list"


def test_rules_that_nothing_reaches_stay() -> None:
    assert set(gbnf_rules('root ::= "a"\nspare ::= spare', None, Limits()).rules) == {"root", "spare"}


def test_chess_moves() -> None:
    text = r"""
    # a game as two columns of moves
    root ::= (
        # the first pair
        "1. " move " " move "\n"

        ([1-9] [0-9]? ". " move " " move "\n")+
    )
    move ::= (pawn | castle) [+#]?
    pawn ::= [a-h] [1-8] ("=" [NBRQ])?
    castle ::= "O-O" "-O"?
    """
    move = Named("move")
    pair = (move, Word(" "), move)
    rules = gbnf_rules(text, None, Limits()).rules
    assert rules["root"] == Row(
        (
            Word("1. "),
            *pair,
            Word("\n"),
            Times(Row((ranges("19"), Times(ranges("09"), 0, 1), Word(". "), *pair, Word("\n"))), 1, None),
        )
    )
    assert rules["move"] == Row((Either((Named("pawn"), Named("castle"))), Times(ranges("+", "#"), 0, 1)))
    assert rules["castle"] == Row((Word("O-O"), Times(Word("-O"), 0, 1)))


# What can be written reads back.

NAMES = ("root", "item", "x-1", "B_2")
CHARACTERS = st.characters(exclude_categories=["Cs"])
SETS = st.lists(st.tuples(CHARACTERS, CHARACTERS).map(sorted), min_size=1, max_size=4).map(
    lambda found: CharacterSet.of((ord(low), ord(high)) for low, high in found)
)
LEAVES = st.one_of(
    st.text(CHARACTERS, min_size=1, max_size=4).map(Word), SETS.map(Characters), st.sampled_from(NAMES).map(Named)
)


def within(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    counts = st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4))
    return st.one_of(
        st.lists(inner, max_size=4).map(row),
        st.lists(inner, min_size=1, max_size=4).map(either),
        st.tuples(inner.filter(lambda item: item != EMPTY_TEXT), counts).map(
            lambda found: times(found[0], found[1][0], None if found[1][1] is None else found[1][0] + found[1][1])
        ),
    )


EXPRESSIONS = st.recursive(LEAVES, within, max_leaves=12)


class Writer:
    """Write expressions as GBNF, each time in another of the ways that mean the same.

    Args:
        ways: numbers that choose among the ways.
    """

    def __init__(self, ways: list[int]) -> None:
        self._ways = itertools.cycle(ways)

    def grammar(self, rules: dict[str, Expression]) -> str:
        lines = [f"{name}{self.space()}::={self.space(1)}{self.options(body)}" for name, body in rules.items()]
        return self.pick("\n", "\r\n", "\r", " # end\n\n").join(lines)

    def pick(self, *options: str) -> str:
        return options[next(self._ways) % len(options)]

    def space(self, least: int = 0) -> str:
        return self.pick(" ", "\t ", " " * least)

    def options(self, expression: Expression) -> str:
        found = expression.options if isinstance(expression, Either) else (expression,)
        written = [self.parts(option) for option in found]
        # What stands last must be written, or the rule would go on with the next one's name.
        return self.pick("|", " | ", " |\n").join([*written[:-1], written[-1] or '""'])

    def parts(self, expression: Expression) -> str:
        if expression == EMPTY_TEXT:
            return self.pick("", '""', "()")
        found = expression.parts if isinstance(expression, Row) else (expression,)
        return " ".join(self.part(part) for part in found)

    def part(self, expression: Expression) -> str:
        match expression:
            case Word(text):
                pieces = text if self.pick("", "split") else [text]
                return self.space(1).join(f'"{"".join(self.character(each) for each in piece)}"' for piece in pieces)
            case Times(Word(text), least, most):
                return f'"{"".join(self.character(each) for each in text)}"{self.mark(least, most)}'
            case Times(Characters() | Named() as item, least, most):
                return self.part(item) + self.space() + self.mark(least, most)
            case Times(item, least, most):
                return f"({self.options(item)}){self.mark(least, most)}"
            case Characters(members):
                return self.character_class(members)
            case Named(name):
                return name
            case _:
                return f"({self.space()}{self.options(expression)}{self.pick('', ' # inner')}\n)"

    def mark(self, least: int, most: int | None) -> str:
        short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
        if short and self.pick("", "short"):
            return short
        if least == most and self.pick("", "one"):
            return f"{{{least}}}"
        return f"{{{self.space()}{least},{self.space()}{'' if most is None else most}}}"

    def character_class(self, members: CharacterSet) -> str:
        is_negated = members.complement().ranges and (members.is_empty or self.pick("", "not"))
        listed = members.complement() if is_negated else members
        written = "".join(
            self.character(chr(low)) if low == high else f"{self.character(chr(low))}-{self.character(chr(high))}"
            for low, high in listed.ranges
        )
        return f"[{'^' if is_negated else ''}{written}]"

    def character(self, character: str) -> str:
        point = ord(character)
        short = {"\n": "n", "\r": "r", "\t": "t"}.get(character, character if character in '\\"[]-' else "")
        ways = [f"\\U{point:08X}", f"\\U{point:08x}"]
        ways += [f"\\u{point:04x}"] * (point <= 0xFFFF) + [f"\\x{point:02X}"] * (point <= 0xFF)
        ways += [f"\\{short}"] * bool(short) + [character] * (character not in '\0\\"[]-^')
        return self.pick(*ways)


@given(
    bodies=st.lists(EXPRESSIONS, min_size=len(NAMES), max_size=len(NAMES)),
    ways=st.lists(st.integers(0, 59), min_size=1, max_size=20),
)
def test_what_is_written_reads_back(bodies: list[Expression], ways: list[int]) -> None:
    rules: dict[str, Expression] = dict(zip(NAMES, bodies, strict=True))
    text = Writer(ways).grammar(rules)
    assert gbnf_rules(text, None, Limits()).rules == rules
