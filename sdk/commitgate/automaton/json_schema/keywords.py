"""List the keywords of JSON Schema: what each is, in which drafts it stands and where it holds further schemas.

This table is the single place for that knowledge; the walk over a schema's places, the support rows and the digest of
what constrains are all read from it.

Source: JSON Schema drafts 4, 6, 7, 2019-09 and 2020-12, core and validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from commitgate.automaton.json_schema.drafts import Draft

Level: TypeAlias = Literal["decoded", "checked", "annotation"]


class Kind(StrEnum):
    """Say what a keyword does."""

    ASSERTION = "assertion"
    ANNOTATION = "annotation"
    CONTAINER = "container"


class Holds(StrEnum):
    """Say where schemas lie in a keyword's value."""

    NOTHING = "nothing"
    SCHEMA = "schema"
    LIST = "list"
    MAP = "map"
    SCHEMA_OR_LIST = "schema or list"
    MAP_OR_NAMES = "map of schemas or lists of names"


@dataclass(frozen=True, slots=True)
class Keyword:
    """Describe one keyword.

    Attributes:
        kind: whether it constrains, only annotates, or only holds schemas for references.
        holds: where schemas lie in its value.
        since: the first draft that has it.
        until: the last draft that has it.
        checked_where: where it is not decoded but checked after generation, beside what bounds every keyword: the
            alternatives of a place, the work of telling them apart, the size of one automaton.
    """

    kind: Kind
    holds: Holds = Holds.NOTHING
    since: Draft = Draft.DRAFT_4
    until: Draft = Draft.DRAFT_2020_12
    checked_where: str = ""


_ASSERTION, _ANNOTATION, _CONTAINER = Kind.ASSERTION, Kind.ANNOTATION, Kind.CONTAINER
_6, _7, _2019, _2020 = Draft.DRAFT_6, Draft.DRAFT_7, Draft.DRAFT_2019_09, Draft.DRAFT_2020_12

_COMPLEMENT = "the complement of its schema cannot be decoded"
_AUTOMATON = "its automaton would be too large"
_DYNAMIC = "several schemas may be meant, depending on the way to it"
_LOST = "a keyword beside it is only checked, or has too many alternatives to remember what each evaluates"
_CONDITION = "the if beside it is"
_COUNTED = "too many are counted side by side in one array"

KEYWORDS: Mapping[str, Keyword] = MappingProxyType(
    {
        # Any value.
        "type": Keyword(_ASSERTION),
        "enum": Keyword(_ASSERTION, checked_where="it lists more arrays and objects than Limits.branches"),
        "const": Keyword(_ASSERTION, since=_6),
        # Numbers.
        "minimum": Keyword(_ASSERTION),
        "maximum": Keyword(_ASSERTION),
        "exclusiveMinimum": Keyword(_ASSERTION),
        "exclusiveMaximum": Keyword(_ASSERTION),
        "multipleOf": Keyword(
            _ASSERTION, checked_where="the number has too many digits, here or elsewhere in the schema"
        ),
        # Strings.
        "minLength": Keyword(_ASSERTION),
        "maxLength": Keyword(_ASSERTION),
        "pattern": Keyword(_ASSERTION, checked_where=_AUTOMATON),
        "format": Keyword(_ASSERTION, checked_where="the format is no regular language; see below"),
        # Arrays.
        "items": Keyword(_ASSERTION, Holds.SCHEMA_OR_LIST),
        "prefixItems": Keyword(_ASSERTION, Holds.LIST, since=_2020),
        "additionalItems": Keyword(_ASSERTION, Holds.SCHEMA, until=_2019),
        "unevaluatedItems": Keyword(_ASSERTION, Holds.SCHEMA, since=_2019, checked_where=_LOST),
        "minItems": Keyword(_ASSERTION),
        "maxItems": Keyword(_ASSERTION),
        "uniqueItems": Keyword(_ASSERTION, checked_where="the values of the items are not listed, or more than 64"),
        "contains": Keyword(_ASSERTION, Holds.SCHEMA, since=_6, checked_where=_COUNTED),
        "minContains": Keyword(_ASSERTION, since=_2019, checked_where="the contains beside it is"),
        "maxContains": Keyword(_ASSERTION, since=_2019, checked_where="the contains beside it is"),
        # Objects.
        "properties": Keyword(_ASSERTION, Holds.MAP),
        "patternProperties": Keyword(_ASSERTION, Holds.MAP, checked_where=_AUTOMATON),
        "additionalProperties": Keyword(_ASSERTION, Holds.SCHEMA, checked_where="the patternProperties beside it is"),
        "unevaluatedProperties": Keyword(_ASSERTION, Holds.SCHEMA, since=_2019, checked_where=_LOST),
        "propertyNames": Keyword(_ASSERTION, Holds.SCHEMA, since=_6),
        "required": Keyword(_ASSERTION),
        "minProperties": Keyword(_ASSERTION),
        "maxProperties": Keyword(_ASSERTION, checked_where="several keys of other kinds must be found beside it"),
        "dependencies": Keyword(_ASSERTION, Holds.MAP_OR_NAMES),
        "dependentRequired": Keyword(_ASSERTION, since=_2019),
        "dependentSchemas": Keyword(_ASSERTION, Holds.MAP, since=_2019),
        # Schemas combined.
        "allOf": Keyword(_ASSERTION, Holds.LIST),
        "anyOf": Keyword(
            _ASSERTION,
            Holds.LIST,
            checked_where="its branches have more alternatives than Limits.branches, or than 100 sets of numbers",
        ),
        "oneOf": Keyword(
            _ASSERTION,
            Holds.LIST,
            checked_where="branches overlap whose complement cannot be decoded, or are too many to be told apart",
        ),
        "not": Keyword(_ASSERTION, Holds.SCHEMA, checked_where=_COMPLEMENT),
        "if": Keyword(_ASSERTION, Holds.SCHEMA, since=_7, checked_where=_COMPLEMENT),
        "then": Keyword(_ASSERTION, Holds.SCHEMA, since=_7, checked_where=_CONDITION),
        "else": Keyword(_ASSERTION, Holds.SCHEMA, since=_7, checked_where=_CONDITION),
        "$ref": Keyword(_ASSERTION),
        "$dynamicRef": Keyword(_ASSERTION, since=_2020, checked_where=_DYNAMIC),
        "$recursiveRef": Keyword(_ASSERTION, since=_2019, until=_2019, checked_where=_DYNAMIC),
        # Hold schemas that references reach.
        "$defs": Keyword(_CONTAINER, Holds.MAP, since=_2019),
        "definitions": Keyword(_CONTAINER, Holds.MAP),
        # Never constrain.
        "$schema": Keyword(_ANNOTATION),
        "$vocabulary": Keyword(_ANNOTATION, since=_2019),
        "id": Keyword(_ANNOTATION, until=Draft.DRAFT_4),
        "$id": Keyword(_ANNOTATION, since=_6),
        "$anchor": Keyword(_ANNOTATION, since=_2019),
        "$dynamicAnchor": Keyword(_ANNOTATION, since=_2020),
        "$recursiveAnchor": Keyword(_ANNOTATION, since=_2019, until=_2019),
        "$comment": Keyword(_ANNOTATION, since=_7),
        "title": Keyword(_ANNOTATION),
        "description": Keyword(_ANNOTATION),
        "default": Keyword(_ANNOTATION),
        "examples": Keyword(_ANNOTATION, since=_6),
        "deprecated": Keyword(_ANNOTATION, since=_2019),
        "readOnly": Keyword(_ANNOTATION, since=_7),
        "writeOnly": Keyword(_ANNOTATION, since=_7),
        "contentEncoding": Keyword(_ANNOTATION, since=_7),
        "contentMediaType": Keyword(_ANNOTATION, since=_7),
        "contentSchema": Keyword(_ANNOTATION, Holds.SCHEMA, since=_2019),
    }
)

UNKNOWN = Keyword(_ANNOTATION)
"""What a word that is not in the draft counts as (2020-12 core section 4.3.1)."""

_APPLICATORS = (
    "prefixItems",
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "properties",
    "patternProperties",
    "dependentSchemas",
    "propertyNames",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
)
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_OF_THE_CORE = ("$ref", "$dynamicRef", "$recursiveRef")


def _vocabularies() -> Mapping[str, frozenset[str]]:
    known: dict[str, frozenset[str]] = {
        "applicator": frozenset(_APPLICATORS),
        "unevaluated": frozenset(_UNEVALUATED),
        "format": frozenset({"format"}),
    }
    assertions = frozenset(name for name, entry in KEYWORDS.items() if entry.kind is _ASSERTION)
    validation = assertions.difference(*known.values(), _OF_THE_CORE, {"dependencies"})
    return MappingProxyType({**known, "validation": validation})


VOCABULARIES: Mapping[str, frozenset[str]] = _vocabularies()
"""The keywords that a meta-schema may leave out, by the last word of their vocabulary's URI."""


@cache
def keywords_of(draft: Draft) -> Mapping[str, Keyword]:
    """Return the keywords of one draft."""
    found = {name: known for name, known in KEYWORDS.items() if known.since <= draft <= known.until}
    if draft is Draft.DRAFT_2020_12:
        found["items"] = Keyword(_ASSERTION, Holds.SCHEMA)
    return MappingProxyType(found)


__all__ = ["KEYWORDS", "UNKNOWN", "VOCABULARIES", "Holds", "Keyword", "Kind", "Level", "keywords_of"]
