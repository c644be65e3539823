"""Patterns that are too many or too large to be decoded: they are read once, made ready late, and never let through."""

from __future__ import annotations

import pytest

from commitgate import Contract
from commitgate.automaton import compile
from commitgate.automaton.regex import search
from commitgate.errors import LimitExceededError, SchemaError, UnsupportedError
from commitgate.gate import pattern_search
from commitgate.gate.pattern_search import MAX_VALUE_STEPS, PatternSearch, one_look
from commitgate.gate.schema_layer import UNLISTED, SchemaLayer
from commitgate.json_value import JsonObject, JsonValue
from commitgate.limits import Limits

EXPLODING = "(a|b)*a(a|b){1000}c"
"""Too large for an automaton; looking for it in a long text of two letters takes more than its share of steps."""
LONG = "ab" * 200


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a text 20,000 steps and a value 40,000, so that tests take little time."""
    monkeypatch.setattr(search, "MAX_WALK_STEPS", 20_000)
    monkeypatch.setattr(pattern_search, "MAX_VALUE_STEPS", 40_000)


@pytest.mark.usefixtures("few_steps")
def test_value_in_which_a_pattern_is_given_up_is_refused_under_not_too() -> None:
    schemas: list[JsonObject] = [{"pattern": EXPLODING}, {"not": {"pattern": EXPLODING}}]
    for schema in schemas:
        (failure,) = SchemaLayer(schema).judge(LONG)
        assert failure.code == UNLISTED


@pytest.mark.usefixtures("few_steps")
def test_what_one_value_takes_is_no_loss_to_the_next() -> None:
    layer = SchemaLayer({"not": {"pattern": EXPLODING}})
    for _ in range(2):
        assert layer.judge(LONG) != ()
        assert layer.judge("ab") == ()


@pytest.mark.usefixtures("few_steps")
def test_all_texts_of_a_value_share_their_steps() -> None:
    layer = SchemaLayer({"items": {"not": {"pattern": EXPLODING}}})
    text = "ab" * 30
    assert layer.judge([text]) == ()
    (failure,) = layer.judge([text + "ab" * n for n in range(100)])
    assert failure.code == UNLISTED


def test_steps_are_counted_in_one_look_alone() -> None:
    finds = PatternSearch().finds(EXPLODING)
    with one_look() as look:
        finds("ab" * 50)
    taken = look.steps
    assert 0 < taken < MAX_VALUE_STEPS
    finds("ab" * 50)
    assert look.steps == taken
    with one_look() as outer:
        with one_look() as inner:
            finds("ab" * 50)
        assert (outer.steps, inner.steps > 0) == (0, True)


MANY: list[JsonValue] = [{"pattern": f"a.{{{n}}}b"} for n in range(1, 60)]
"""More than the work that patterns may take together."""


def test_pattern_that_comes_when_no_work_is_left_is_checked_and_still_means_what_it_says() -> None:
    schema: JsonObject = {"allOf": [*MANY, {"pattern": "^z"}]}
    levels = {row.pointer: row.level for row in compile(schema).support}
    assert levels["/allOf/59"] == "checked"
    layer = SchemaLayer({"anyOf": [*MANY, {"pattern": "^z"}]})
    assert layer.judge("z") == ()
    assert layer.judge("y") != ()


def test_malformed_pattern_is_refused_also_when_no_work_is_left() -> None:
    schema: JsonObject = {"allOf": [*MANY, {"pattern": "("}]}
    with pytest.raises(SchemaError):
        compile(schema)
    with pytest.raises(SchemaError):
        SchemaLayer(schema)


TOO_LARGE = "((a{0,100}){0,100}){0,100}"


def test_pattern_too_large_to_be_looked_for_is_refused_as_long_as_work_is_left() -> None:
    with pytest.raises(UnsupportedError):
        compile({"pattern": TOO_LARGE})
    schema: JsonObject = {"allOf": [*MANY, {"pattern": TOO_LARGE}]}
    assert {row.level for row in compile(schema).support if row.pointer == "/allOf/59"} == {"checked"}
    (failure,) = SchemaLayer({"anyOf": [*MANY, {"pattern": TOO_LARGE}]}).judge("y")
    assert failure.code == UNLISTED


def patterns(characters: int, each: int) -> JsonObject:
    """Return a schema whose patterns, all of them different, have so many characters together."""
    whole, rest = divmod(characters, each)
    texts = [f"{n:0{each}}" for n in range(whole)] + ["b" * rest] * bool(rest)
    return {"anyOf": [{"pattern": text} for text in texts]}


@pytest.mark.parametrize(("limit", "each"), [(5, 3), (Limits().pattern_characters, 5_000)], ids=["small", "default"])
def test_all_patterns_together_are_bounded_for_each_contract(limit: int, each: int) -> None:
    limits = Limits() if limit == Limits().pattern_characters else Limits(pattern_characters=limit)
    for _ in range(2 if limit == 5 else 1):
        Contract.of(patterns(10 * limit - 1, each), limits=limits)
        Contract.of(patterns(10 * limit, each), limits=limits)
        with pytest.raises(LimitExceededError) as caught:
            Contract.of(patterns(10 * limit + 1, each), limits=limits)
        error = caught.value
        assert (error.limit_name, error.limit, error.found) == ("pattern_characters", 10 * limit, 10 * limit + 1)
        assert error.pointer.startswith("/anyOf/")


def test_pattern_that_comes_again_counts_once() -> None:
    again = {"anyOf": [{"pattern": "abcd", "minLength": n} for n in range(20)]}
    Contract.of(again, limits=Limits(pattern_characters=5))
