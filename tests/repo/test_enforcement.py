"""Every block of the page on enforcement runs as it stands, one after another."""

import re
from pathlib import Path

import pytest

from commitgate.automaton import compile as compile_automaton
from commitgate.json_value import JsonSchema

PAGE = Path(__file__).parents[2] / "docs" / "enforcement.md"
BLOCKS: list[str] = re.findall(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_block_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "enforcement"}
    assert len(BLOCKS) == 4
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"block {number}", "exec"), names)
    assert capsys.readouterr().out.startswith("uniqueItems /properties/notes ")


BRANCH: dict[str, JsonSchema] = {
    name: {"properties": {"kind": {"const": name}}, "required": ["kind"]} for name in ("card", "cash")
}


@pytest.mark.parametrize(
    ("schema", "is_decoded"),
    [
        ({"uniqueItems": True, "items": {"enum": [*range(64)]}}, True),
        ({"uniqueItems": True, "items": {"type": "string"}}, False),
        ({"oneOf": list(BRANCH.values())}, True),
        ({"not": {"enum": ["a", 1]}}, True),
        ({"not": {"type": "string"}}, True),
        ({"not": {"pattern": "^a"}}, True),
        ({"not": {"minimum": 1, "maximum": 9}}, True),
    ],
)
def test_advice_about_checked_rows_holds(schema: JsonSchema, is_decoded: bool) -> None:
    levels = {row.level for row in compile_automaton(schema).support}
    assert (levels == {"decoded"}) is is_decoded
