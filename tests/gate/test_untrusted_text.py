"""Untrusted text is no str: it cannot be used as one by accident, shows itself escaped, and is stored as it is."""

import copy
import dataclasses
import pickle
from html import unescape
from pathlib import Path
from typing import Annotated, Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, WithJsonSchema
from typing_extensions import TypedDict

from commitgate import Contract, UntrustedText
from commitgate.errors import MisuseError, SchemaError
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.layers import Layer
from commitgate.gate.stored_value import load
from commitgate.gate.type_layer import Typed

HOSTILE = "<b onclick='x'>\x1b[31m\u202e\u200b&\n\tend\""


def test_repr_shows_the_length_alone() -> None:
    assert repr(UntrustedText("canary")) == "UntrustedText(<6 characters>)"
    assert "canary" not in repr([UntrustedText("canary")])


def test_text_comes_out_only_where_it_is_opened() -> None:
    assert UntrustedText(HOSTILE).reveal() == HOSTILE


def test_default_form_is_one_line_and_harmless_anywhere() -> None:
    text = UntrustedText(HOSTILE)
    shown = "&lt;b onclick=&#x27;x&#x27;&gt;\\u001b[31m\\u202e\\u200b&amp;\\u000a\\u0009end&quot;"
    assert str(text) == f"{text}" == format(text) == shown
    assert f"{UntrustedText('a'):>3}" == "  a"


def test_form_for_a_page_keeps_its_layout() -> None:
    text = UntrustedText(HOSTILE)
    assert text.escaped_html() == text.__html__()
    assert text.escaped_html() == "&lt;b onclick=&#x27;x&#x27;&gt;\\u001b[31m\\u202e\\u200b&amp;\n\tend&quot;"


def test_form_for_a_terminal_keeps_its_layout_and_every_visible_character() -> None:
    assert UntrustedText(HOSTILE).escaped_terminal() == "<b onclick='x'>\\u001b[31m\\u202e\\u200b&\n\tend\""


@given(st.text())
def test_no_escaped_form_holds_what_gives_orders(text: str) -> None:
    untrusted = UntrustedText(text)
    for shown in (str(untrusted), untrusted.escaped_html(), untrusted.escaped_terminal()):
        unseen = {each for each in shown if category(each) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}}
        assert unseen <= {"\n", "\t"}
    for shown in (str(untrusted), untrusted.escaped_html()):
        assert not set(shown) & set("<>\"'")
    assert "\n" not in str(untrusted)
    assert unescape(untrusted.escaped_html()) == untrusted.escaped_terminal()


@pytest.mark.parametrize(
    "use",
    [
        lambda text: "a" + text,
        lambda text: text + "a",
        lambda text: text + text,
        lambda text: "a" in text,
        lambda text: text in "abc",
        lambda text: list(text),
        lambda text: text[0],
        lambda text: "".join([text]),
        lambda text: text * 2,
        lambda text: Path(text),
        lambda text: text < UntrustedText("b"),
        lambda text: int(text),
        lambda text: bytes(text, "utf-8"),
    ],
)
def test_text_is_not_taken_for_a_str(use: Any) -> None:
    with pytest.raises(TypeError):
        use(UntrustedText("a"))
    assert not isinstance(UntrustedText("a"), str)


@given(st.text(), st.text())
def test_equal_texts_are_equal_and_no_text_equals_a_str(one: str, other: str) -> None:
    assert (UntrustedText(one) == UntrustedText(other)) is (one == other)
    assert len({UntrustedText(one), UntrustedText(one)}) == 1
    assert UntrustedText(one) != one
    assert len(UntrustedText(one)) == len(one)
    assert bool(UntrustedText(one)) is bool(one)


@given(st.text())
def test_copies_are_equal(text: str) -> None:
    untrusted = UntrustedText(text)
    for made in (copy.copy(untrusted), copy.deepcopy(untrusted), pickle.loads(pickle.dumps(untrusted))):
        assert made == untrusted


def test_text_cannot_be_changed() -> None:
    text = UntrustedText("a")
    with pytest.raises(AttributeError):
        text._text = "b"  # pyright: ignore[reportPrivateUsage] - that is what is tried
    with pytest.raises(AttributeError):
        del text._text  # pyright: ignore[reportPrivateUsage] - that is what is tried
    assert text.reveal() == "a"


@pytest.mark.parametrize("given", [None, 3, b"a", ["a"], UntrustedText("a")])
def test_anything_but_a_str_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError, match="text must be a str"):
        UntrustedText(given)


class Mail(BaseModel):
    subject: Annotated[UntrustedText, Field(max_length=5, min_length=1)]
    lines: list[UntrustedText] = []
    by: dict[UntrustedText, int] = {}
    note: UntrustedText | None = None


@dataclasses.dataclass
class Plain:
    text: UntrustedText


class Keyed(TypedDict):
    text: UntrustedText


def test_schema_is_that_of_a_string_with_its_bounds() -> None:
    schema: Any = Contract.of(Mail).schema
    assert schema["properties"]["subject"] == {"maxLength": 5, "minLength": 1, "title": "Subject", "type": "string"}
    assert schema["properties"]["lines"]["items"] == {"type": "string"}
    assert Contract.of(UntrustedText).schema == {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Mail, '{"subject":"hi","lines":["a","\\u202e"],"by":{"k":1},"note":"n"}'),
        (Plain, '{"text":"a"}'),
        (Keyed, '{"text":"a"}'),
        (list[UntrustedText], '["a"]'),
        (UntrustedText, '"\\ud83d\\ude00"'),
        (set[UntrustedText], '["a"]'),
    ],
)
def test_value_with_such_text_is_stored_and_made_again(schema: Any, text: str) -> None:
    contract = Contract.of(schema)
    chosen = Judge(contract, clock=lambda: 0.0, must_keep=True).choose(text.encode())
    assert isinstance(chosen, Chosen)
    again = load(contract, chosen.value_json)
    assert isinstance(again, Typed)
    assert again.value == chosen.value


@pytest.mark.parametrize("text", ['{"subject":""}', '{"subject":"longer"}', '{"subject":3}', '{"subject":null}'])
def test_bounds_and_type_hold_for_what_is_written_and_for_the_type_itself(text: str) -> None:
    judged = Judge(Contract.of(Mail), clock=lambda: 0.0).choose(text.encode())
    assert not isinstance(judged, Chosen)
    assert judged.layer is Layer.SCHEMA
    with pytest.raises(ValidationError):
        Mail.model_validate_json(text)


def test_pattern_of_its_own_schema_holds() -> None:
    upper: Any = Annotated[UntrustedText, WithJsonSchema({"type": "string", "pattern": "^[A-Z]+$"})]
    judge = Judge(Contract.of(upper), clock=lambda: 0.0)
    assert isinstance(judge.choose(b'"AB"'), Chosen)
    assert not isinstance(judge.choose(b'"ab"'), Chosen)


class Coded(BaseModel):
    code: Annotated[UntrustedText, Field(max_length=3, pattern="^[A-Z]+$")]


def test_pattern_that_pydantic_would_look_for_in_a_str_is_refused_early() -> None:
    with pytest.raises(SchemaError, match=r"field Coded.code .* pattern in a str alone.*WithJsonSchema"):
        Contract.of(Coded)


def test_model_is_made_in_python_and_dumped_as_it_is() -> None:
    mail = Mail(subject=UntrustedText("hi"))
    assert Mail.model_validate({"subject": "hi"}) == mail
    assert mail.model_dump()["subject"] == UntrustedText("hi")
    assert mail.model_dump(mode="json")["subject"] == "hi"
    assert Mail.model_validate_json(mail.model_dump_json()) == mail
    assert TypeAdapter(UntrustedText).validate_python(UntrustedText("a")) == UntrustedText("a")
