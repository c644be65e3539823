"""Name contracts by digests: one of what constrains, one of everything.

Digests are SHA-256 in lower-case hexadecimal over a canonical text, in which the order of keys counts: ``generate``
writes them in that order.
"""

from __future__ import annotations

import hashlib

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.keywords import Holds, Kind, keyword
from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.json_value import JsonValue

LANGUAGE_VERSION = "1"
"""Counts changes of meaning: two releases that read a schema differently must not share digests."""


def digest_of_language(document: SchemaDocument) -> str:
    """Return the digest of what constrains: the schema without annotations, and the limits."""
    # A schema that a reference reaches below an annotation constrains too; then nothing is taken for prose.
    schema = document.root if document.has_hidden_schemas else _without_annotations(document.root)
    return _digest([LANGUAGE_VERSION, schema, repr(document.limits)])


def digest_of_contract(document: SchemaDocument, name: str, version: str | None) -> str:
    """Return the digest of the whole contract but its rules: schema with prose, limits, name and version."""
    return _digest([LANGUAGE_VERSION, document.root, repr(document.limits), name, version])


def _without_annotations(schema: JsonValue) -> JsonValue:
    """Return the schema without keywords that never constrain."""
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, JsonValue] = {}
    for name, value in schema.items():
        known = keyword(name)
        if known.kind is Kind.ANNOTATION:
            continue
        if known.holds is Holds.SCHEMA:
            value = _without_annotations(value)
        elif known.holds is Holds.LIST and isinstance(value, list):
            value = [_without_annotations(item) for item in value]
        elif known.holds is Holds.MAP and isinstance(value, dict):
            value = {key: _without_annotations(item) for key, item in value.items()}
        kept[name] = value
    return kept


def _digest(value: JsonValue) -> str:
    """Return the SHA-256, in lower-case hexadecimal, of a JSON value's canonical text; the order of keys counts."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


__all__ = ["digest_of_contract", "digest_of_language"]
