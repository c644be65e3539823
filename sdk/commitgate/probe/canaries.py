"""Ask against single keywords of a schema: those that a server is said to ignore, or of which nothing is known.

Each canary asks for exactly the value that the keyword forbids. An answer that keeps to it proves something only where
the same, asked without the keyword, gives the forbidden value: else the model did not do what it was told anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from commitgate.automaton.json_schema import Satisfiability
from commitgate.backends.translation import Translation
from commitgate.backends.translation.shapes import SAME
from commitgate.contract import Contract
from commitgate.json_value import JsonObject
from commitgate.languages import AnyJson
from commitgate.lint.places import Depths
from commitgate.lint.vendor_cases import cases_of
from commitgate.lint.vendor_facts import CASES, FACTS, Reaction
from commitgate.probe.plan import Step
from commitgate.probe.question import Draw, Question, salt, word

_MAX_TOKENS = 192

Canary: TypeAlias = "tuple[JsonObject, JsonObject, str]"
"""The schema with the keyword, the same without it, and the words that ask for what it forbids."""

_ASKED = frozenset({Reaction.IGNORED, Reaction.WRONG, Reaction.UNKNOWN})


def canaries(vendor: str, *, trials: int, contract: Contract[object] | None = None) -> tuple[Step, ...]:
    """Return the canaries of a server: for what it is said to ignore or get wrong, and for what is not sure.

    Args:
        vendor: its column in the table of what servers enforce.
        trials: answers that must agree, >= 2.
        contract: asks only for the keywords that stand in its schema; None asks for all.
    """
    wanted = [case for case in CASES if _is_asked(vendor, case)]
    if contract is not None:
        used = _used(contract)
        wanted = [case for case in wanted if case in used]
    return tuple(_step(case, trials) for case in wanted if contract is not None or case in _CANARIES)


def _is_asked(vendor: str, case: str) -> bool:
    fact = FACTS.get((vendor, case))
    if fact is None or fact.reaction is Reaction.UNKNOWN:
        return True
    return fact.reaction in _ASKED or (fact.reaction is Reaction.TAKEN and not fact.is_sure)


def _used(contract: Contract[object]) -> frozenset[str]:
    if not isinstance(contract.analysis, Satisfiability):
        return frozenset()
    document = contract.analysis.meaning.document
    return frozenset(case for case, _, _ in cases_of(document, Depths(document)))


def _step(case: str, trials: int) -> Step:
    make = _CANARIES.get(case)
    return Step(
        name=case,
        kind="keyword",
        about=CASES[case],
        form="json_schema",
        ask=None if make is None else partial(_ask, make),
        control=None if make is None else partial(_ask_control, make),
        trials=trials,
    )


def _ask(make: Callable[[Draw], Canary], draw: Draw) -> Question:
    schema, _, prompt = make(draw)
    return _question(schema, schema, prompt, draw)


def _ask_control(make: Callable[[Draw], Canary], draw: Draw) -> Question:
    schema, without, prompt = make(draw)
    return _question(without, schema, prompt, draw)


def _question(sent: JsonObject, judged: JsonObject, prompt: str, draw: Draw) -> Question:
    return Question(
        expects="keyword",
        translation=Translation(sent=_any(), form="json_schema", shape=SAME, schema=sent),
        prompt=f"Answer with a JSON object. {prompt} {salt(draw)}",
        max_tokens=_MAX_TOKENS,
        schema=judged,
    )


def _any() -> Contract[object]:
    return Contract.of(AnyJson())


def _object(properties: JsonObject, required: Sequence[str], **more: JsonObject | bool) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def _one(schema: JsonObject, *without: str, asks: str) -> Canary:
    """Return a canary on the one property of an object."""
    bare: JsonObject = {name: value for name, value in schema.items() if name not in without}
    return _object({"v": schema}, ["v"]), _object({"v": bare}, ["v"]), f'Its one key is "v". {asks}'


_ELEPHANT = "The value of v is the word elephant."


def _text(draw: Draw, **keywords: str | int) -> Canary:
    del draw
    schema: JsonObject = {"type": "string", **keywords}
    return _one(schema, *keywords, asks=_ELEPHANT)


def _bound(draw: Draw, *, kind: str, keyword: str) -> Canary:
    most = 100 + draw(900)
    is_upper = keyword.endswith("aximum")
    return _one(
        {"type": kind, keyword: most},
        keyword,
        asks=f"The value of v is the number {most * 10 if is_upper else most // 10}.",
    )


def _multiple(draw: Draw) -> Canary:
    return _one(
        {"type": "integer", "multipleOf": 1000},
        "multipleOf",
        asks=f"The value of v is the number {1001 + draw(900)}.",
    )


def _negation(draw: Draw) -> Canary:
    first, second = word(draw), word(draw)
    schema: JsonObject = {"type": "string", "enum": [first, second], "not": {"const": first}}
    return _one(schema, "not", asks=f"The value of v is {first}.")


def _listed(draw: Draw, *, keywords: Mapping[str, JsonObject | bool]) -> Canary:
    del draw
    items: JsonObject = {"type": "integer", "enum": [0, 1, 2]}
    schema: JsonObject = {"type": "array", "items": items, "minItems": 3, "maxItems": 3, **keywords}
    return _one(schema, *keywords, asks="The value of v is a list of three zeros.")


def _sized(draw: Draw, *, keyword: str, asks: str) -> Canary:
    del draw
    number: JsonObject = {"type": "integer"}
    schema: JsonObject = {"type": "object", "additionalProperties": number}
    return {**schema, keyword: 2}, schema, asks


def _dependent(draw: Draw, *, more: JsonObject) -> Canary:
    del draw
    number: JsonObject = {"type": "integer"}
    schema = _object({"a": number, "b": number}, [])
    return {**schema, **more}, schema, 'Its one key is "a", with the value 1. It has no other key.'


def _exclusive(draw: Draw) -> Canary:
    whole = 2 + draw(90)
    number: JsonObject = {"type": "number"}
    either: JsonObject = {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    asks = f'Its one key is "v", whose value is {whole}.'
    return _object({"v": either}, ["v"]), _object({"v": number}, ["v"]), asks


def _sibling(draw: Draw) -> Canary:
    del draw
    definitions: JsonObject = {"s": {"type": "string"}}
    schema = _object({"v": {"$ref": "#/$defs/s", "maxLength": 3}}, ["v"], **{"$defs": definitions})
    without = _object({"v": {"$ref": "#/$defs/s"}}, ["v"], **{"$defs": definitions})
    return schema, without, f'Its one key is "v". {_ELEPHANT}'


def _undeclared(draw: Draw) -> Canary:
    del draw
    number: JsonObject = {"type": "integer"}
    schema: JsonObject = {"type": "object", "properties": {"a": number}, "required": ["a", "b"]}
    return schema, {**schema, "required": ["a"]}, 'Its one key is "a", with the value 1. It has no other key.'


_IF: JsonObject = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
_DEPENDENT: JsonObject = {"dependentRequired": {"a": ["b"]}}

_CANARIES: Mapping[str, Callable[[Draw], Canary]] = MappingProxyType(
    {
        "integer_bound": partial(_bound, kind="integer", keyword="maximum"),
        "integer_exclusive_bound": partial(_bound, kind="integer", keyword="exclusiveMaximum"),
        "number_minimum": partial(_bound, kind="number", keyword="minimum"),
        "number_maximum": partial(_bound, kind="number", keyword="maximum"),
        "number_exclusive_bound": partial(_bound, kind="number", keyword="exclusiveMaximum"),
        "multiple_of": _multiple,
        "min_length": partial(_text, minLength=12),
        "max_length": partial(_text, maxLength=3),
        "anchored_pattern": partial(_text, pattern="^[0-9]{4}$"),
        "unanchored_pattern": partial(_text, pattern="[0-9]{4}"),
        "pattern_class": partial(_text, pattern=r"^\d{4}$"),
        "pattern_with_length": partial(_text, pattern="^[0-9]+$", maxLength=4),
        "format_date_time": partial(_text, format="date-time"),
        "format_date": partial(_text, format="date"),
        "format_email": partial(_text, format="email"),
        "format_uuid": partial(_text, format="uuid"),
        "format_uri": partial(_text, format="uri"),
        "format_listed": partial(_text, format="ipv4"),
        "not": _negation,
        "unique_items": partial(_listed, keywords={"uniqueItems": True}),
        "contains": partial(_listed, keywords={"contains": {"const": 1}}),
        "min_properties": partial(_sized, keyword="minProperties", asks='Its one key is "a", with the value 1.'),
        "max_properties": partial(
            _sized, keyword="maxProperties", asks='Its keys are "a", "b" and "c", each with the value 1.'
        ),
        "dependent_required": partial(_dependent, more=_DEPENDENT),
        "if_then_else": partial(_dependent, more=_IF),
        "one_of_overlapping": _exclusive,
        "reference_with_siblings": _sibling,
        "undeclared_required": _undeclared,
    }
)

CANARIES = frozenset(_CANARIES)
"""The cases of the vendors' table for which there is a canary."""

__all__ = ["CANARIES", "canaries"]
