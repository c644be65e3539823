"""Every block of the page on enforcement runs as it stands, one after another."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from guide import blocks_of

from commitgate.automaton import compile as compile_automaton
from commitgate.automaton.json_schema.drafts import Draft
from commitgate.contract import Contract, Numbers
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.json_value import JsonSchema
from commitgate.style import FreeSpace, Style

PAGE = Path(__file__).parents[2] / "docs" / "enforcement.md"
BLOCKS = blocks_of("enforcement.md")


def test_every_block_of_the_page_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names: dict[str, object] = {"__name__": "enforcement"}
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) == 5
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"block {number}", "exec"), names)
    assert capsys.readouterr().out.startswith("uniqueItems /properties/notes ")
    assert json.loads((tmp_path / "order.schema.json").read_text())["title"] == "Order"


def test_drafts_of_the_page_are_those_that_are_read() -> None:
    rows = re.findall(r"^\| (.+) \| `(http.+)` \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rows == [(draft.title, draft.uri) for draft in Draft]


def test_free_space_stands_between_tokens_alone_as_the_page_says() -> None:
    schema = {"type": "array", "items": {"type": "null"}}
    automaton = compile_automaton(schema, dialect="generate", style=Style(white_space=FreeSpace(2)))
    assert automaton.accepts(b"[  null  ]")
    assert not automaton.accepts(b"[   null]")
    assert not automaton.accepts(b"[null] ")
    assert not automaton.accepts(b" [null]")


@pytest.mark.parametrize(("numbers", "value"), [("float", 0.1), ("decimal", Decimal("0.10000000000000000000001"))])
def test_numbers_come_out_as_the_page_says(numbers: Numbers, value: object) -> None:
    layer = TypeLayer(Contract.json_schema({}, numbers=numbers))
    parsed = strict_parse(b"0.10000000000000000000001", nesting=1)
    assert isinstance(parsed, Parsed)
    typed = layer.judge(parsed.value)
    assert isinstance(typed, Typed)
    assert (typed.value, type(typed.value)) == (value, type(value))


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
