"""Grammars in Lark's notation: what is accepted agrees with lark's own Earley parser, on random grammars and texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import LarkError, UnexpectedInput

from commitgate import Grammar
from commitgate.automaton import compile
from commitgate.errors import UnsatisfiableError

LETTERS = "ab "
SHORT_TEXTS = ["".join(each) for size in range(4) for each in itertools.product(LETTERS, repeat=size)]
RULES = ("start", "one", "_two")
OPERATORS = ["", "", "", "?", "*", "+", "~2", "~1..3", "~0..2"]

TERMINAL_ATOMS = ['"a"', '"b"', '"ab"', '"A"i', '"ba"i', '"a".."b"', '"b".."c"', "/[ab]/", "/ab?/", "/a+/", "/[^a ]/"]
TERMINAL_ATOMS += ["/b{1,2}/", "/AB?/i", "/(a|b)b/"]
IGNORED = [
    "", '%ignore " "', "%ignore /[ ]+/", "%import common.WS_INLINE\n%ignore WS_INLINE", '%ignore " " | "_"',
    # What is ignored may also stand in terminals. These match one length alone at each place: of several, lark
    # tries the longest and no other.
    '%ignore "b"', '%ignore "ab"', "%import common.LETTER\n%ignore LETTER", '%ignore " "\n%ignore /[ab]/',
]  # fmt: skip


# lark writes out every way through a rule's groups and repeats, so a rule has few of them.
GROUPS = ["({} | {})", "[{} {}]", "({} {})", "[{} | {}]", "({} | )", "({})"]


def _items(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("{}{}".format, atoms, st.sampled_from(OPERATORS))


def _bodies(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = _items(atoms)
    group = st.builds("{}{}".format, st.builds(str.format, st.sampled_from(GROUPS), item, item), st.sampled_from("?*+"))
    return st.lists(
        st.builds("{} {}".format, st.lists(atoms, max_size=2).map(" ".join), st.just("") | item | group),
        min_size=1,
        max_size=3,
    ).map(" | ".join)


TERMINALS = st.sampled_from(TERMINAL_ATOMS)
RULE_ATOMS = TERMINALS | st.sampled_from([*RULES, "A", "B", "pair{A}", "pair{one}", 'pair{"b"}'])
GRAMMARS = st.builds(
    "{}: {}\n{}: {}\n{}: {}\npair{{x}}: x (x | _two)\nA: {}\nB: A? {}\n{}\n".format,
    *(part for name in RULES for part in (st.just(name), _bodies(RULE_ATOMS))),
    TERMINALS,
    _bodies(TERMINALS),
    st.sampled_from(IGNORED),
)

REFUSED_BY_LARK = (
    # A terminal that may be empty denotes a set of texts as any other; lark's scanner cannot hold one.
    "zero-width",
    "Terminals cannot be empty",
    # Two ways to write one alternative are one for a set of texts; lark's trees would have to choose.
    "Rules defined twice",
    # A name that only lark gives to a literal means another text already.
    "Conflicting flags",
)


def lark_parser(grammar: str) -> Lark:
    try:
        return Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    except LarkError as error:
        if any(reason in str(error) for reason in REFUSED_BY_LARK):
            reject()
        raise


def is_parsed(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except UnexpectedInput:
        return False
    except RuntimeError as error:
        # It found more roots than it has trees for: the text was parsed all the same.
        if "multiple start symbol items" not in str(error):
            raise
    return True


def has_longest_matches(parser: Lark, text: str) -> bool:
    """Return whether lark sees all that its terminals can be in the text.

    It asks Python's ``re`` for one match at a place and looks for shorter ones within it, so that of ``/a|ab/`` it
    never sees the longer.
    """
    patterns = [re.compile(terminal.pattern.to_regexp()) for terminal in parser.terminals]
    return all(
        found is not None and found.end() == end
        for pattern in patterns
        for start, end in itertools.combinations(range(len(text) + 1), 2)
        if pattern.fullmatch(text, start, end)
        for found in [pattern.match(text, start, end)]
    ) and all(
        longest is None
        or not any(pattern.fullmatch(text, start, end) for end in range(longest.end() + 1, len(text) + 1))
        for pattern in patterns
        for start in range(len(text))
        for longest in [pattern.match(text, start)]
    )


def accepter(grammar: str) -> Callable[[str], bool]:
    try:
        automaton = compile(Grammar(grammar, "lark"))
    except UnsatisfiableError:
        return lambda text: False
    return lambda text: automaton.accepts(text.encode())


@settings(max_examples=80, deadline=None)
@given(grammar=GRAMMARS, longer=st.lists(st.text(LETTERS, min_size=4, max_size=9), max_size=8))
def test_accepts_what_lark_parses(grammar: str, longer: list[str]) -> None:
    parser = lark_parser(grammar)
    is_accepted = accepter(grammar)
    for text in [*SHORT_TEXTS, *longer]:
        if has_longest_matches(parser, text):
            assert is_accepted(text) == is_parsed(parser, text), (grammar, text)


@pytest.mark.parametrize(
    "name",
    [
        "DIGIT", "HEXDIGIT", "INT", "SIGNED_INT", "DECIMAL", "FLOAT", "SIGNED_FLOAT", "NUMBER", "SIGNED_NUMBER",
        "ESCAPED_STRING", "LCASE_LETTER", "UCASE_LETTER", "LETTER", "WORD", "CNAME", "WS_INLINE", "WS", "CR", "LF",
        "NEWLINE", "SH_COMMENT", "CPP_COMMENT", "C_COMMENT", "SQL_COMMENT",
    ],
)  # fmt: skip
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_imported_terminals_are_those_of_lark(name: str, data: st.DataObject) -> None:
    grammar = f"%import common.{name}\nstart: {name}"
    parser = Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    (terminal,) = parser.terminals
    pattern = re.compile(terminal.pattern.to_regexp())
    automaton = compile(Grammar(grammar, "lark"))
    like = st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="utf-8"))
    text = data.draw(like | st.text('"\\*/-#1e.+aZ_ \t\r\n', max_size=8))
    # Two of the patterns are lazy and are matched as far as the first end only.
    first = pattern.match(text)
    assert automaton.accepts(text.encode()) == (first is not None and first.end() == len(text))
