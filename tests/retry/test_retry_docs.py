"""The page on retries says what the code does."""

import ast
import inspect
import re
from dataclasses import fields

import pytest
from guide import DOCS, blocks_of
from retry_endings import VARIANTS, Variant

from commitgate.retry import Again, Retry, RetryBudget, Tries, decide

PAGE = (DOCS / "retries.md").read_text(encoding="utf-8")
BLOCKS = blocks_of("retries.md")
GENEROUS = Retry(attempts=2, restarts=1, reasks=1, larger_max_tokens=4_096)


def rows(header: str) -> list[list[str]]:
    """Return the cells of the table with this header."""
    table = PAGE.split(f"| {header} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def told() -> dict[Variant, tuple[str, str]]:
    found: dict[Variant, tuple[str, str]] = {}
    for ending, unseen, seen in rows("ending | nothing shown yet | something shown"):
        name, *kinds = re.findall(r"`(\w+)`", ending)
        for kind in kinds or [None]:
            assert (name, kind) not in found
            found[name, kind] = (unseen, seen)
    return found


def done(variant: Variant, *, was_shown: bool) -> str:
    decision = decide(
        VARIANTS[variant],
        Tries(),
        policy=GENEROUS,
        was_shown=was_shown,
        remaining_s=None,
        budget_allows=True,
        random_unit=0.5,
    )
    return decision.kind if isinstance(decision, Again) else "never"


def test_table_of_endings_is_what_is_decided() -> None:
    assert told() == {each: (done(each, was_shown=False), done(each, was_shown=True)) for each in VARIANTS}


def test_words_of_the_table_are_explained() -> None:
    explained = set(re.findall(r"^- \*\*(\w+)\*\*:", PAGE, flags=re.MULTILINE))
    assert {word for pair in told().values() for word in pair} == explained | {"never"}


def test_tables_of_defaults_are_those_of_the_code() -> None:
    documented = {name.strip("`"): default for name, default, _ in rows("field | default | means")}
    assert documented == {entry.name: str(entry.default) for entry in fields(Retry)}
    documented = {name.strip("`"): default for name, default, _ in rows("argument | default | means")}
    parameters = inspect.signature(RetryBudget).parameters
    assert documented == {name: str(parameter.default) for name, parameter in parameters.items()}


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_what_the_blocks_construct_can_be_constructed(block: str) -> None:
    tree = ast.parse(block)
    compile(block, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    names = {"Retry": Retry, "RetryBudget": RetryBudget}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            arguments = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
            assert names[node.func.id](**arguments)
