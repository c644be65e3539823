"""The page of keywords and types says what the compiler does."""

import datetime
import decimal
import enum
import re
import typing
import uuid
from pathlib import Path

import pydantic
import pytest

from commitgate.automaton import compile as compile_automaton
from commitgate.automaton.json_schema.keywords import KEYWORDS, Keyword, Kind
from commitgate.contract import Contract
from commitgate.errors import UnsupportedError

PAGE = (Path(__file__).parents[2] / "docs" / "keywords.md").read_text(encoding="utf-8")


class Colour(enum.Enum):
    RED = "red"


class Card(pydantic.BaseModel):
    kind: typing.Literal["card"]
    number: str


class Cash(pydantic.BaseModel):
    kind: typing.Literal["cash"]
    till: int


class Folder(pydantic.BaseModel):
    name: str
    inside: "list[Folder]"


NAMES: dict[str, object] = {
    **{name: getattr(typing, name) for name in ("Annotated", "Any", "Literal")},
    **{name: getattr(datetime, name) for name in ("date", "datetime", "time", "timedelta")},
    **{name: getattr(pydantic, name) for name in ("Field", "HttpUrl", "WithJsonSchema")},
    **{each.__name__: each for each in (Colour, Card, Cash, Folder)},
    "Decimal": decimal.Decimal,
    "UUID": uuid.UUID,
}


def cells(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its first two lines."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]


def row(name: str, keyword: Keyword) -> list[str]:
    level = "annotation" if keyword.kind is Kind.ANNOTATION else keyword.level
    return [f"`{name}`", level, keyword.advice.split("; ", 1)[-1]]


def meant(code: str) -> object:
    """Return the type that a cell names; the page is the project's own."""
    return eval(code.strip("`").replace("\\|", "|"), dict(NAMES))


def compiled(code: str) -> None:
    compile_automaton(Contract.of(typing.cast("type[object]", meant(code))))


def test_table_of_keywords_is_the_compilers() -> None:
    assert cells("Keywords") == [row(name, keyword) for name, keyword in KEYWORDS.items()]


@pytest.mark.parametrize(
    "code", [code for line in cells("Types that work") for code in re.findall(r"`[^`]+`", line[0])]
)
def test_type_that_is_said_to_work_compiles(code: str) -> None:
    compiled(code)


@pytest.mark.parametrize(("code", "keyword", "way_out"), cells("Types that do not work yet"))
def test_type_that_is_said_to_be_refused_is_and_its_way_out_compiles(code: str, keyword: str, way_out: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        compiled(code)
    assert refused.value.keyword == keyword.strip("`")
    compiled(way_out)


def test_way_out_leaves_the_check_to_the_type() -> None:
    adapter = pydantic.TypeAdapter(typing.cast("type[object]", meant(cells("Types that do not work yet")[0][2])))
    with pytest.raises(pydantic.ValidationError):
        adapter.validate_python("tomorrow")


def test_misspelled_keyword_constrains_nothing() -> None:
    assert compile_automaton({"type": "string", "maxLenght": 1}).accepts(b'"long"')
