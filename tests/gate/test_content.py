"""The content layer looks at every untrusted text in a value, wherever it stands, and names its place in JSON."""

import dataclasses
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from deliberating import codes, deliberate, judge_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, RootModel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from commitgate import UntrustedText, each_untrusted, refuse_hidden_characters
from commitgate.errors import MisuseError
from commitgate.gate.content import VIOLATIONS_KEPT
from commitgate.gate.judge import Chosen
from commitgate.gate.rules import RuleViolation
from commitgate.gate.untrusted_places import untrusted_texts
from commitgate.outcome import Invalid

pytestmark = pytest.mark.anyio

BAD = "x\\u202e"


class Inner(BaseModel):
    text: UntrustedText


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, UntrustedText]  # pyright: ignore[reportIncompatibleVariableOverride] - pydantic asks for it
    kind: Literal["a"] = "a"
    note: Annotated[UntrustedText, Field(alias="Note~/1")]
    inner: Inner | None = None
    many: list[Inner | UntrustedText] = []
    pair: tuple[int, UntrustedText] | None = None
    named: dict[str, UntrustedText] = {}
    unique: set[UntrustedText] = set()


class Renamed(BaseModel):
    text: UntrustedText = Field(validation_alias=AliasChoices("first", "second"))
    deep: UntrustedText = Field(default=UntrustedText(""), validation_alias=AliasPath("outer", "deep"))


@dataclasses.dataclass
class Plain:
    text: Annotated[UntrustedText, Field(alias="Text")]
    other: UntrustedText


@pydantic_dataclass
class Checked:
    text: UntrustedText = Field(alias="Text")


class Typed(TypedDict):
    text: UntrustedText


class Tupled(NamedTuple):
    number: int
    text: UntrustedText


class Root(RootModel[list[UntrustedText]]):
    pass


class Key(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("schema", "text", "pointer"),
    [
        (UntrustedText, '"BAD"', ""),
        (list[UntrustedText], '["a","BAD"]', "/1"),
        (tuple[int, UntrustedText], '[1,"BAD"]', "/1"),
        (Inner, '{"text":"BAD"}', "/text"),
        (Model, '{"Note~/1":"BAD"}', "/Note~0~11"),
        (Model, '{"Note~/1":"","inner":{"text":"BAD"}}', "/inner/text"),
        (Model, '{"Note~/1":"","many":["a",{"text":"BAD"}]}', "/many/1/text"),
        (Model, '{"Note~/1":"","pair":[1,"BAD"]}', "/pair/1"),
        (Model, '{"Note~/1":"","unique":["BAD"]}', "/unique"),
        (Model, '{"Note~/1":"","named":{"canary":"BAD"}}', "/named/*"),
        (Model, '{"Note~/1":"","canary":"BAD"}', "/*"),
        (Plain, '{"Text":"BAD","other":""}', "/Text"),
        (Plain, '{"Text":"","other":"BAD"}', "/other"),
        (Checked, '{"Text":"BAD"}', "/Text"),
        (Typed, '{"text":"BAD"}', "/text"),
        (Tupled, '[1,"BAD"]', "/1"),
        (Root, '["BAD"]', "/0"),
        (dict[UntrustedText, int], '{"BAD":1}', "/*"),
        (dict[Key, UntrustedText], '{"red":"BAD"}', "/*"),
        (UntrustedText | None, '"BAD"', ""),
    ],
)
async def test_bad_text_is_found_at_its_place(schema: Any, text: str, pointer: str) -> None:
    ending = await deliberate(text.replace("BAD", BAD), schema)
    assert codes(ending) == ["bidi_control"]
    assert isinstance(ending, Invalid)
    (failure,) = ending.failures
    assert failure.layer == "content"
    assert failure.retryable
    assert failure.pointer == pointer
    assert "canary" not in repr(failure)
    assert isinstance(failure.data, dict)
    assert failure.data["character"] == "U+202E"


async def test_exact_pointer_is_for_programs_alone() -> None:
    ending = await deliberate(f'{{"canary":"{BAD}"}}', dict[str, UntrustedText])
    assert isinstance(ending, Invalid)
    assert ending.failures[0].data == {"position": 1, "character": "U+202E", "pointer": "/canary"}


async def test_plain_strings_are_not_looked_at() -> None:
    assert await deliberate(f'"{BAD}"', str) is None


@pytest.mark.parametrize("schema", [str, {"type": "string"}])
async def test_value_that_is_a_text_is_looked_at_where_asked_for(schema: Any) -> None:
    content = [each_untrusted(refuse_hidden_characters)]
    ending = await deliberate(f'"{BAD}"', schema, content=content)
    assert codes(ending) == ["bidi_control"]
    assert await deliberate('"fine"', schema, content=content) is None


@pytest.mark.parametrize("alias", ["first", "second"])
def test_field_with_several_names_goes_by_the_first(alias: str) -> None:
    value = Renamed.model_validate({alias: "a", "outer": {"deep": "b"}})
    assert [path for path, _ in untrusted_texts(value)] == [("first",), ("outer", "deep")]


def test_value_nested_deeper_than_calls_can_be_is_walked() -> None:
    value: list[object] = [UntrustedText("\x1b")]
    for _ in range(20_000):
        value = [value]
    (violation,) = refuse_hidden_characters(value)
    assert violation.code == "terminal_escape"


def test_value_that_holds_itself_is_walked_once() -> None:
    value: list[object] = [UntrustedText("\x1b")]
    value.append(value)
    assert len(refuse_hidden_characters(value)) == 1


def test_long_list_of_bad_texts_is_cut() -> None:
    assert len(refuse_hidden_characters([UntrustedText("\x1b")] * (VIOLATIONS_KEPT - 1))) == VIOLATIONS_KEPT - 1
    assert len(refuse_hidden_characters([UntrustedText("\x1b")] * (VIOLATIONS_KEPT + 1))) == VIOLATIONS_KEPT


class Hostile(list[object]):
    def __len__(self) -> int:
        raise RuntimeError("canary")

    def __iter__(self) -> Any:
        raise RuntimeError("canary")


async def test_value_that_cannot_be_walked_is_not_chosen() -> None:
    judge = judge_of(list[int])
    assert isinstance(judge.choose(b"[]"), Chosen)
    from commitgate.gate.check_context import CheckContext
    from commitgate.gate.checks import Checks

    ending = await judge.deliberate(Hostile(), Checks(), CheckContext())
    assert codes(ending) == ["content_error"]


def shouting(text: UntrustedText) -> RuleViolation | None:
    return RuleViolation("loud", "do not shout", data={"a": 1}, retryable=False) if text.reveal().isupper() else None


async def shouting_later(text: UntrustedText) -> RuleViolation | None:
    return shouting(text)


@pytest.mark.parametrize("check", [shouting, shouting_later])
async def test_check_of_one_text_is_asked_about_each(check: Any) -> None:
    ending = await deliberate('["a","B","C"]', list[UntrustedText], content=each_untrusted(check))
    assert codes(ending) == ["loud", "loud"]
    assert isinstance(ending, Invalid)
    assert [failure.pointer for failure in ending.failures] == ["/1", "/2"]
    assert ending.failures[0].data == {"a": 1, "pointer": "/1"}
    assert not ending.failures[0].retryable


async def test_broken_check_of_one_text_is_named() -> None:
    def broken(text: UntrustedText) -> Any:
        return len(text) > 3

    ending = await deliberate('["a"]', list[UntrustedText], content=each_untrusted(broken))
    assert codes(ending) == ["content_error"]
    assert isinstance(ending, Invalid)
    assert "broken returned bool" in ending.failures[0].message


async def test_built_in_check_and_the_callers_are_told_together() -> None:
    ending = await deliberate(f'["{BAD}","B"]', list[UntrustedText], content=each_untrusted(shouting))
    assert codes(ending) == ["bidi_control", "loud"]


@pytest.mark.parametrize("check", [3, lambda: None, lambda a, b: None])
def test_check_that_takes_no_text_is_refused(check: Any) -> None:
    with pytest.raises(MisuseError, match="check must"):
        each_untrusted(check)


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))
def test_every_text_is_yielded_with_the_path_that_leads_to_it(plain: Any) -> None:
    def wrapped(value: Any) -> Any:
        if isinstance(value, str):
            return UntrustedText(value)
        if isinstance(value, list):
            return [wrapped(each) for each in value]
        return {key: wrapped(each) for key, each in value.items()}

    def leaves(value: Any) -> int:
        if isinstance(value, str):
            return 1
        return sum(map(leaves, value if isinstance(value, list) else value.values()))

    found = list(untrusted_texts(wrapped(plain)))
    assert len(found) == leaves(plain)
    for path, text in found:
        value = plain
        for part in path:
            value = value[part]
        assert text.reveal() == value
