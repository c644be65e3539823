"""Patterns, grammars, lists of choices and machines that are small to write and meant to be dear to read."""

from __future__ import annotations

from hostile.bomb import Bomb, too_large

from commitgate.languages import Choices, Edge, Grammar, Machine, Regex


def gbnf(*rules: str) -> Grammar:
    return Grammar("\n".join(rules) + "\n")


def lark(*rules: str) -> Grammar:
    return Grammar("\n".join(rules) + "\n", syntax="lark")


def machine(edges: list[Edge], accepting: str = "end") -> Machine:
    return Machine(start="s0", accepting=[accepting], edges=edges)


def full_machine(states: int, on: list[str]) -> Machine:
    """Return a machine in which every state leads to every state."""
    names = [f"s{n}" for n in range(states)]
    edges = [Edge(one, on[(m * n) % len(on)], two) for m, one in enumerate(names) for n, two in enumerate(names)]
    return machine(edges, accepting=names[-1])


def nested_machine(levels: int) -> Machine:
    """Return machines within one another, each twice in the one around it."""
    found: Machine | str = "a"
    for _ in range(levels):
        found = machine([Edge("s0", found, "s1"), Edge("s1", found, "end"), Edge("s0", found, "end")])
    assert isinstance(found, Machine)
    return found


def repeated(levels: int, count: int, item: str) -> str:
    for _ in range(levels):
        item = f"({item}){{0,{count}}}"
    return item


LONG_A = b"a" * 2_000
LONG_AB = b"ab" * 1_000

REGEXES = (
    Bomb(name="regex (a{1000}){1000}", make=lambda: Regex("(a{1000}){1000}"), texts=(LONG_A,)),
    Bomb(name="regex a{100000}", make=lambda: Regex("a{100000}"), texts=(LONG_A,)),
    Bomb(name="regex (a|a)*b", make=lambda: Regex("(a|a)*b"), texts=(LONG_A,)),
    Bomb(name="regex ((a*)*)*b", make=lambda: Regex("((((a*)*)*)*)*b"), texts=(LONG_A,)),
    Bomb(name="regex (a|aa|aaa)*b", make=lambda: Regex("(a|aa|aaa|aaaa)*b"), texts=(LONG_A,)),
    Bomb(name="regex (a?){1000}a{1000}", make=lambda: Regex("(a?){1000}a{1000}"), texts=(LONG_A,)),
    Bomb(name="regex (.*a){50}.{500}", make=lambda: Regex("(.*a){50}.{500}"), texts=(LONG_AB,)),
    Bomb(
        name="regex ((a{0,100}){0,100}){0,100}",
        make=lambda: Regex(repeated(3, 100, "a")),
        texts=(LONG_A,),
    ),
    Bomb(
        name="regex ((ab|a{0,100}){0,100}){0,100}",
        make=lambda: Regex(repeated(2, 100, "ab|a{0,100}")),
        texts=(LONG_A,),
    ),
    Bomb(name="regex (a|b)*a(a|b){1000}", make=lambda: Regex("(a|b)*a(a|b){1000}"), texts=(LONG_AB,)),
    Bomb(name="regex (a{1,50}b?){1,500}c", make=lambda: Regex("((a{1,50}b?){1,500}c){1,50}"), texts=(LONG_A,)),
    Bomb(
        name="regex of 30,000 brackets",
        make=lambda: Regex("(" * 30_000 + "a" + ")" * 30_000),
        ends=too_large("pattern_characters"),
    ),
    Bomb(
        name="regex of 4,900 brackets",
        make=lambda: Regex("(" * 4_900 + "a" + ")" * 4_900),
        ends="UnsupportedError",
    ),
    Bomb(
        name="regex of 800 \\p{L}",
        make=lambda: Regex("(" + "|".join(["\\p{L}+\\p{N}"] * 800) + ")*"),
        texts=("aé".encode() * 500,),
    ),
    Bomb(
        name="regex of 100 look-aheads",
        make=lambda: Regex("".join(f"(?=.*{chr(97 + n % 26)}{n})" for n in range(100)) + ".*"),
        ends=too_large("pattern_states"),
    ),
    Bomb(
        name="regex of 20 look-aheads",
        make=lambda: Regex("".join(f"(?=.*{chr(97 + n)})" for n in range(20)) + ".*"),
        ends=too_large("pattern_states"),
    ),
    Bomb(
        name="regex of look-aheads in a star",
        make=lambda: Regex("((?=a{1,50}b)(?!ab)[ab])*"),
        texts=(LONG_AB,),
    ),
    Bomb(
        name="regex of 4,900 alternatives",
        make=lambda: Regex("(" + "|".join("ab"[n % 2] for n in range(4_900)) + ")*"),
        texts=(LONG_AB,),
    ),
    Bomb(
        name="regex of 9,000 letters in either case",
        make=lambda: Regex("k" * 9_000, flags="i"),
        texts=(b"k" * 2_000,),
    ),
    Bomb(
        name="regex of 2,000 optional letters",
        make=lambda: Regex("a?" * 2_000 + "a" * 2_000),
        texts=(LONG_A,),
    ),
    Bomb(name="regex without an end", make=lambda: Regex("a[^\\s\\S]"), ends="UnsatisfiableError"),
)

GRAMMARS = (
    Bomb(name="grammar S ::= S S | a", make=lambda: gbnf('root ::= root root | "a"'), texts=(LONG_A,)),
    Bomb(
        name="grammar S ::= S S S | S S | a | empty",
        make=lambda: gbnf('root ::= root root root | root root | "a" | ""'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="grammar of sums without brackets",
        make=lambda: gbnf('root ::= root [-+*/] root | "-" root | [0-9]+ | "(" root ")"'),
        texts=(b"1+" * 1_000, b"(" * 2_000, b"-" * 2_000),
    ),
    Bomb(
        name="grammar of palindromes",
        make=lambda: gbnf('root ::= "a" root "a" | "b" root "b" | "a" | "b" | ""'),
        texts=(LONG_AB, LONG_A),
    ),
    Bomb(
        name="grammar S ::= a S b S | b S a S | empty",
        make=lambda: gbnf('root ::= "a" root "b" root | "b" root "a" root | ""'),
        texts=(LONG_AB, LONG_A),
    ),
    Bomb(
        name="grammar of copies that overlap",
        make=lambda: gbnf("root ::= x y | y x", 'x ::= "a" x "b" | "ab" | x x', 'y ::= y "b" | "a" y | [ab]'),
        texts=(LONG_A, LONG_AB),
    ),
    Bomb(
        name="grammar of nullable rules in a ring",
        make=lambda: gbnf("root ::= a | root", 'a ::= b | ""', 'b ::= root a b | "x"'),
        texts=(b"x" * 2_000,),
    ),
    Bomb(
        name="grammar with left recursion hidden behind nullable rules",
        make=lambda: gbnf('root ::= n n n root "a" | "a"', 'n ::= "a"? | n n'),
        texts=(LONG_A,),
    ),
    Bomb(name="grammar that never ends", make=lambda: gbnf('root ::= "a" root'), ends="UnsatisfiableError"),
    Bomb(
        name="grammar of 10,001 rules",
        make=lambda: gbnf("root ::= r0", *(f'r{n} ::= "a"' for n in range(10_000))),
        ends=too_large("grammar_rules"),
    ),
    Bomb(
        name="grammar of 9,999 rules in a chain",
        make=lambda: gbnf("root ::= r0", *(f"r{n} ::= r{n + 1}" for n in range(9_998)), 'r9998 ::= "a"'),
        texts=(b"a",),
    ),
    Bomb(
        name="grammar of 9,999 rules left recursive in a ring",
        make=lambda: gbnf("root ::= r0", *(f'r{n} ::= r{(n + 1) % 9_999} "a" | "b"' for n in range(9_999))),
        ends=too_large("grammar_symbols"),
    ),
    Bomb(
        name="grammar of 5,000 rules left recursive in a ring",
        make=lambda: gbnf("root ::= r0", *(f'r{n} ::= r{(n + 1) % 5_000} "a" | "b"' for n in range(5_000))),
        texts=(b"b" + LONG_A,),
    ),
    Bomb(
        name="grammar doubled 2^30",
        make=lambda: gbnf("root ::= r0", *(f"r{n} ::= r{n + 1} r{n + 1}" for n in range(30)), 'r30 ::= "a"'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="grammar of ways doubled 2^30",
        make=lambda: gbnf("root ::= r0", *(f'r{n} ::= r{n + 1} | r{n + 1} "a"?' for n in range(30)), 'r30 ::= "a"'),
        texts=(b"a" * 30,),
    ),
    Bomb(
        name="grammar of 50,000 alternatives",
        make=lambda: gbnf("root ::= " + " | ".join(f'"{n}"' for n in range(50_000))),
        ends=too_large("grammar_symbols"),
    ),
    Bomb(
        name="grammar of 20,000 alternatives",
        make=lambda: gbnf("root ::= " + " | ".join(f'"{n}"' for n in range(20_000))),
        texts=(b"19999",),
    ),
    Bomb(
        name="grammar of 20,000 alternatives that begin alike",
        make=lambda: gbnf("root ::= (" + " | ".join(f'x "{n}"' for n in range(20_000)) + ")*", 'x ::= "a"*'),
        ends=too_large("grammar_symbols"),
    ),
    Bomb(
        name="grammar of 12,000 alternatives that begin alike",
        make=lambda: gbnf("root ::= (" + " | ".join(f'x "{n}"' for n in range(12_000)) + ")*", 'x ::= "a"*'),
        ends=too_large("alternatives"),
    ),
    Bomb(
        name="grammar of 25,001 symbols",
        make=lambda: gbnf("root ::= " + "[a] " * 25_001),
        ends=too_large("grammar_symbols"),
    ),
    Bomb(
        name="grammar of 1 MB in one word",
        make=lambda: gbnf(f'root ::= "{"a" * 1_000_000}"'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="grammar of 2 MB",
        make=lambda: gbnf(f'root ::= "{"a" * 2_000_000}"'),
        ends=too_large("schema_bytes"),
    ),
    Bomb(
        name="grammar of 30,000 brackets",
        make=lambda: gbnf("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000),
        ends=too_large("schema_nesting"),
    ),
    Bomb(
        name="grammar of repeats (((a?){0,100}){0,100}){0,100}",
        make=lambda: gbnf("root ::= " + repeated(3, 100, '"a"?') + ' "b"'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="grammar of a repeat 10^9",
        make=lambda: gbnf('root ::= (x | "a"){1000000000} ', 'x ::= "a" | x x'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="lark S: S S | a",
        make=lambda: lark('start: start start | "a"'),
        texts=(LONG_A,),
    ),
    Bomb(
        name="lark that ignores what it reads",
        make=lambda: lark("start: (A | B | start)*", 'A: "a"+', "B: /(a|b)+/", "%ignore /a*/", '%ignore "b"'),
        texts=(LONG_AB, LONG_A),
    ),
    Bomb(
        name="lark of regex terminals that explode",
        make=lambda: lark("start: A+ B*", "A: /(a|b)*a(a|b){300}/", "B: /((a{0,50}){0,50}b?)*/"),
        texts=(LONG_AB,),
    ),
    Bomb(
        name="lark of 9,000 terminals",
        make=lambda: lark(
            "start: (" + " | ".join(f"T{n}" for n in range(9_000)) + ")*", *(f'T{n}: "a"+ "{n}"' for n in range(9_000))
        ),
        ends=too_large("grammar_symbols"),
    ),
    Bomb(
        name="lark of 3,000 terminals",
        make=lambda: lark(
            "start: (" + " | ".join(f"T{n}" for n in range(3_000)) + ")*", *(f'T{n}: "a"+ "{n}"' for n in range(3_000))
        ),
        texts=(LONG_A,),
    ),
    Bomb(
        name="lark of optional parts 2^1000",
        make=lambda: lark("start: " + '["a"] ' * 1_000 + ' "a" ' * 500),
        texts=(LONG_A[:1_200],),
    ),
)

CHOICES = (
    Bomb(name="100,000 choices", make=lambda: Choices(f"c{n:05}" for n in range(100_000)), texts=(b"c99999",)),
    Bomb(
        name="100,001 choices",
        make=lambda: Choices(f"c{n}" for n in range(100_001)),
        ends=too_large("enum_values"),
    ),
    Bomb(
        name="100 choices of 10 KB that begin alike",
        make=lambda: Choices("a" * 10_000 + f"{n}" for n in range(100)),
        texts=(b"a" * 10_000,),
    ),
    Bomb(
        name="1,400 choices, each the beginning of the next",
        make=lambda: Choices("a" * n for n in range(1, 1_400)),
        texts=(LONG_A,),
    ),
    Bomb(name="one choice of 2 MB", make=lambda: Choices(["a" * 2_000_000]), ends=too_large("schema_bytes")),
)

MACHINES = (
    Bomb(
        name="machine of a million edges",
        make=lambda: full_machine(1_000, ["a"]),
        ends=too_large("edges"),
    ),
    Bomb(
        name="machine of 100 states, all to all by one letter",
        make=lambda: full_machine(100, ["a"]),
        texts=(LONG_A,),
    ),
    Bomb(
        name="machine of 100 states, all to all by many texts",
        make=lambda: full_machine(100, ["a", "aa", "aaa", "b", "ab", "aab", "abab"]),
        texts=(LONG_A, LONG_AB),
    ),
    Bomb(
        name="machine of 100 states, all to all by no text",
        make=lambda: full_machine(100, ["", "a"]),
        texts=(LONG_A,),
    ),
    Bomb(
        name="machine of 9,999 states in a chain",
        make=lambda: machine([Edge(f"s{n}", "a", f"s{n + 1}") for n in range(9_998)] + [Edge("s9998", "a", "end")]),
        texts=(LONG_A,),
    ),
    Bomb(
        name="machine of 9,999 states in a chain of no text",
        make=lambda: machine([Edge(f"s{n}", "", f"s{n + 1}") for n in range(9_998)] + [Edge("s9998", "a", "end")]),
        texts=(b"a",),
    ),
    Bomb(name="machines 8 deep, each three times", make=lambda: nested_machine(8), texts=(b"a" * 200,)),
    Bomb(name="machines 9 deep", make=lambda: nested_machine(9), ends="NotationError"),
    Bomb(
        name="machine of 2,000 contracts",
        make=lambda: machine(
            [Edge("s0", {"type": "object", "properties": {f"k{n}": True}}, "s1") for n in range(2_000)]
            + [Edge("s1", "", "s0"), Edge("s1", "", "end")]
        ),
        ends="NotationError",
    ),
    Bomb(
        name="machine of 300 schemas that explode",
        make=lambda: machine(
            [Edge("s0", {"pattern": f"^(a|b)*a(a|b){{20}}c{n}$"}, "s1") for n in range(300)] + [Edge("s1", "", "end")]
        ),
        ends="NotationError",
    ),
    Bomb(
        name="machine of 15 schemas that explode",
        make=lambda: machine(
            [Edge("s0", {"pattern": f"^(a|b)*a(a|b){{20}}c{n}$"}, "s1") for n in range(15)] + [Edge("s1", "", "end")]
        ),
        ends="UnsupportedError",
    ),
    Bomb(
        name="machine of 500 patterns that begin alike",
        make=lambda: machine(
            [Edge("s0", Regex(f"(a|b)*a(a|b){{{n}}}"), f"s{n % 50 + 1}") for n in range(500)]
            + [Edge(f"s{n}", "c", "s0") for n in range(1, 51)]
            + [Edge("s1", "d", "end")]
        ),
        texts=(LONG_AB,),
    ),
)

TEXT_BOMBS = (*REGEXES, *GRAMMARS, *CHOICES, *MACHINES)

__all__ = ["TEXT_BOMBS"]
