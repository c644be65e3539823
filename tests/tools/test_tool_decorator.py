"""A function becomes a tool whose arguments are judged, and one that no model can call is refused at once."""

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from commitgate.contract import Contract
from commitgate.effect import Effect, EffectContext, TransactionContext
from commitgate.effect_kind import EffectKind
from commitgate.errors import EffectRejected, MisuseError, SchemaError
from commitgate.gate.rules import RuleViolation
from commitgate.risk import Risk
from commitgate.tools import Tool, ToolSet, tool
from commitgate.tools.tool import MAX_TOOL_NAME_CHARACTERS


class Address(BaseModel):
    city: str
    zip: str


@tool(effect="once")
async def deliver(
    address: Address,
    weight: Annotated[Decimal, "in kilograms"],
    speed: Literal["slow", "fast"] = "slow",
    *,
    boxes: Annotated[int, Field(ge=1, description="how many")] = 1,
    context: EffectContext,
) -> str:
    """Deliver boxes
    to an address.

    What comes after the first paragraph is for programmers.
    """
    return f"{boxes} to {address.city} under {context.key}"


def test_arguments_of_every_kind_are_in_the_schema() -> None:
    schema: Any = deliver.contract.schema
    assert set(schema["properties"]) == {"address", "weight", "speed", "boxes"}
    assert schema["required"] == ["address", "weight"]
    assert schema["properties"]["weight"] == {"description": "in kilograms", "title": "Weight", "type": "number"}
    assert schema["properties"]["speed"]["enum"] == ["slow", "fast"]
    assert schema["properties"]["boxes"]["minimum"] == 1
    assert schema["properties"]["boxes"]["description"] == "how many"
    assert schema["additionalProperties"] is False


def test_name_description_and_kind_come_from_the_function() -> None:
    assert (deliver.name, deliver.kind, deliver.version) == ("deliver", "once", "1")
    assert deliver.description == "Deliver boxes to an address."
    assert deliver.contract.risk is Risk.EFFECT
    assert repr(deliver) == "<tool deliver (once)>"


@pytest.mark.anyio
async def test_tool_is_still_the_function() -> None:
    context = EffectContext(key="k", fence=1, attempt=1, deadline=None)
    assert await deliver(Address(city="Bonn", zip="1"), Decimal(1), context=context) == "1 to Bonn under k"
    assert deliver.__name__ == "deliver"
    assert deliver.__doc__ is not None


@pytest.mark.anyio
async def test_context_is_given_and_no_argument() -> None:
    assert "context" not in deliver.contract.schema["properties"]  # type: ignore[index, operator] # an object's schema
    adapter: Any = deliver.contract.type_adapter
    arguments = adapter.validate_python({"address": {"city": "Bonn", "zip": "1"}, "weight": "1.50"})
    effect: Any = deliver.effect_of_call()
    context = EffectContext(key="k", fence=1, attempt=1, deadline=None)
    assert await effect.run(arguments, context) == "1 to Bonn under k"


def test_effect_has_the_name_version_and_kind_of_the_tool() -> None:
    effect = deliver.effect_of_call()
    assert (effect.name, effect.version, effect.kind) == ("tool:deliver", "1", EffectKind.ONCE)
    assert tool(effect="read")(allow_nothing).effect_of_call().kind is EffectKind.BY_KEY


@pytest.mark.anyio
async def test_tool_that_only_reads_and_raises_says_no() -> None:
    @tool(effect="read")
    def fails() -> None:
        raise ZeroDivisionError("payload")

    @tool(effect="read")
    async def declines() -> None:
        raise EffectRejected("nobody of this name")

    context: Any = EffectContext(key="k", fence=1, attempt=1, deadline=None)
    with pytest.raises(EffectRejected, match=r"^it failed: ZeroDivisionError$"):
        await fails.effect_of_call().run(fails.contract.type_adapter.validate_python({}), context)  # type: ignore[union-attr] # a model's
    with pytest.raises(EffectRejected, match=r"^nobody of this name$"):
        await declines.effect_of_call().run(declines.contract.type_adapter.validate_python({}), context)  # type: ignore[union-attr] # a model's


def write(context: TransactionContext) -> None: ...
async def write_async(context: TransactionContext) -> None: ...
def write_nothing(context: EffectContext) -> None: ...


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (write, "once", "only a transactional tool gets"),
        (write_nothing, "transactional", "must take a TransactionContext"),
        (write_async, "transactional", "must be a plain def"),
    ],
)
def test_connection_is_for_transactional_tools(function: Callable[..., object], kind: Any, words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        tool(effect=kind)(function)
    assert tool(effect="transactional")(write).effect_of_call().kind is EffectKind.TRANSACTIONAL


def test_what_is_given_wins_over_the_function() -> None:
    def limit(arguments: Any) -> RuleViolation | None:
        return None

    @tool(effect="read", name="look-up_2", description=" Look. ", version="7", rules=[limit], authorize=allow)
    def look_up(q: str) -> str:
        return q

    assert (look_up.name, look_up.description, look_up.version) == ("look-up_2", "Look.", "7")
    assert look_up.contract.rules == (limit,)
    assert look_up.contract.authorize == (allow,)
    assert look_up.contract.risk is Risk.RECORD


def allow(arguments: Any, context: object) -> bool:
    return True


class Shop:
    def refund(self, order: str) -> str:
        return order


def test_method_of_an_object_can_be_a_tool() -> None:
    made = tool(effect="once")(Shop().refund)
    assert set(made.contract.schema["properties"]) == {"order"}  # type: ignore[index, arg-type] # an object's schema
    assert made("x") == "x"


def test_effect_has_no_default() -> None:
    def pay(amount: int) -> None: ...

    bare: Any = tool
    with pytest.raises(MisuseError, match="no default"):
        bare(pay)
    with pytest.raises(MisuseError, match="no default"):
        bare()
    with pytest.raises(MisuseError, match="effect must be 'read' or"):
        bare(effect="twice")


def variable(*amounts: int) -> None: ...
def keywords(**amounts: int) -> None: ...
def positional(amount: int, /) -> None: ...
def bare_parameter(amount) -> None: ...  # type: ignore[no-untyped-def] # what is refused
def two_contexts(a: EffectContext, b: EffectContext) -> None: ...
def taken(copy: int) -> None: ...
def private(_amount: int) -> None: ...
def field_default(amount: int = Field(default=1)) -> None: ...
def unknown_type(amount: "NoSuchType") -> None: ...  # type: ignore[name-defined] # noqa: F821 - what is refused
def unreadable(shop: Shop) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (variable, r"\*amounts"),
        (keywords, r"\*amounts"),
        (positional, "by position alone"),
        (bare_parameter, "no annotation for amount"),
        (two_contexts, "more than one context: a, b"),
        (taken, "a name that is taken"),
        (private, "a name that is taken"),
        (field_default, r"Annotated\[\.\.\., Field"),
        (unknown_type, "define their types at module level"),
        (unreadable, "cannot read"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_signature_that_no_model_can_fill_in_is_refused_with_its_place(
    function: Callable[..., object], words: str
) -> None:
    with pytest.raises(MisuseError, match=words) as refused:
        tool(effect="read")(function)
    assert f"the tool {function.__name__} ({__file__}, line " in str(refused.value)


def test_argument_without_a_schema_is_refused_with_its_place() -> None:
    def odd(number: complex) -> None: ...

    with pytest.raises(SchemaError) as refused:
        tool(effect="read")(odd)
    assert "odd" in refused.value.__notes__[0]


@pytest.mark.parametrize("name", ["", "a b", "pay!", "ä", "a" * (MAX_TOOL_NAME_CHARACTERS + 1), "pay\n"])
def test_name_that_servers_do_not_take_is_refused(name: str) -> None:
    with pytest.raises(MisuseError, match="needs a name of 1 to 64"):
        tool(effect="read", name=name)(allow_nothing)


def allow_nothing() -> None: ...


def test_name_may_have_64_characters() -> None:
    assert tool(effect="read", name="a" * 64)(allow_nothing).name == "a" * 64


def test_check_that_takes_other_arguments_is_refused() -> None:
    one: Any = lambda arguments: True  # noqa: E731 - a check of the wrong form
    with pytest.raises(MisuseError, match="authorize must take"):
        tool(effect="read", authorize=one)(allow_nothing)


def test_reading_is_never_in_doubt() -> None:
    with pytest.raises(MisuseError, match="leave out reconcile"):
        tool(effect="read", reconcile=reconcile)(allow_nothing)
    with pytest.raises(MisuseError, match="leave out reconcile"):
        tool(effect="transactional", reconcile=reconcile)(write)
    assert tool(effect="once", reconcile=reconcile)(allow_nothing).effect_of_call().reconcile is reconcile


def reconcile(key: str, record: object) -> Any: ...


def test_tool_in_the_place_of_its_effect_or_its_contract_says_what_to_give() -> None:
    misplaced: Any = deliver
    with pytest.raises(MisuseError, match=r"give its effect: tool\.effect"):
        Effect[Any, Any].of(misplaced)
    with pytest.raises(MisuseError, match=r"tool\.contract"):
        Contract.of(misplaced)


def test_two_tools_of_one_name_are_refused() -> None:
    again: Tool[..., object] = tool(effect="read", name="deliver")(allow_nothing)
    with pytest.raises(MisuseError, match="two tools have the name 'deliver'"):
        ToolSet.of([deliver, again])


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([], "tools is empty"),
        ("pay", "a list of tools"),
        ([allow], r"tools\[0\] must be a function under @tool"),
        (3, "a list of tools"),
    ],
)
def test_other_things_than_tools_are_refused(tools: Any, words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        ToolSet.of(tools)
