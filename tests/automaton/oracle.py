"""Judge JSON texts with an implementation that is not ours: ``jsonschema``, numbers read as decimals, formats unread.

Four of its keywords are replaced, because they are inexact there: ``uniqueItems`` (compares neighbours of a sorted list
alone), ``multipleOf`` (rounds), and the patterns of ``pattern`` and ``patternProperties``, which are Python's: there
``$`` also stands before a last line feed and classes know all of Unicode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, cast

import jsonschema
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from commitgate.json_value import JsonSchema, JsonValue

if TYPE_CHECKING:
    from jsonschema import TypeChecker


class _Judge(Protocol):
    """Stand for a validator, which takes decimals too."""

    def is_valid(self, instance: object) -> bool: ...

    def is_type(self, instance: object, type: str) -> bool: ...


DRAFTS: dict[str, tuple[str, type[Validator]]] = {
    "4": ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    "6": ("http://json-schema.org/draft-06/schema#", jsonschema.Draft6Validator),
    "7": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "2019-09": ("https://json-schema.org/draft/2019-09/schema", jsonschema.Draft201909Validator),
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", jsonschema.Draft202012Validator),
}
"""The drafts by name: what ``$schema`` says, and who judges."""

DEFAULT = "2020-12"


def is_integer(checker: TypeChecker, value: object) -> bool:
    """Return whether ``value`` is an integer mathematically, which is how JSON Schema means the word."""
    del checker
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def is_literal_integer(checker: TypeChecker, value: object) -> bool:
    """Return whether ``value`` was written without point and exponent, as draft 4 asks."""
    del checker
    return isinstance(value, int) and not isinstance(value, bool)


def same(first: object, second: object) -> bool:
    """Return whether two values are equal as JSON Schema means it."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list) and isinstance(second, list):
        ours, theirs = cast("list[object]", first), cast("list[object]", second)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(first, dict) and isinstance(second, dict):
        mine, other = cast("dict[str, object]", first), cast("dict[str, object]", second)
        return mine.keys() == other.keys() and all(same(mine[key], other[key]) for key in mine)
    return first == second


def unique_items(
    validator: _Judge, asked: bool, instance: object, schema: object
) -> Iterator[jsonschema.ValidationError]:
    """Compare each item with each other."""
    del schema
    if asked and validator.is_type(instance, "array"):
        items = cast("list[object]", instance)
        if any(same(items[index], other) for index in range(len(items)) for other in items[:index]):
            yield jsonschema.ValidationError("two items are equal")


def multiple_of(
    validator: _Judge, divisor: int | Decimal, instance: object, schema: object
) -> Iterator[jsonschema.ValidationError]:
    """Divide exactly."""
    del schema
    if validator.is_type(instance, "number"):
        quotient = Fraction(cast("int | Decimal", instance)) / Fraction(divisor)
        if quotient.denominator != 1:
            yield jsonschema.ValidationError("no multiple")


def _validator(name: str) -> Callable[..., _Judge]:
    base = DRAFTS[name][1]
    checker = base.TYPE_CHECKER.redefine("integer", is_literal_integer if name == "4" else is_integer)
    made = extend(base, {"uniqueItems": unique_items, "multipleOf": multiple_of}, type_checker=checker)
    return cast("Callable[..., _Judge]", made)


VALIDATORS = {name: _validator(name) for name in DRAFTS}


def draft_name(schema: JsonValue) -> str:
    """Return the name of the draft that ``$schema`` chooses."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    return next((name for name, (uri, _) in DRAFTS.items() if uri == named), DEFAULT)


def reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object, refusing a key that comes twice, as the gate does."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def reject_constant(name: str) -> object:
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(name)


def load(text: bytes) -> object:
    """Return the value of a JSON text, exactly."""
    return json.loads(
        text.decode(),
        parse_float=Decimal,
        parse_constant=reject_constant,
        object_pairs_hook=reject_duplicates,
    )


def python_pattern(pattern: str) -> str:
    """Return an ECMA-262 pattern, of those that tests use, as Python writes it."""
    return "(?a:" + re.sub(r"(?<!\\)\$", r"\\Z", pattern) + ")"


def with_python_patterns(schema: JsonValue) -> JsonValue:
    """Return a schema with every pattern as Python writes it; listed values are left alone."""
    if isinstance(schema, list):
        return [with_python_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, JsonValue] = {}
    for name, value in schema.items():
        if name in ("const", "enum", "default", "examples"):
            found[name] = value
        elif name == "pattern" and isinstance(value, str):
            found[name] = python_pattern(value)
        elif name == "patternProperties" and isinstance(value, dict):
            found[name] = {python_pattern(key): with_python_patterns(item) for key, item in value.items()}
        else:
            found[name] = with_python_patterns(value)
    return found


class Oracle:
    """Judge texts by one schema.

    Args:
        schema: in the draft that its ``$schema`` chooses.
        documents: further schemas by URI.
    """

    def __init__(self, schema: JsonValue, documents: Mapping[str, JsonSchema] | None = None) -> None:
        registry: Registry[JsonValue] = Registry()
        for uri, document in (documents or {}).items():
            resource = Resource.from_contents(_exact(document), default_specification=DRAFT202012)
            registry = registry.with_resource(uri, resource)
        self._validator = VALIDATORS[draft_name(schema)](_exact(schema), registry=registry)

    def is_valid(self, text: bytes) -> bool:
        """Return whether ``text`` is JSON, without duplicate keys, that satisfies the schema."""
        try:
            value = load(text)
        except ValueError:
            return False
        return self._validator.is_valid(value)


def _exact(schema: JsonValue) -> JsonValue:
    return cast("JsonValue", json.loads(json.dumps(with_python_patterns(schema)), parse_float=Decimal))


def is_valid(schema: JsonValue, text: bytes) -> bool:
    """Return whether ``text`` is JSON, without duplicate keys, that satisfies ``schema``."""
    return Oracle(schema).is_valid(text)
