"""Write the parts of the page on the ledger that are made from the code: ``python tests/repo/ledger_page.py``.

They stand between marks in ``docs/ledger.md``: the states and the steps in the words of their docstrings, the diagram
and the table of transitions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from commitgate.ledger import record
from commitgate.ledger.record import State
from commitgate.ledger.states import TRANSITIONS, Guard, Transition

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"
COMMAND = "python tests/repo/ledger_page.py"


def parts() -> dict[str, str]:
    """Return what stands between each pair of marks."""
    return {"states": states(), "diagram": diagram(), "steps": the_steps(), "transitions": transitions()}


def words_of(path: Path, name: str) -> dict[str, str]:
    """Return the docstring below each member of an enumeration."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found: dict[str, str] = {}
    for member, words in pairwise(body):
        if isinstance(member, ast.Assign) and isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant):
            found[ast.unparse(member.targets[0])] = str(words.value.value)
    return found


def states() -> str:
    words = words_of(Path(record.__file__), "State")
    return table(["state", "what it says"], ([f"`{state}`", told(words[state.name])] for state in State))


def the_steps() -> str:
    kinds = list(dict.fromkeys(transition.step for transition in TRANSITIONS))
    return table(
        ["step", "what it does"],
        ([f"`{kind.__name__}`", told((kind.__doc__ or "").splitlines()[0])] for kind in kinds),
    )


def told(words: str) -> str:
    return words.replace("``", "`")


def diagram() -> str:
    """Return the arrows between different states, each with the steps that take it."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for each in TRANSITIONS:
        if each.source is not each.target:
            taken = arrows.setdefault((each.source or "[*]", each.target), [])
            taken.extend([] if each.step.__name__ in taken else [each.step.__name__])
    lines = [f"    {source} --> {target}: {', '.join(taken)}" for (source, target), taken in arrows.items()]
    ends = [f"    {state} --> [*]" for state in State if not any(source == state for source, _ in arrows)]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, *ends, "```"])


def transitions() -> str:
    return table(["state", "step", "where", "state after"], (line(each) for each in TRANSITIONS))


def line(each: Transition) -> list[str]:
    is_alone = sum((other.source, other.step) == (each.source, each.step) for other in TRANSITIONS) == 1
    where = "always" if is_alone and each.guard is Guard.ANY else each.guard.value
    return [f"`{each.source}`" if each.source else "none", f"`{each.step.__name__}`", where, f"`{each.target}`"]


def table(heading: list[str], rows: Iterator[list[str]]) -> str:
    first, *rest = (f"| {' | '.join(cells)} |" for cells in [heading, *rows])
    return "\n".join([first, "|" + "---|" * len(heading), *rest])


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def written(page: str) -> str:
    """Return the page with every part as the code has it now."""
    for name, part in parts().items():
        begin, end = marks(name)
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{part}\n{end}{rest.split(end)[1]}"
    return page


def main() -> int:
    """Rewrite the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
