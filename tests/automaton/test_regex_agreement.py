"""Random patterns, read as contracts, against another engine; its case folding against ours."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import compile
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.regex.case_folding import with_all_cases
from commitgate.errors import LimitExceededError, UnsatisfiableError
from commitgate.languages import Regex

LETTERS = "ab1 _\n-kK\u212a\u017f"
SINGLES = ["a", "b", "k", "K", "\u017f", "1", "_", "-", r"\x61", r"\u212a"]
CLASSES = ["[ab]", "[^a]", "[a-b1]", "[^k]", "[J-L_]", "[^a-z]", r"[\n-]"]
ESCAPES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": r" \n"}
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{0}", "*?", "+?", "??", "{1,2}?"]
FLAGS = frozenset("ims")


@dataclass(frozen=True)
class Pair:
    """A pattern as we read it, and what writes it for the other engine under given flags."""

    ours: str
    kind: str = "text"
    parts: tuple[Pair, ...] = ()
    detail: str = ""
    flags: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    def theirs(self, flags: frozenset[str]) -> str:
        match self.kind:
            case "text":
                return self._cased(self.ours, flags)
            case "escape":
                return self._escape(flags)
            case "dot":
                return r"[\s\S]" if "s" in flags else r"[^\n\r\u2028\u2029]"
            case "start":
                return r"(?:\A|(?<=\n))" if "m" in flags else r"\A"
            case "end":
                return r"(?:\Z|(?=\n))" if "m" in flags else r"\Z"
            case "anchor":
                return self.detail
            case "boundary":
                return self._boundary(flags)
            case "flagged":
                added, removed = self.flags
                return f"(?:{self.parts[0].theirs((flags | added) - removed)})"
            case "choice":
                return "(?:" + "|".join(part.theirs(flags) for part in self.parts) + ")"
            case "row":
                return "".join(f"(?:{part.theirs(flags)})" for part in self.parts)
            case "group":
                return f"({self.detail}{self.parts[0].theirs(flags)})"
            case _:
                return f"(?:{self.parts[0].theirs(flags)}){self.detail}"

    def _cased(self, text: str, flags: frozenset[str]) -> str:
        return f"(?i:{text})" if "i" in flags else text

    def _escape(self, flags: frozenset[str]) -> str:
        members = ESCAPES[self.detail.lower()]
        members += "\u017f\u212a" if self.detail in "wW" and "i" in flags else ""
        return f"[{'^' if self.detail.isupper() else ''}{members}]"

    def _boundary(self, flags: frozenset[str]) -> str:
        word = "[a-zA-Z0-9_" + ("\u017f\u212a]" if "i" in flags else "]")
        is_edge = f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return f"(?!{is_edge})" if self.detail == "B" else is_edge


ATOMS = st.one_of(
    st.sampled_from([Pair(text) for text in SINGLES + CLASSES]),
    st.sampled_from([Pair("\\" + letter, "escape", detail=letter) for letter in "dDwWsS"]),
    st.just(Pair(".", "dot")),
)
ASSERTIONS = st.sampled_from(
    [
        Pair("^", "start"),
        Pair("$", "end"),
        Pair(r"\A", "anchor", detail=r"\A"),
        Pair(r"\z", "anchor", detail=r"\Z"),
        Pair(r"\Z", "anchor", detail=r"\Z"),
        Pair(r"\b", "boundary", detail="b"),
        Pair(r"\B", "boundary", detail="B"),
    ]
)


def flagged(added: frozenset[str], removed: frozenset[str], inner: Pair) -> Pair:
    removed = removed - added
    letters = "".join(sorted(added)) + ("-" + "".join(sorted(removed)) if removed else "")
    return Pair(f"(?{letters}:{inner.ours})", "flagged", (inner,), flags=(added, removed))


def compound(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    parts = st.lists(inner, min_size=2, max_size=4).map(tuple)
    some = st.frozensets(st.sampled_from("ims"))
    return st.one_of(
        parts.map(lambda found: Pair("(?:" + "|".join(part.ours for part in found) + ")", "choice", found)),
        parts.map(lambda found: Pair("".join(f"(?:{part.ours})" for part in found), "row", found)),
        st.builds(
            lambda part, times: Pair(f"(?:{part.ours}){times}", "repeat", (part,), times),
            inner,
            st.sampled_from(QUANTIFIERS),
        ),
        st.builds(
            lambda part, opening: Pair(f"({opening}{part.ours})", "group", (part,), opening),
            inner,
            st.sampled_from(["", "?P<name>", "?=", "?!", "?<=", "?<!"]),
        ),
        st.builds(flagged, some.filter(bool), some, inner),
    )


def patterns(atoms: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.recursive(atoms, compound, max_leaves=8)


PLAIN = patterns(st.one_of(ATOMS, ATOMS, ATOMS, ASSERTIONS))
TEXTS = st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=15)


def unnamed(pattern: str) -> str:
    """Return the pattern with a name for each group, because no two may share one there."""
    pieces = pattern.split("(?P<name>")
    return pieces[0] + "".join(f"(?P<name{index}>{piece}" for index, piece in enumerate(pieces[1:]))


@settings(max_examples=500, deadline=None)
@given(pattern=PLAIN, flags=st.frozensets(st.sampled_from("ims")), texts=TEXTS, is_leading=st.booleans())
def test_whole_texts_are_those_of_a_backtracking_engine(
    pattern: Pair, flags: frozenset[str], texts: list[str], is_leading: bool
) -> None:
    letters = "".join(sorted(flags))
    source = Regex(f"(?{letters}){pattern.ours}") if is_leading and flags else Regex(pattern.ours, letters)
    expected = regex.compile(unnamed(pattern.theirs(flags)))
    matching = [text for text in texts if expected.fullmatch(text) is not None]
    try:
        automaton = compile(source)
    except UnsatisfiableError:
        assert matching == []
        return
    except LimitExceededError:
        return
    assert [text for text in texts if automaton.accepts(text.encode())] == matching


def all_cases(members: CharacterSet) -> set[str]:
    return {chr(point) for first, last in with_all_cases(members).ranges for point in range(first, last + 1)}


@pytest.fixture(scope="module")
def cased() -> dict[str, set[str]]:
    """Return each character that has a case, with all that we take for the same."""
    every = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    found = [character for character in every if len({character, character.upper(), character.casefold()}) > 1]
    cases = {character: all_cases(CharacterSet.of_text(character)) for character in found}
    others = {other for group in cases.values() for other in group if other not in cases}
    return cases | {other: all_cases(CharacterSet.of_text(other)) for other in others}


def test_cases_of_every_character_are_those_of_another_engine(cased: dict[str, set[str]]) -> None:
    text = "".join(cased)
    differing: dict[str, set[str]] = {}
    for character, ours in cased.items():
        theirs = set(regex.findall(regex.escape(character), text, regex.IGNORECASE))
        if theirs != ours:
            differing[character] = theirs ^ ours
    # There, the four letters I of Turkish are one; here, as ECMA-262 folds, dotted and dotless I stand alone.
    assert differing == {"I": {"ı"}, "i": {"İ"}, "İ": {"i"}, "ı": {"I"}}


def test_characters_without_case_stay_as_they_are(cased: dict[str, set[str]]) -> None:
    others = CharacterSet.of_text("".join(cased)).complement()
    assert with_all_cases(others) == others


@pytest.mark.parametrize("first", [0, 0x41, 0x61, 0xE0, 0x130, 0x1C5, 0x390, 0x13A0, 0x1E9E, 0xAB70, 0x10400])
def test_cases_of_a_range_are_those_of_its_characters(first: int, cased: dict[str, set[str]]) -> None:
    for last in (first, first + 1, first + 40, first + 3_000, 0x1FFFF):
        members = CharacterSet.of([(first, last)])
        added = {other for character, group in cased.items() if first <= ord(character) <= last for other in group}
        assert with_all_cases(members) == members.union(CharacterSet.of_text("".join(added)))


def test_characters_without_a_folding_of_one_character_meet_by_the_whole_one() -> None:
    pairs = [("ß", "ẞ"), ("\ufb05", "\ufb06"), ("\u0390", "\u1fd3"), ("\u03b0", "\u1fe3"), ("ᾀ", "ᾈ")]
    assert [all_cases(CharacterSet.of_text(first)) for first, _ in pairs] == [set(pair) for pair in pairs]
