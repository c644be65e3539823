"""Check that contracts which are made to hurt end typed, soon, and before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import anyio

from commitgate.evaluation.adversarial.check import Check, Found, Run, all_of, failed
from commitgate.evaluation.adversarial.laws import ending_words, of_effects, of_endings, of_nothing_committed
from commitgate.evaluation.adversarial.stage import Scene, json_contract
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.languages import Choices, Edge, Grammar, Language, Machine, Regex

Hostile: TypeAlias = "JsonSchema | Language[str]"

_SOON_S = 10.0
"""Seconds within which a hostile contract must be refused, on a machine that does other work, too."""

_BIT: JsonObject = {"enum": [0, 1]}
_REFUSED = ("unsupported", "compile_failed")


def _chain(levels: int, link: Callable[[JsonObject], JsonObject]) -> JsonObject:
    parts: JsonObject = {f"d{n}": link({"$ref": f"#/$defs/d{n + 1}"}) for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {"type": "null"}}}


def _ring(levels: int, link: Callable[[JsonObject], JsonObject]) -> JsonObject:
    parts: JsonObject = {f"d{n}": link({"$ref": f"#/$defs/d{(n + 1) % levels}"}) for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": parts}


def _wrapped(levels: int, wrap: Callable[[JsonValue], JsonObject]) -> JsonObject:
    schema: JsonValue = {"type": "null"}
    for _ in range(levels):
        schema = wrap(schema)
    return cast("JsonObject", schema)


_SCHEMAS: Mapping[str, tuple[str, Callable[[], JsonSchema]]] = {
    "nothing_allowed": ("no value is allowed", lambda: False),
    "contradiction": ("two types that exclude each other", lambda: {"allOf": [{"type": "null"}, {"type": "object"}]}),
    "needs_itself": (
        "an object that needs itself",
        lambda: _ring(2, lambda ref: {"type": "object", "properties": {"a": ref}, "required": ["a"]}),
    ),
    "ring": ("references in a ring", lambda: _ring(3_000, lambda ref: ref)),
    "doubled_all_of": ("a reference doubled 25 times", lambda: _chain(25, lambda ref: {"allOf": [ref, ref]})),
    "doubled_one_of": ("an alternative doubled 25 times", lambda: _chain(25, lambda ref: {"oneOf": [ref, ref]})),
    "deep_schema": ("a schema nested 2,000 deep", lambda: _wrapped(2_000, lambda inner: {"items": inner})),
    "many_values": ("an enum of 100,001 values", lambda: {"enum": list(range(100_001))}),
    "long_pattern": ("a pattern of 10,001 letters", lambda: {"type": "string", "pattern": "a" * 10_001}),
    "deep_pattern": (
        "a pattern of 200 groups in each other",
        lambda: {"type": "string", "pattern": "(" * 200 + "a" + ")" * 200},
    ),
    "counted_pattern": (
        "repeats of repeats of repeats",
        lambda: {"type": "string", "pattern": "^(((a{1,99}){1,99}){1,99}){1,99}$"},
    ),
    "back_reference": ("a pattern that refers back", lambda: {"type": "string", "pattern": r"^(a|b)\1$"}),
    "broken_pattern": ("a pattern with an open bracket", lambda: {"type": "string", "pattern": "("}),
    "network": ("a reference to the network", lambda: {"$ref": "http://127.0.0.1:9/schema.json"}),
    "file": ("a reference to a file", lambda: {"$ref": "file:///etc/passwd"}),
    "nowhere": ("a reference to what is not there", lambda: {"$ref": "#/$defs/none"}),
    "unknown_draft": ("a draft that nobody knows", lambda: {"$schema": "https://example.com/draft", "type": "null"}),
    "no_type": ("a type that does not exist", lambda: {"type": "no_such_type"}),
    "wrong_keyword": ("a keyword with a value that it cannot have", lambda: {"type": "string", "maxLength": "many"}),
    "many_properties": (
        "10,001 properties",
        lambda: {"type": "object", "properties": {f"p{number}": True for number in range(10_001)}},
    ),
    "too_few_items": ("more items than there may be", lambda: {"type": "array", "minItems": 5, "maxItems": 4}),
    "no_number": (
        "no whole number between the bounds",
        lambda: {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    ),
}


_ENDLESS: Mapping[str, tuple[str, Callable[[], JsonSchema]]] = {
    "endless_array": ("a thousand million items", lambda: {"type": "array", "items": _BIT, "minItems": 10**9}),
    "endless_text": ("a text of a thousand million letters", lambda: {"type": "string", "minLength": 10**9}),
}
"""Legal, and longer than any answer: nothing but the limit on tokens can end it."""


def _shut() -> Machine:
    return Machine(start="a", accepting=["c"], edges=[Edge("a", "x", "b"), Edge("b", "y", "a")])


_LANGUAGES: Sequence[tuple[str, str, Callable[[], Language[str]]]] = (
    ("open_regex", "a pattern with an open group", lambda: Regex("(a")),
    ("impossible_regex", "a pattern that nothing matches", lambda: Regex("[^\\s\\S]")),
    ("loop_of_nothing", "a rule that is itself", lambda: Grammar("root ::= root")),
    ("no_end", "a rule that never ends", lambda: Grammar('root ::= "a" root')),
    ("missing_rule", "a rule that is not there", lambda: Grammar('root ::= "a" other')),
    ("open_grammar", "a grammar with an open bracket", lambda: Grammar("root ::= (")),
    ("no_choice", "no text to choose from", lambda: Choices(())),
    ("shut_machine", "a machine that never comes to its end", _shut),
)


def hostile_checks() -> Iterator[Check]:
    """Yield the checks of hostile contracts."""
    for name, (about, make) in _SCHEMAS.items():
        yield _check(name, about, make)
    for name, about, build in _LANGUAGES:
        yield _check(name, about, build)
    for name, (about, make) in _ENDLESS.items():
        law = "it ends typed and soon, and nothing is committed"
        yield Check(name=name, group="hostile", about=about, law=law, run=_bounded(make))


def _check(name: str, about: str, make: Callable[[], Hostile]) -> Check:
    law = "it ends typed and soon, and nothing is sent"
    return Check(name=name, group="hostile", about=about, law=law, run=_refused(make))


def _refused(make: Callable[[], Hostile]) -> Run:
    async def run(scene: Scene) -> Found:
        async with scene.stage() as stage:
            start = anyio.current_time()
            outcome = await stage.client.generate_structured(
                stage.model, cast("JsonObject", make()), prompt="Answer.", prompt_schema="none"
            )
            took_s = anyio.current_time() - start
            if stage.line.seen:
                return failed("it was sent", ending_words(outcome))
        if took_s > _SOON_S:
            return failed(f"it took more than {_SOON_S:g} s to refuse it", ending_words(outcome))
        return of_endings(outcome, _REFUSED)

    return run


def _bounded(make: Callable[[], JsonSchema]) -> Run:
    async def run(scene: Scene) -> Found:
        async with scene.stage() as stage:
            outcome = await stage.ask(await json_contract(make()), "Answer.", max_tokens=8, acts=True)
            nothing = all_of(of_nothing_committed(outcome), of_effects(outcome, stage.effects, 0))
        allowed = (*_REFUSED, "truncated", "violated", "invalid")
        return all_of(nothing, of_endings(outcome, allowed))

    return run


__all__ = ["hostile_checks"]
