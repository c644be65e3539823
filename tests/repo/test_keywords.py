"""The page of keywords, formats and types says what the compiler does."""

import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import typing
import uuid
import zoneinfo
from pathlib import Path

import pydantic
import pytest
from repo.type_walks import texts

from commitgate import UntrustedText
from commitgate.automaton import compile as compile_automaton
from commitgate.automaton.formats import FORMATS, format_is_exact, format_language
from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.keywords import KEYWORDS, Keyword, Kind
from commitgate.contract import Contract
from commitgate.errors import SchemaError
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.limits import Limits

PAGE = (Path(__file__).parents[2] / "docs" / "keywords.md").read_text(encoding="utf-8")
TEXTS = 60
SMALL = Limits(string_characters=60, array_items=4, free_properties=4, key_characters=24)
LEVELS = {Kind.ASSERTION: "decoded", Kind.ANNOTATION: "annotation", Kind.CONTAINER: "holds schemas"}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Card(pydantic.BaseModel):
    kind: typing.Literal["card"]
    number: str


class Cash(pydantic.BaseModel):
    kind: typing.Literal["cash"]
    till: int


class Folder(pydantic.BaseModel):
    name: str
    inside: "list[Folder]"


PYDANTIC = (
    "AnyUrl AwareDatetime Base64Bytes Base64Str ByteSize Field FilePath FutureDatetime HttpUrl IPvAnyAddress Json "
    "NaiveDatetime PastDate SecretStr StringConstraints UUID4 WithJsonSchema"
)
NAMES: dict[str, object] = {
    **{name: getattr(typing, name) for name in ("Annotated", "Any", "Literal")},
    **{name: getattr(datetime, name) for name in ("date", "datetime", "time", "timedelta")},
    **{name: getattr(pydantic, name) for name in PYDANTIC.split()},
    **{name: getattr(ipaddress, name) for name in ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network")},
    **{each.__name__: each for each in (Colour, Card, Cash, Folder)},
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "IPv4Interface": ipaddress.IPv4Interface,
    "Path": pathlib.Path,
    "Pattern": re.Pattern,
    "UUID": uuid.UUID,
    "UntrustedText": UntrustedText,
    "ZoneInfo": zoneinfo.ZoneInfo,
}


def cells(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its first two lines."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def drafts_of(keyword: Keyword) -> str:
    first, last = keyword.since is Draft.DRAFT_4, keyword.until is Draft.DRAFT_2020_12
    if keyword.since is keyword.until:
        return f"{keyword.since.title} only"
    if first or last:
        return "all" if first and last else f"from {keyword.since.title}" if last else f"until {keyword.until.title}"
    return f"{keyword.since.title} to {keyword.until.title}"


def level_of_format(name: str) -> str:
    if format_is_exact(name):
        return "decoded"
    return "checked" if format_language(name) is None else "checked, most of it decoded"


def contract_of(code: str) -> Contract[object]:
    """Return the contract of a type that a cell names; the page is the project's own."""
    meant = eval(code.replace("\\|", "|"), dict(NAMES))
    return Contract.of(typing.cast("type[object]", meant), limits=SMALL)


def test_table_of_keywords_is_the_compilers() -> None:
    rows = [
        [f"`{name}`", drafts_of(keyword), LEVELS[keyword.kind], keyword.checked_where]
        for name, keyword in KEYWORDS.items()
    ]
    assert cells("Keywords") == rows


def test_table_of_formats_is_the_compilers() -> None:
    assert cells("Formats") == [[f"`{name}`", level_of_format(name)] for name in sorted(FORMATS)]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_format_has_the_level_that_the_table_says(name: str) -> None:
    (row,) = compile_automaton({"format": name}).support
    assert level_of_format(name).startswith(row.level)
    (row,) = compile_automaton({"format": name}, formats="annotate").support
    assert row.level == "annotation"


@pytest.mark.parametrize("code", [code for line in cells("Types that work") for code in codes(line[0])])
def test_every_text_that_a_type_may_be_written_as_makes_a_value(code: str) -> None:
    contract = contract_of(code)
    schema_layer, type_layer = SchemaLayer(contract.schema), TypeLayer(contract)
    accept, found = compile_automaton(contract), 0
    for text in texts(compile_automaton(contract, dialect="generate"), TEXTS):
        parsed = strict_parse(text, nesting=SMALL.nesting)
        assert accept.accepts(text)
        assert isinstance(parsed, Parsed)
        # Equal items of a set are checked by the schema, before the type is asked.
        if schema_layer.judge(parsed.value) == ():
            found += 1
            assert isinstance(type_layer.judge(parsed.value), Typed), text
    assert found >= TEXTS // 2


REFUSED = cells("Types that are refused")


@pytest.mark.parametrize("code", [code for line in REFUSED for code in codes(line[0])])
def test_type_that_is_said_to_be_refused_is(code: str) -> None:
    with pytest.raises(SchemaError, match="no JSON Schema to steer a model with"):
        contract_of(code)


@pytest.mark.parametrize("code", [code for line in REFUSED for code in codes(line[2])])
def test_way_out_of_a_refused_type_compiles(code: str) -> None:
    compile_automaton(contract_of(code), dialect="generate")


def test_way_out_leaves_the_check_to_the_type() -> None:
    contract = contract_of(codes(REFUSED[1][2])[0])
    assert SchemaLayer(contract.schema).judge("2000-01-01T00:00:00Z") == ()
    assert not isinstance(TypeLayer(contract).judge("2000-01-01T00:00:00Z"), Typed)


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("datetime", ['"2026-01-01T12:00:00Z"', '"2024-02-29T23:59:59.5+01:30"']),
        ("date", ['"2024-02-29"', '"0001-01-01"']),
        ("Annotated[date, Field(ge=date(2026, 1, 10), lt=date(2027, 1, 1))]", ['"2026-01-10"', '"2026-12-31"']),
        ("HttpUrl", ['"https://example.com"', '"http://127.0.0.1:8000/a?b=c#d"', '"https://a-b.example.org/"']),
        ("dict[int, str]", ['{"1": "a", "-20": "b"}']),
        ("IPv4Network", ['"10.0.0.0/8"', '"192.168.4.0/22"', '"1.2.3.4"']),
        ("Annotated[Decimal, Field(max_digits=4)]", ["1234", "0.001", "-12.34"]),
    ],
)
def test_ordinary_texts_of_a_narrowed_type_are_accepted(code: str, texts: list[str]) -> None:
    automaton = compile_automaton(contract_of(code))
    assert [text for text in texts if not automaton.accepts(text.encode())] == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("datetime", '"2016-12-31T23:59:60Z"'),
        ("date", '"0000-01-01"'),
        ("Annotated[date, Field(ge=date(2026, 1, 10), lt=date(2027, 1, 1))]", '"2026-01-09"'),
        ("Annotated[date, Field(ge=date(2026, 1, 10), lt=date(2027, 1, 1))]", '"2027-01-01"'),
        ("HttpUrl", '"ftp://example.com"'),
        ("HttpUrl", '"http://1.2.3.999/"'),
        ("dict[int, str]", '{"01": "a"}'),
        ("IPv4Network", '"10.0.0.1/8"'),
        ("Annotated[Decimal, Field(max_digits=4)]", "123.45"),
        ("UUID4", '"00000000-0000-1000-8000-000000000000"'),
    ],
)
def test_text_that_the_type_refuses_is_not_accepted(code: str, text: str) -> None:
    contract = contract_of(code)
    assert not compile_automaton(contract).accepts(text.encode())


def test_misspelled_keyword_constrains_nothing() -> None:
    assert compile_automaton({"type": "string", "maxLenght": 1}).accepts(b'"long"')
