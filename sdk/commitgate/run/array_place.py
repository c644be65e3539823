"""Say whether a contract can have an array at a pointer at all.

Only what the schema shows for certain counts: types, declared and closed properties, items, listed values, references
and their combinations. Conditions, patterns of keys, negation and unevaluated parts are not weighed: there the answer
is that it may. Work and depth are bounded, whatever the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from commitgate.contract import Contract
from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import ARRAY_INDEX, child, tokens_of, value_at

_MOST_STEPS = 100
"""Most steps within one another, into a value or from schema to schema, that are followed; past them it may."""

_REFERRING: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def may_hold_array(contract: Contract[object], pointer: str) -> bool:
    """Return whether some value of the contract may have an array at a place.

    Args:
        contract: what the value satisfies.
        pointer: the place, as a JSON pointer (RFC 6901).
    """
    if contract.text is not None:
        return False
    return schema_may_hold_array(contract.schema, pointer, contract.documents)


def schema_may_hold_array(schema: JsonSchema, pointer: str, documents: Mapping[str, JsonSchema] | None = None) -> bool:
    """Return whether some value of a schema, of whichever draft, may have an array at a place.

    Args:
        schema: a JSON Schema.
        pointer: the place, as a JSON pointer.
        documents: further schemas by absolute URI, which references may name.
    """
    return _Places(References(schema, documents), tokens_of(pointer)).may(schema, 0, 0)


class _Places:
    """Walk a schema along the tokens of a pointer, each schema at each of them once."""

    def __init__(self, references: References, tokens: list[str]) -> None:
        self._references = references
        self._tokens = tokens
        self._known: dict[tuple[int, int], bool] = {}

    def may(self, schema: JsonValue, at: int, steps: int) -> bool:
        """Return whether a value of ``schema`` may have an array where the tokens from ``at`` on lead."""
        if not isinstance(schema, dict):
            return schema is not False
        key = (id(schema), at)
        if key not in self._known:
            self._known[key] = True  # what a reference leads back to says nothing more
            self._known[key] = steps >= _MOST_STEPS or self._may(schema, at, steps + 1)
        return self._known[key]

    def _may(self, schema: JsonObject, at: int, steps: int) -> bool:
        if any(isinstance(schema.get(keyword), str) for keyword in _REFERRING):
            # What stands beside a reference counts in newer drafts alone, and is left out.
            return any(self.may(target, at, steps) for target in self._references.referred(schema))
        return (
            all(self.may(member, at, steps) for member in _list(schema, "allOf"))
            and all(
                any(self.may(member, at, steps) for member in _list(schema, keyword))
                for keyword in ("anyOf", "oneOf")
                if _list(schema, keyword)
            )
            and self._may_by_values(schema, at)
            and self._may_by_kind(schema, at, steps)
        )

    def _may_by_values(self, schema: JsonObject, at: int) -> bool:
        values = _list(schema, "enum") if "enum" in schema else [schema["const"]] if "const" in schema else None
        return values is None or any(self._has_array(value, at) for value in values)

    def _has_array(self, value: JsonValue, at: int) -> bool:
        try:
            return isinstance(value_at(value, child("", *self._tokens[at:])), list)
        except KeyError:
            return False

    def _may_by_kind(self, schema: JsonObject, at: int, steps: int) -> bool:
        kinds = schema.get("type", ["array", "object"])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if at == len(self._tokens):
            return "array" in kinds
        token = self._tokens[at]
        inner: list[JsonValue] = []
        if "object" in kinds:
            inner += _under_key(schema, token)
        if "array" in kinds and ARRAY_INDEX.fullmatch(token):
            inner += _at_index(schema, int(token))
        return any(self.may(member, at + 1, steps) for member in inner)


def _under_key(schema: JsonObject, key: str) -> Iterator[JsonValue]:
    """Yield the schemas of which one at least holds for the value under a key."""
    declared = schema.get("properties")
    if isinstance(declared, dict) and key in declared:
        yield declared[key]
        return
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict):
        yield from patterns.values()
    yield schema.get("additionalProperties")


def _at_index(schema: JsonObject, index: int) -> Iterator[JsonValue]:
    """Yield the schemas of which one at least holds for an item, whichever draft it is."""
    prefix, items = _list(schema, "prefixItems"), schema.get("items")
    if index < len(prefix):
        yield prefix[index]
    if isinstance(items, list):
        yield items[index] if index < len(items) else schema.get("additionalItems")
    else:
        yield items


def _list(schema: JsonObject, keyword: str) -> list[JsonValue]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


__all__ = ["may_hold_array", "schema_may_hold_array"]
