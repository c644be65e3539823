"""Let a part of a schema be a parameter: one out of several that were reviewed with the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import cast

from commitgate.argument import check_words, wrong_kind
from commitgate.errors import MisuseError, ParameterError
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.same_json import same_json
from commitgate.template.parameter import Parameter

MOST_SCHEMAS = 100
"""Most schemas out of which one parameter chooses: each is tried when the template is made."""


@dataclass(frozen=True, slots=True, init=False)
class OneOfSchemas(Parameter):
    """Stand for a schema: one of several, by its name.

    The schemas are part of the template, and of its digest. They hold no parameters of their own; their references are
    read where they are put, so ``#/$defs/...`` is the template's.

    Args:
        name: what ``fill`` calls it.
        schemas: JSON Schemas by the names by which ``fill`` chooses; at least one.
    """

    _schemas: Mapping[str, JsonSchema] = field(repr=False, hash=False)

    def __init__(self, name: str, schemas: Mapping[str, Mapping[str, object] | bool]) -> None:
        from commitgate.template.places import plain_part

        object.__setattr__(self, "name", name)
        Parameter.__post_init__(self)
        given = cast("object", schemas)
        if not isinstance(given, Mapping):
            raise wrong_kind(f"schemas of the parameter {name}", "a dict of schemas by name", given)
        found = cast("Mapping[object, object]", given)
        if not 1 <= len(found) <= MOST_SCHEMAS:
            raise MisuseError(f"the parameter {name} must have 1 to {MOST_SCHEMAS} schemas, found {len(found)}")
        kept: dict[str, JsonSchema] = {}
        for chosen, schema in found.items():
            check_words(f"the name of a schema of the parameter {name}", chosen)
            if not isinstance(schema, Mapping | bool):
                raise wrong_kind(f"each schema of the parameter {name}", "a dict or a boolean", schema)
            kept[cast("str", chosen)] = plain_part(cast("Mapping[str, object] | bool", schema), Limits())
        object.__setattr__(self, "_schemas", kept)

    def __eq__(self, other: object) -> bool:
        """Say whether the other chooses by the same name from the same schemas."""
        if not isinstance(other, OneOfSchemas):
            return NotImplemented
        return self.name == other.name and same_json(self._schemas, other._schemas)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its schemas, in their order."""
        return tuple(self._schemas)

    @property
    def keywords(self) -> frozenset[str]:
        """Return no keyword: it stands for a schema."""
        return frozenset()

    def value_of(self, argument: object) -> JsonValue:
        """Return the schema of a name."""
        if not isinstance(argument, str):
            raise wrong_kind(f"the parameter {self.name}", "the name of one of its schemas", argument)
        if argument not in self._schemas:
            raise ParameterError(self.name, f"takes the name of one of its {len(self._schemas)} schemas")
        return self._schemas[argument]

    def samples(self) -> Sequence[JsonValue]:
        """Return every schema."""
        return tuple(self._schemas.values())

    def widest(self, keyword: str) -> JsonObject:
        """Return the schema that allows what one of its schemas allows."""
        del keyword
        return {"anyOf": list[JsonValue](self._schemas.values())}

    def described(self) -> JsonObject:
        """Return it as a reviewer reads it."""
        return {"kind": "one_of_schemas", "name": self.name, "schemas": deepcopy(dict(self._schemas))}


__all__ = ["MOST_SCHEMAS", "OneOfSchemas"]
