"""Grammars in Lark's notation: what is read, compared with the inner form, and what is refused, with its place."""

from __future__ import annotations

import tracemalloc

import pytest

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    Characters,
    Either,
    Expression,
    Named,
    Row,
    Times,
    Word,
    Words,
)
from commitgate.automaton.grammar.lark import lark_rules
from commitgate.errors import ContractError, LimitExceededError, NotationError, UnsupportedError
from commitgate.limits import Limits

A, B, C = Word("a"), Word("b"), Word("c")
IGNORED = Times(Named("%ignore"), 0, None)


def rules(text: str) -> dict[str, Expression]:
    return dict(lark_rules(text, None, Limits()).rules)


def body(text: str) -> Expression:
    """Return what the start rule denotes, with this body."""
    return rules(f"start: {text}")["start"]


def ranges(*found: str) -> Characters:
    return Characters(CharacterSet.of((ord(each[0]), ord(each[-1])) for each in found))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        (r'"\n\r\t\f"', "\n\r\t\f"),
        (r'"\"\\"', '"\\'),
        (r'"\x41\u00e9\U0001f600"', "Aé😀"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\d\.\'\b"', r"\d\.\'\b"),
        (r'"\\n"', r"\n"),
        ('"// no comment # either | ( /"', "// no comment # either | ( /"),
        ('"日本"', "日本"),
        ('"a" "b"   "c"', "abc"),
        ('"a" ("b" ("c"))', "abc"),
        ('("a" "b") "" "c"', "abc"),
        ('"a" // a comment', "a"),
        ('"a" # a comment', "a"),
        ('"a" \\\n "b"', "ab"),
    ],
)
def test_text_in_quotes(written: str, text: str) -> None:
    assert body(written) == (Word(text) if text else EMPTY_TEXT)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"a" | "b"', Words(("a", "b"))),
        ('"a"\n  | "b"\n\n  // between\n  | "c"', Words(("a", "b", "c"))),
        ('"a" |', Either((A, EMPTY_TEXT))),
        ('\n  | "a"', Either((EMPTY_TEXT, A))),
        ("", EMPTY_TEXT),
        ('"a"?', Times(A, 0, 1)),
        ('["a"]', Times(A, 0, 1)),
        ('["a" | "b"]', Times(Words(("a", "b")), 0, 1)),
        ('"a"*', Times(A, 0, None)),
        ('"a"+', Times(A, 1, None)),
        ('"a"~3', Times(A, 3, 3)),
        ('"a" ~ 2..100000', Times(A, 2, 100_000)),
        ('"a"~0', EMPTY_TEXT),
        ('"a"~1', A),
        ('"a"{3}', Times(A, 3, 3)),
        ('"a"{2,}', Times(A, 2, None)),
        ('"a"{,4}', Times(A, 0, 4)),
        ('"a"{2,4}', Times(A, 2, 4)),
        ("start{2}", Times(Named("start"), 2, 2)),
        ('("a" start)+', Times(Row((A, Named("start"))), 1, None)),
        ('(\n "a"\n | start\n)', Either((A, Named("start")))),
        ('"a".."z"', ranges("az")),
        (r'"\x00".."\uffff"', ranges("\x00\uffff")),
        ('"a" -> first | "b" -> second', Words(("a", "b"))),
        ('"aé1ß"i', Row((ranges("a", "A"), ranges("é", "É"), Word("1"), ranges("ß", "ẞ")))),
        ('"k"i', ranges("k", "K", "\u212a")),
        ('"12"i', Word("12")),
    ],
)
def test_bodies(written: str, expected: Expression) -> None:
    found = body(written)
    named = {name: each for name, each in rules(f"start: {written}").items() if name != "start"}
    assert (named[found.name] if isinstance(found, Named) and found.name in named else found) == expected


def test_regular_expressions_are_shared_by_their_spelling() -> None:
    assert rules(r"start: /a\/b/ /a\/b/ /X/i | /a.c/sx") == {
        r"/a\/b/": Word("a/b"),
        "/X/i": ranges("x", "X"),
        "/a.c/sx": Row((A, ranges("\0\U0010ffff"), C)),
        "start": Either((Row((Named(r"/a\/b/"), Named(r"/a\/b/"), Named("/X/i"))), Named("/a.c/sx"))),
    }


def test_the_dot_takes_all_but_line_feeds() -> None:
    assert rules("start: /./")["/./"] == ranges("\0\t", "\x0b\U0010ffff")
    assert rules("start: /./s")["/./s"] == ranges("\0\U0010ffff")


def test_all_regular_expressions_share_the_steps_of_one() -> None:
    exploding = [f"/(?=(a|b)*a(a|b){{8}}$)(a|b)*b(a|b){{{count}}}/" for count in range(1, 9)]
    lark_rules(f"start: {exploding[0]}", None, Limits())
    with pytest.raises(LimitExceededError) as caught:
        lark_rules(
            f"start: {' | '.join(exploding * 3)} | {' | '.join(each + 'i' for each in exploding)}", None, Limits()
        )
    assert caught.value.limit_name == "pattern_states"


def test_terminals_are_rules_of_their_own() -> None:
    found = lark_rules('start: AB start | AB\nAB.3: "a" B?\nB: "b"', None, Limits())
    assert found.start == "start"
    assert found.positions == {"start": 0, "AB": 21, "B": 34}
    assert dict(found.rules) == {
        "start": Either((Row((Named("AB"), Named("start"))), Named("AB"))),
        "AB": Row((A, Times(Named("B"), 0, 1))),
        "B": B,
    }


def test_names_know_where_they_stand() -> None:
    found = rules('start: "a" one\none: "b"')["start"]
    assert isinstance(found, Row)
    assert isinstance(found.parts[1], Named)
    assert found.parts[1].position == 11


def test_modifiers_priorities_and_order_change_nothing() -> None:
    plain = rules('start: one _two\none: "a"\n_two: "b"')
    assert rules('_two.-1: "b"\n?one.2: "a"\n!start: one _two\n') == plain
    assert rules('_two: "b"\n!?one.+2: "a"\nstart: one _two') == plain


def test_names_may_hold_hyphens() -> None:
    found = rules('start: one-half->first | ONE-HALF\none-half: "a"\nONE-HALF: "b"')
    assert found["start"] == Either((Named("one-half"), Named("ONE-HALF")))


def test_another_rule_may_be_the_start() -> None:
    assert lark_rules('start: "a"\nother: "b"', "other", Limits()).start == "other"


def test_ignored_text_stands_before_each_terminal_and_at_the_end() -> None:
    found = lark_rules('start: "a" one A\none: ("b" | "c")+ | one\nA: "a" "b"\n%ignore " "\n%ignore A', None, Limits())
    assert found.start == "%text"
    assert dict(found.rules) == {
        "%ignore": Either((Word(" "), Named("A"))),
        "start": Row((IGNORED, A, Named("one"), IGNORED, Named("A"))),
        "one": Either((Times(Row((IGNORED, Words(("b", "c")))), 1, None), Named("one"))),
        "A": Word("ab"),
        "%text": Row((Named("start"), IGNORED)),
    }


def test_templates_are_made_once_for_equal_arguments() -> None:
    found = rules('start: list{"a"} list{"a"} list{one}\nlist{item}: item | list{item} "," item\none: "b"')
    assert found == {
        "start": Row((Named("list{1}"), Named("list{1}"), Named("list{2}"))),
        "one": B,
        "list{1}": Either((A, Row((Named("list{1}"), Word(",a"))))),
        "list{2}": Either((Named("one"), Row((Named("list{2}"), Word(","), Named("one"))))),
    }


def test_templates_take_templates() -> None:
    found = rules('start: twice{quoted, "a"}\ntwice{how, what}: how{what} how{quoted{what}}\nquoted{x}: "<" x ">"')
    assert found["twice{1}"] == Row((Named("quoted{2}"), Named("quoted{3}")))
    assert found["quoted{2}"] == Word("<a>")
    assert found["quoted{3}"] == Row((Word("<"), Named("quoted{2}"), Word(">")))


def test_imports() -> None:
    found = rules("start: INT SPACE CR\n%import common.INT\n%import common.WS_INLINE -> SPACE\n%import common (CR, LF)")
    assert found["INT"] == Times(ranges("09"), 1, None)
    assert found["SPACE"] == Times(ranges(" ", "\t"), 1, None)
    assert found["CR"] == Word("\r")
    assert found["LF"] == Word("\n")


def test_an_import_may_stand_twice() -> None:
    assert rules("%import common.LF\n%import common (LF, CR)\nstart: LF")["LF"] == Word("\n")


def test_override_and_extend() -> None:
    assert rules('%import common.LF\nstart: LF\n%override LF: "a"')["LF"] == A
    assert rules('%import common.LF\nstart: LF\n%extend LF: "a"\n%extend LF: "b"')["LF"] == Words(("\n", "a", "b"))
    assert rules('start: "a"\n%extend start: start "b"')["start"] == Either((A, Row((Named("start"), B))))
    assert rules('start: "a"\n%extend start: "b"\n%override start: "c"')["start"] == C


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("start: one", 7, "the rule 'one' is not defined, at line 1, column 8"),
        ("start: \n | ONE", 11, "the terminal 'ONE' is not defined, at line 2, column 4"),
        ('start: "a"\nstart: "b"', 11, "'start' is defined twice"),
        ('A: "a"\n%import common.INT -> A\nstart: A', 0, "'A' is defined twice"),
        ("A: B\nB: C A\nC: A\nstart: A", 15, "the terminal 'A' uses itself"),
        ("A: A | \nstart: A", 3, "the terminal 'A' uses itself"),
        ('A: one\none: "a"\nstart: A', 3, "cannot use the rule 'one'"),
        ('%ignore one\none: "a"\nstart: one', 8, "cannot use the rule 'one'"),
        ('start: A\nA: one{"a"}\none{x}: x', 12, "a terminal cannot use a template"),
        ('start: A\nA: "a" -> one', 16, "an alternative of a terminal has no name"),
        ('start: "a" -> ONE', 14, "expected the name of the alternative"),
        ('start: "a" -> one "b"', 18, "expected '|' or the end of the line, found a string"),
        ('start: "a', 7, "a string that its line does not close"),
        ('start: "a\nb"', 7, "a string that its line does not close"),
        ("start: /a", 7, "a regular expression that its line does not close"),
        (r'start: "\x4"', 8, r"the escape \x needs 2 hex digits"),
        (r'start: "a\u12"', 9, r"the escape \u needs 4 hex digits"),
        (r'start: "\U00110000"', 8, "the escape names no character"),
        (r'start: "a\ud800"', 7, "half a character"),
        ('start: "b".."a"', 7, "a range goes from"),
        ('start: "ab".."c"', 7, "two strings of one character"),
        ('start: "a".."c"i', 12, "two strings of one character"),
        ('start: "a"..start', 12, "expected a string, found 'start'"),
        ('start: ("a"', 7, "'(' is never closed"),
        ('start: ("a" ["b")', 12, "'[' is never closed"),
        ('start: ("a"\none: "b"', 7, "'(' is never closed"),
        ('start: ("a"\n%ignore "b"', 7, "'(' is never closed"),
        ('start: "a")', 10, "')' closes nothing"),
        ('start: "a"??', 11, "one operator may follow an item"),
        ('start: "a"~2*', 12, "one operator may follow an item"),
        ("start: *", 7, "expected a name, a string"),
        ('start: "a"~', 11, "expected a count, found the end of the grammar"),
        ('start: "a"~3..2', 11, "the upper count 2 is below the lower count 3"),
        ('start: "a"{3,2}', 11, "the upper count 2 is below the lower count 3"),
        ('start: "a"~-1', 11, "a count has no sign"),
        ('start: "a"~1234567890', 11, "at most 9 digits"),
        ("Start: start", 0, "a name is all lowercase (a rule) or all uppercase"),
        ("start: __one", 7, "a name is all lowercase"),
        ("start: é", 7, "'é' begins nothing"),
        ('start:\n  "a"', 9, "expected a definition or a directive, found a string"),
        ('start "a"', 6, "expected ':', found a string"),
        ('?A: "a"', 1, "expected the name of a rule"),
        ('start: "a"\n%foo', 11, "there is no directive '%foo'"),
        ("%import common.INTEGER\nstart: INTEGER", 15, "'common' has no terminal 'INTEGER'"),
        ("%import common\nstart: INT", 14, "expected '.' and the name of a terminal"),
        ("%import common.INT -> int\nstart: int", 22, "expected a terminal's name"),
        ("%import common (INT, CR) -> A\nstart: A", 0, "a list of names takes no '->'"),
        ("%import common.CR -> A\n%import common.LF -> A\nstart: A", 44, "another terminal is already imported as 'A'"),
        ('%override one: "a"\nstart: one', 10, "%override changes 'one', which is not defined before"),
        ('start: "a"\n%extend start{x}: x', 19, "%extend gives 'start' other parameters"),
        ("start: one\none{x}: x", 7, "the template 'one' needs its 1 arguments"),
        ('start: one{"a", "b"}\none{x}: x', 7, "takes 1 arguments, found 2"),
        ('start: one{"a"}\none: "b"', 7, "'one' is no template"),
        ('start: two{"a"}', 7, "the template 'two' is not defined"),
        ('start: one{"a"}\none{x, x}: x', 23, "the parameter 'x' stands twice"),
        ('start: one{"a"}\none{start}: "b"', 16, "has the name of a rule"),
        ("start: one{two}\none{x}: x\ntwo{y}: y", 24, "the template 'two' needs its 1 arguments"),
        ('start: one{two}\none{x}: x{"a"}\ntwo: "b"', 24, "'two' is no template"),
        ('start: one{"b"}\none{x}: x{"a"}', 24, "what 'x' stands for is no template"),
        ('start: one{"a"', 10, "'{' is never closed"),
        ('start: one{"a" | "b"}\none{x}: x', 15, "expected ',', found '|'"),
    ],
)
def test_faults_are_named_with_their_place(text: str, position: int, said: str) -> None:
    with pytest.raises(NotationError) as caught:
        lark_rules(text, None, Limits())
    assert said in str(caught.value)
    assert caught.value.position == position
    assert caught.value.keyword == "grammar"


@pytest.mark.parametrize(
    ("text", "start", "said"),
    [
        ("", None, "no rule 'start' to start with"),
        ('one: "a"', None, "no rule 'start' to start with"),
        ('start: "a"', "one", "no rule 'one' to start with"),
        ('A: "a"', "A", "cannot start with the terminal 'A'"),
        ("one{x}: x", "one", "cannot start with the template 'one'"),
    ],
)
def test_a_start_that_is_no_rule_is_refused(text: str, start: str | None, said: str) -> None:
    with pytest.raises(NotationError, match=said):
        lark_rules(text, start, Limits())


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("%import python.NAME\nstart: NAME", 8, "write the definition into this grammar"),
        ("%import .terminals.NAME\nstart: NAME", 8, "write the definition into this grammar"),
        ("%import .terminals (NAME)\nstart: NAME", 8, "write the definition into this grammar"),
        ("%declare _INDENT\nstart: _INDENT", 0, "write the definition into this grammar"),
        ("%llguidance {}\nstart: NAME", 0, "leave the line out"),
        ('start: %json {"type": "string"}', 7, "make the JSON a contract of its own"),
        ('start: %regex {"substring_words": "a"}', 7, "write the texts as alternatives"),
        ('start: %lark { start: "a" }', 7, "write the rules into this grammar"),
        ("start: <|eot|>", 7, "write the text itself in quotes"),
        ("start: <[128010]>", 7, "write the text itself in quotes"),
        ('start[capture]: "a"', 5, "leave the brackets out"),
        ('A[lazy]: "a"', 1, "leave the brackets out"),
        ("start: A\nA: /a/ & /b/", 16, "write one regular expression"),
        ("start: A\nA: ~/a/", 12, "write a regular expression with a negated class"),
        ("start: @other", 7, "write its rules into this grammar"),
        ('start: "a" | /(a)\\1/', 17, "references back to a group"),
    ],
)
def test_what_is_not_supported_says_what_to_write(text: str, position: int, said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        lark_rules(text, None, Limits())
    assert said in str(caught.value)
    assert caught.value.position == position
    assert caught.value.keyword == "grammar"
    assert "line " in str(caught.value)


def test_faults_of_a_regular_expression_are_placed_in_the_grammar() -> None:
    with pytest.raises(NotationError, match="at line 2, column 8") as caught:
        lark_rules('start: "a"\n  | /ab[c/', None, Limits())
    assert caught.value.position == 18
    with pytest.raises(NotationError, match="the flags i, m, s, u and x, found 'l'") as caught:
        lark_rules("start: /a/il", None, Limits())
    assert caught.value.position == 11


LIMITED = [
    ("grammar_rules", 'start: A\nA: "a"\n%ignore A', 3),
    ("grammar_rules", 'start: one{"a"}\none{x}: two{x}\ntwo{x}: x', 5),
    ("grammar_symbols", 'start: ("a" | A)+\nA: "a"~9', 4),
    ("grammar_symbols", 'start: one{"a"} "b" "c"\none{x}: x "d" "e"', 12),
    ("grammar_symbols", 'start: A | | A |\nA: "a"', 5),
    ("grammar_symbols", "%import common (WS, INT)\nstart: WS", 4),
    ("grammar_symbols", 'start: "ab1c"i', 4),
    ("grammar_symbols", r"start: /[ab]c\d+/", 5),
    ("schema_nesting", 'start: ["a" ("b" ("c"))]', 3),
    ("schema_nesting", 'start: one{one{one{"a"}}}\none{x}: x', 3),
    ("pattern_characters", r"start: /[a-z]\/+/", 8),
]


@pytest.mark.parametrize(("name", "text", "size"), LIMITED)
def test_a_limit_holds_at_its_value_and_not_below(name: str, text: str, size: int) -> None:
    lark_rules(text, None, Limits(**{name: size}))
    lark_rules(text, None, Limits(**{name: size + 1}))
    with pytest.raises(LimitExceededError) as caught:
        lark_rules(text, None, Limits(**{name: size - 1}))
    assert caught.value.limit_name == name
    assert caught.value.position is not None


@pytest.mark.parametrize(
    "text",
    [
        "start: " + "(" * 50_000,
        "start: " + "(" * 129 + '"a"' + ")" * 129,
        "start: " + '"a" ' * 100_001,
        "\n".join(f'rule{index}: "a"' for index in range(10_001)),
        'start: one{"a"}\none{x}: one{one{x}}',
        'start: one{"a"}\none{x}: one{one{x}} | one{two{x}}\ntwo{x}: one{x} one{two{x}}',
        "start: " + "|" * 25_001,
        "start: " + "| -> a" * 25_001,
        'start: "a"\nt{' + ",".join(map("p".__mul__, range(1, 1_400))) + '}: "a"' + ' "a"' * 24_000,
        f"%import common ({','.join(['WS'] * 25_001)})\nstart: WS",
        f'start: "{"a" * 25_001}"i',
        "start: " + " ".join(f"/{'[ab][cd]' * 1_200}{index}/" for index in range(12)),
        "start: " + " ".join(f"/{'(?:a){0}' * 1_200}{index}/" for index in range(21)),
        "start: " + "|".join(rf"/[\p{{L}}\x{{{index:x}}}]/" for index in range(0x2190, 0x2190 + 400)),
    ],
    ids=[
        "open brackets",
        "nesting",
        "symbols",
        "rules",
        "templates",
        "two templates",
        "empty alternatives",
        "names of alternatives",
        "parameters",
        "imports",
        "either case",
        "patterns",
        "patterns of nothing",
        "classes",
    ],
)
def test_what_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(LimitExceededError):
        lark_rules(text, None, Limits())


@pytest.mark.parametrize("cut", range(0, 200, 3))
def test_any_part_of_a_grammar_is_read_or_refused(cut: int) -> None:
    text = (
        '%import common (INT, WS)\n%ignore WS // c\n?start.2: sum{"+", INT}* | [A ~ 2..3] -> x\n'
        'sum{op, x}: x (op x){1,2}\nA: /[^\\/]+/i "\\"q\\u00e9"i | "a".."z"\n%extend A: ("b" | )?\n'
    )
    for part in (text[:cut], text[cut:], text[:cut] + text[cut + 3 :]):
        position = fault_position(part)
        assert position is None or 0 <= position <= len(part)


def fault_position(text: str) -> int | None:
    try:
        lark_rules(text, None, Limits())
    except ContractError as error:
        return error.position
    return None


def test_each_literal_counts_once_however_often_it_stands() -> None:
    text = "start: " + " ".join([r"/[ab]c\d+/", '"abc"i'] * 20)
    lark_rules(text, None, Limits(grammar_symbols=48))


def test_only_line_feeds_end_lines() -> None:
    with pytest.raises(NotationError, match="end lines with") as caught:
        lark_rules('start: "a"\r  | "b"', None, Limits())
    assert caught.value.position == 10
    with pytest.raises(NotationError, match="at line 2, column 3") as caught:
        lark_rules('start: "a" # one\rtwo\r\n  *', None, Limits())
    assert caught.value.position == 24
    assert rules('start: "a"\r\n  | "b"\r\n\r\none: "c"\r\n').keys() == {"start", "one"}


@pytest.mark.parametrize(
    "text",
    [
        "start: {name}",
        '{name}: "a"\n{name}: "a"',
        '%override {name}: "a"',
        'start: "a"\nt{{{name},{name}}}: "a"',
        'start: {name}{{"a"}}\n{name}: "a"',
        "%{name}",
        'start: "a"\n%import common.WS -> {upper}\n%import common.INT -> {upper}',
        '%import common.{upper}\nstart: "a"',
        'start: {upper}\n{upper}: {upper} "a"',
    ],
)
def test_long_names_are_cut_in_messages(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        lark_rules(text.format(name="a" * 50_000, upper="A" * 50_000), "a" * 50_000, Limits())
    assert len(str(caught.value)) < 700


def test_a_rule_has_each_modifier_once() -> None:
    assert rules('?!start: "a"').keys() == rules('!?start: "a"').keys() == {"start"}
    assert fault_position('!?!start: "a"') == 2


def test_blank_text_takes_no_memory() -> None:
    text = "#\n" * 100_000 + 'start: "' + 'é\\"' * 50_000 + '" ' + "\\\n" * 100_000
    tracemalloc.start()
    try:
        lark_rules(text, None, Limits())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(text)
