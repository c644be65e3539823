"""Effects: their names, how they run, and what becomes of their results."""

import functools
import math
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from commitgate.effect import Effect, EffectContext
from commitgate.errors import MisuseError

CONTEXT = EffectContext(key="canary", fence=1, attempt=1, deadline=None)


class Ticket(BaseModel):
    title: str
    due: date


@dataclass
class Point:
    x: int
    y: Decimal


class NotJson:
    pass


def open_ticket(value: str, context: EffectContext) -> str:
    return f"{value} {context.fence}"


async def open_ticket_async(value: str, context: EffectContext) -> str:
    return f"{value} {context.fence}"


class Desk:
    def open_ticket(self, value: str, context: EffectContext) -> str:
        return f"{value} {context.fence}"

    async def __call__(self, value: str, context: EffectContext) -> str:
        return f"{value} {context.fence}"


def named(function: Callable[..., Any], **attributes: object) -> Callable[..., Any]:
    for attribute, value in attributes.items():
        setattr(function, attribute, value)
    return function


def returning(annotation: object) -> Callable[[object, EffectContext], object]:
    def effect(value: object, context: EffectContext) -> object:
        del context
        return value

    effect.__annotations__["return"] = annotation
    return effect


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (open_ticket, "open_ticket"),
        (open_ticket_async, "open_ticket_async"),
        (Desk().open_ticket, "Desk.open_ticket"),
        (Desk(), "Desk"),
        (returning(str), "returning.<locals>.effect"),
    ],
)
def test_an_effect_is_named_by_where_it_is_defined(function: Callable[..., Any], name: str) -> None:
    assert Effect.of(function).name == f"{__name__}.{name}"
    assert Effect.of(function).version == "1"


@pytest.mark.parametrize("function", [lambda value, context: None, functools.partial(open_ticket)])
def test_an_explicit_name_and_version_win(function: Callable[..., Any]) -> None:
    effect = Effect.of(named(function, effect_name="shop.refund", effect_version="7"))
    assert (effect.name, effect.version) == ("shop.refund", "7")


@pytest.mark.parametrize(
    "function",
    [
        lambda value, context: None,
        functools.partial(open_ticket),
        None,
        "open_ticket",
        named(returning(str), effect_name=""),
        named(returning(str), effect_name=7),
        named(returning(str), effect_version=""),
        named(returning(str), effect_version=2),
        returning(NotJson),
        returning(list[NotJson]),
    ],
)
def test_what_cannot_be_told_apart_or_stored_is_misuse(function: Any) -> None:
    with pytest.raises(MisuseError):
        Effect.of(function)


async def returns_awaitable() -> str:
    return "later"


def hand_on(value: str, context: EffectContext) -> Awaitable[str]:
    del value, context
    return returns_awaitable()


hand_on.__annotations__["return"] = str


@pytest.mark.anyio
@pytest.mark.parametrize("function", [open_ticket, open_ticket_async, Desk().open_ticket, Desk()])
async def test_sync_and_async_effects_run(function: Callable[..., Any]) -> None:
    assert await Effect.of(function).run("a", CONTEXT) == "a 1"


@pytest.mark.anyio
async def test_a_function_that_hands_on_a_coroutine_is_awaited() -> None:
    assert await Effect.of(hand_on).run("a", CONTEXT) == "later"


@pytest.mark.anyio
async def test_a_sync_effect_runs_off_the_event_loop() -> None:
    def effect(value: str, context: EffectContext) -> int:
        del value, context
        return threading.get_ident()

    assert await Effect.of(effect).run("a", CONTEXT) != threading.get_ident()


@pytest.mark.parametrize(
    ("annotation", "result"),
    [
        (str, "T-1"),
        (type(None), None),
        (Ticket, Ticket(title="a", due=date(2026, 11, 30))),
        (list[Point], [Point(1, Decimal("0.10"))]),
        (dict[str, int | None], {"a": None}),
        (Any, {"a": [1, 2.5, "ü\0", True]}),
        (object, 7),
        ("Unresolvable", [1]),
        ("no expression", [1]),
        ("1/0", [1]),
        (int, 2**80),
    ],
)
def test_a_result_comes_back_as_it_was(annotation: object, result: object) -> None:
    effect = Effect.of(returning(annotation))
    assert effect.load(effect.dump(result)) == result


def test_a_result_without_annotation_comes_back_as_plain_json() -> None:
    def effect(value, context):
        pass

    described = Effect.of(effect)
    assert described.load(described.dump((1, Point(1, Decimal("0.1"))))) == [1, {"x": 1, "y": "0.1"}]


def test_a_result_that_belies_its_annotation_is_kept_as_plain_json() -> None:
    effect = Effect.of(returning(int))
    assert effect.load(effect.dump({"a": 1})) == {"a": 1}


LOOP: list[object] = []
LOOP.append(LOOP)


def test_an_annotation_without_json_form_is_told_with_what_is_wrong_with_it() -> None:
    class Opaque: ...

    with pytest.raises(MisuseError, match=r"no JSON form.*\(.*Opaque.*\); return plain data"):
        Effect.of(returning(Opaque))


@pytest.mark.parametrize("annotation", [Any, float, list[float], str])
@pytest.mark.parametrize(
    "result", [NotJson(), math.nan, [math.inf], "\ud800", b"\xff", LOOP], ids=lambda r: type(r).__name__
)
def test_a_result_without_json_form_is_refused_and_not_shown(annotation: object, result: object) -> None:
    with pytest.raises(ValueError, match=r"^its result, of type \w+, cannot be stored as JSON$"):
        Effect.of(returning(annotation)).dump(result)


def test_a_context_does_not_show_its_key() -> None:
    assert "canary" not in repr(CONTEXT)
