"""The page on the ledger says what the table of its states says, and its guarantees name tests that exist."""

import re
from pathlib import Path

import pytest
from repo.ledger_page import COMMAND, PAGE, marks, parts, words_of
from repo.test_docs import functions

from commitgate.ledger import State, record
from commitgate.ledger.states import TRANSITIONS

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", parts())
def test_page_of_the_ledger_is_made_from_its_table(name: str) -> None:
    begin, end = marks(name)
    stands = TEXT.split(begin)[1].split(end)[0].strip()
    assert stands == parts()[name], f"docs/ledger.md is out of date; write it anew: {COMMAND}"


def test_every_transition_is_a_line_of_the_table_and_every_change_of_state_an_arrow() -> None:
    lines = parts()["transitions"].splitlines()[2:]
    assert len(set(lines)) == len(lines) == len(TRANSITIONS)
    arrows = set(re.findall(r"^    (\S+) --> (\w+): ", parts()["diagram"], flags=re.MULTILINE))
    changes = {(each.source or "[*]", each.target) for each in TRANSITIONS if each.source is not each.target}
    assert arrows == changes


def test_every_state_has_words() -> None:
    assert words_of(Path(record.__file__), "State").keys() == {state.name for state in State}


def test_every_guarantee_of_the_ledger_names_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[a-z_/]+\.py)::(\w+)`", TEXT)
    assert len(named) > 15
    root = PAGE.parents[1]
    assert [(path, name) for path, name in named if name not in functions(root / path)] == []
