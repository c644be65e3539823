"""List the keywords of JSON Schema: what each is, where it holds further schemas, and how far it is enforced.

This table is the single place for that knowledge; the support rows, the annotation stripper and the refusal of what
cannot be enforced are all read from it.

Source: JSON Schema 2020-12 core and validation, and the keyword lists of drafts 4, 6, 7 and 2019-09.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["decoded", "checked", "rejected"]


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


@dataclass(frozen=True, slots=True)
class Keyword:
    """Describe one keyword.

    Attributes:
        kind: whether it constrains, only annotates, or only holds schemas for references.
        holds: where schemas lie in its value.
        level: how far it is enforced.
        advice: for a rejected one, what to write instead.
    """

    kind: Kind
    holds: Holds = Holds.NOTHING
    level: Level = "decoded"
    advice: str = ""


_LATER = "it is not supported yet; "


def _rejected(advice: str, holds: Holds = Holds.NOTHING) -> Keyword:
    return Keyword(Kind.ASSERTION, holds, "rejected", _LATER + advice)


_CHECK_IN_RULE = (
    "leave it out and check it in a rule, or give a pydantic field a plainer schema with WithJsonSchema, "
    "which its type then checks"
)
_LIST_BRANCHES = "write the alternatives with anyOf"
_MERGE = "merge the schemas into one by hand"

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""The one dialect that is read so far; also the one meant where ``$schema`` is missing."""

KEYWORDS: dict[str, Keyword] = {
    # Enforced by the automaton.
    "type": Keyword(Kind.ASSERTION),
    "enum": Keyword(Kind.ASSERTION),
    "const": Keyword(Kind.ASSERTION),
    "properties": Keyword(Kind.ASSERTION, Holds.MAP),
    "required": Keyword(Kind.ASSERTION),
    "additionalProperties": Keyword(Kind.ASSERTION, Holds.SCHEMA),
    "items": Keyword(Kind.ASSERTION, Holds.SCHEMA),
    "prefixItems": Keyword(Kind.ASSERTION, Holds.LIST),
    "minItems": Keyword(Kind.ASSERTION),
    "maxItems": Keyword(Kind.ASSERTION),
    "minLength": Keyword(Kind.ASSERTION),
    "maxLength": Keyword(Kind.ASSERTION),
    "anyOf": Keyword(Kind.ASSERTION, Holds.LIST),
    "$ref": Keyword(Kind.ASSERTION),
    # Refused until they are enforced.
    "allOf": _rejected(_MERGE, Holds.LIST),
    "oneOf": _rejected(_LIST_BRANCHES, Holds.LIST),
    "not": _rejected(_CHECK_IN_RULE, Holds.SCHEMA),
    "if": _rejected(_LIST_BRANCHES, Holds.SCHEMA),
    "then": _rejected(_LIST_BRANCHES, Holds.SCHEMA),
    "else": _rejected(_LIST_BRANCHES, Holds.SCHEMA),
    "dependentRequired": _rejected(_LIST_BRANCHES),
    "dependentSchemas": _rejected(_LIST_BRANCHES, Holds.MAP),
    "dependencies": _rejected(_LIST_BRANCHES),
    "pattern": _rejected(_CHECK_IN_RULE),
    "format": _rejected(_CHECK_IN_RULE),
    "minimum": _rejected(_CHECK_IN_RULE),
    "maximum": _rejected(_CHECK_IN_RULE),
    "exclusiveMinimum": _rejected(_CHECK_IN_RULE),
    "exclusiveMaximum": _rejected(_CHECK_IN_RULE),
    "multipleOf": _rejected(_CHECK_IN_RULE),
    "patternProperties": _rejected("list the keys in properties", Holds.MAP),
    "propertyNames": _rejected(_CHECK_IN_RULE, Holds.SCHEMA),
    "minProperties": _rejected("name the keys in required"),
    "maxProperties": _rejected("set additionalProperties to false"),
    "unevaluatedProperties": _rejected("use additionalProperties", Holds.SCHEMA),
    "unevaluatedItems": _rejected("use items", Holds.SCHEMA),
    "additionalItems": _rejected("use prefixItems and items", Holds.SCHEMA),
    "contains": _rejected(_CHECK_IN_RULE, Holds.SCHEMA),
    "minContains": _rejected(_CHECK_IN_RULE),
    "maxContains": _rejected(_CHECK_IN_RULE),
    "uniqueItems": _rejected(_CHECK_IN_RULE),
    "$dynamicRef": _rejected("use $ref"),
    "$recursiveRef": _rejected("use $ref"),
    "$vocabulary": _rejected("leave it out"),
    # Hold schemas that references reach.
    "$defs": Keyword(Kind.CONTAINER, Holds.MAP),
    "definitions": Keyword(Kind.CONTAINER, Holds.MAP),
    # Never constrain.
    "$schema": Keyword(Kind.ANNOTATION),
    "$id": Keyword(Kind.ANNOTATION),
    "$anchor": Keyword(Kind.ANNOTATION),
    "$dynamicAnchor": Keyword(Kind.ANNOTATION),
    "$comment": Keyword(Kind.ANNOTATION),
    "title": Keyword(Kind.ANNOTATION),
    "description": Keyword(Kind.ANNOTATION),
    "default": Keyword(Kind.ANNOTATION),
    "examples": Keyword(Kind.ANNOTATION),
    "deprecated": Keyword(Kind.ANNOTATION),
    "readOnly": Keyword(Kind.ANNOTATION),
    "writeOnly": Keyword(Kind.ANNOTATION),
    "contentEncoding": Keyword(Kind.ANNOTATION),
    "contentMediaType": Keyword(Kind.ANNOTATION),
    "contentSchema": Keyword(Kind.ANNOTATION, Holds.SCHEMA),
}

UNKNOWN = Keyword(Kind.ANNOTATION)
"""What a word that is in no draft counts as (2020-12 core section 4.3.1)."""

KNOWN_FORMATS = frozenset(
    {
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    }
)
"""The formats that the drafts define; any other word is an annotation (2020-12 validation section 7)."""


def keyword(name: str) -> Keyword:
    """Return what is known of a keyword."""
    return KEYWORDS.get(name, UNKNOWN)


__all__ = ["DRAFT", "KEYWORDS", "KNOWN_FORMATS", "Holds", "Keyword", "Kind", "Level", "keyword"]
