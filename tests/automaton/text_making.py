"""Draw patterns, grammars, choices and machines at random, small enough to be judged by other means as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from hypothesis import strategies as st

from commitgate.json_value import JsonObject
from commitgate.languages import Choices, Edge, Grammar, Machine, Regex

LETTERS = "abé😀"

SMALL_SCHEMAS: list[JsonObject] = [
    {"type": "integer", "minimum": 0, "maximum": 99},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}}, "additionalProperties": False},
]

_characters = st.sampled_from([*LETTERS, r"\.", ".", "[ab]", "[^a]", "[a-z]", "[0-9]", "[^b-z]"])


def patterns() -> st.SearchStrategy[str]:
    """Draw patterns that Python's ``re`` reads in the same way."""
    return st.recursive(
        _characters,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])).map(
                lambda drawn: f"(?:{drawn[0]}){drawn[1]}"
            ),
            st.lists(inner, min_size=1, max_size=2).map(lambda parts: f"(?:{'|'.join([*parts, ''])})"),
        ),
        max_leaves=7,
    )


def regexes() -> st.SearchStrategy[Regex]:
    """Draw patterns with flags."""
    return st.builds(Regex, patterns(), st.sampled_from(["", "", "i", "s"]))


_NAMES = ("root", "x", "y", "z-1")
_atoms = st.sampled_from(['"a"', '"b"', '"é"', '"ab"', '""', "[ab]", "[^a]", "[a-c😀]", *_NAMES, *_NAMES])


def _bodies() -> st.SearchStrategy[str]:
    return st.recursive(
        _atoms,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(" ".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda options: f"({' | '.join(options)})"),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}"])).map(
                lambda drawn: f"({drawn[0]}){drawn[1]}"
            ),
        ),
        max_leaves=5,
    )


def grammars() -> st.SearchStrategy[Grammar]:
    """Draw grammars of four rules, recursive in every way: left, right, hidden, in circles, without end."""
    return st.lists(_bodies(), min_size=len(_NAMES), max_size=len(_NAMES)).map(
        lambda bodies: Grammar("\n".join(f"{name} ::= {body}" for name, body in zip(_NAMES, bodies, strict=True)))
    )


_words = st.text(st.sampled_from('ab"\\\n\t. é日😀{}'), max_size=4)


def choices() -> st.SearchStrategy[Choices]:
    """Draw lists of texts, some of which begin others."""

    def begun(texts: list[str]) -> Choices:
        return Choices([*texts, *(text[: len(text) // 2] for text in texts[::2])])

    return st.lists(_words, min_size=1, max_size=8).map(begun)


@dataclass(frozen=True)
class Walked:
    """Hold a machine with another way to tell what stands on each edge: the set of ends of a text from a place."""

    machine: Machine
    ends: tuple[Callable[[str, int], set[int]], ...]

    def accepts(self, text: str) -> bool:
        """Return whether the machine may read the whole text, by trying every edge at every place."""
        reached = {(self.machine.start, 0)}
        waiting = list(reached)
        while waiting:
            state, at = waiting.pop()
            for edge, ends in zip(self.machine.edges, self.ends, strict=True):
                if edge.source == state:
                    found = {(edge.target, end) for end in ends(text, at)} - reached
                    reached |= found
                    waiting.extend(found)
        return any((state, len(text)) in reached for state in self.machine.accepting)


def _word_ends(word: str) -> Callable[[str, int], set[int]]:
    return lambda text, at: {at + len(word)} if text.startswith(word, at) else set()


def _ends(is_whole: Callable[[str], bool]) -> Callable[[str, int], set[int]]:
    return lambda text, at: {end for end in range(at, len(text) + 1) if is_whole(text[at:end])}


@cache
def _judge(schema_number: int) -> Callable[[str], bool]:
    from automaton.oracle import is_valid

    return lambda text: is_valid(SMALL_SCHEMAS[schema_number], text.encode())


_edge_texts = st.one_of(
    st.sampled_from(["a", "ab", "é", "", "[", "tru"]).map(lambda word: (word, _word_ends(word))),
    st.sampled_from(["[ab]+", "a?", "[0-9]{1,2}", "é|😀b"]).map(
        lambda pattern: (Regex(pattern), _ends(lambda text: re.fullmatch(pattern, text, re.ASCII) is not None))
    ),
    st.integers(0, len(SMALL_SCHEMAS) - 1).map(lambda number: (SMALL_SCHEMAS[number], _ends(_judge(number)))),
)


@st.composite
def machines(draw: st.DrawFn) -> Walked:
    """Draw machines of up to four states in a row, with further edges between them; circles that read nothing too."""
    names = [f"s{number}" for number in range(draw(st.integers(1, 4)))]
    pairs = [*pairwise(names)]
    pairs += draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=4))
    texts = [draw(_edge_texts) for _ in pairs]
    accepting = {names[-1], *draw(st.lists(st.sampled_from(names), max_size=1))}
    edges = [Edge(source, on, target) for (source, target), (on, _) in zip(pairs, texts, strict=True)]
    machine = Machine(start=names[0], accepting=sorted(accepting), edges=edges)
    return Walked(machine, tuple(ends for _, ends in texts))
