"""Name contracts by digests: one of what constrains, one of everything.

Digests are SHA-256 in lower-case hexadecimal over a canonical text, in which the order of keys counts: ``generate``
writes them in that order.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import cast

from commitgate.automaton.formats import FORMATS
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits

LANGUAGE_VERSION = "3"
"""Counts changes of meaning: two releases that read a schema differently must not share digests."""


_DEFAULTS = Limits()
_HOLDING = (dict, list)


def digest_of_language(document: SchemaDocument, formats: str, *, refusal: bool) -> str:
    """Return the digest of what constrains: schemas without annotations, how formats are meant, limits and refusal."""
    parts = [_language_of(document, name, root) for name, root in _documents(document)]
    found: list[JsonValue] = [LANGUAGE_VERSION, parts, formats, _limits(document.limits), *_refusal(refusal)]
    return _digest(found, has_fractions=document.has_fractions)


def digest_of_contract(document: SchemaDocument, formats: str, name: str, version: str | None, *, refusal: bool) -> str:
    """Return the digest of the whole contract but its checks: schemas with prose, limits, refusal, name and version."""
    parts: list[JsonValue] = [[uri, root] for uri, root in _documents(document)]
    found: list[JsonValue] = [
        LANGUAGE_VERSION,
        parts,
        formats,
        _limits(document.limits),
        name,
        version,
        *_refusal(refusal),
    ]
    return _digest(found, has_fractions=document.has_fractions)


def without_prose(document: SchemaDocument, uri: str = "") -> JsonSchema:
    """Return a schema without all that constrains nothing, formats of unknown names included.

    Args:
        document: holds it; no reference may lead below what constrains nothing.
        uri: which of its documents; empty for the schema itself.
    """
    root = document.loaded[uri] if uri else document.root
    return cast(JsonSchema, _without_annotations(document, root, is_shown=True))


def digest_of_text_language(described: JsonValue, limits: Limits, *, refusal: bool) -> str:
    """Return the digest of what constrains a text that is no JSON.

    Args:
        described: the pattern, grammar, choices or machine as JSON, its kind first.
        limits: bounds on it.
        refusal: the answer may also be a refusal.
    """
    return _digest([LANGUAGE_VERSION, described, _limits(limits), *_refusal(refusal)])


def digest_of_text_contract(
    described: JsonValue, limits: Limits, name: str, version: str | None, *, refusal: bool
) -> str:
    """Return the digest of the whole contract of a text but its checks."""
    return _digest([LANGUAGE_VERSION, described, _limits(limits), name, version, *_refusal(refusal)])


def _limits(limits: Limits) -> list[JsonValue]:
    if limits == _DEFAULTS:
        return []
    # Those that were changed alone, so that another limit in a later release renames no contract.
    found = ((entry.name, getattr(limits, entry.name), entry.default) for entry in fields(limits))
    return [[name, value] for name, value, default in found if value != default]


def _refusal(refusal: bool) -> list[JsonValue]:
    # Contracts without it keep the digests that they had before there was one.
    return ["refusal"] if refusal else []


def _documents(document: SchemaDocument) -> list[tuple[str, JsonValue]]:
    return [("", document.root), *sorted(document.loaded.items())]


def _language_of(document: SchemaDocument, name: str, root: JsonValue) -> JsonValue:
    # A schema that a reference reaches below an annotation constrains too; then nothing is taken for prose.
    return [name, root if document.has_hidden_schemas else _without_annotations(document, root)]


def _without_annotations(document: SchemaDocument, value: JsonValue, *, is_shown: bool = False) -> JsonValue:
    """Return a value that lies in a document, each schema in it without the keywords that never constrain.

    Args:
        document: holds it.
        value: it.
        is_shown: leave out formats that nobody knows, too: their names may be any words. In digests they count.
    """
    if isinstance(value, dict):
        kept = document.meaningful(value)
        return {
            key: _without_annotations(document, item, is_shown=is_shown) if isinstance(item, _HOLDING) else item
            for key, item in value.items()
            if kept is None or (key in kept and not (is_shown and key == "format" and item not in FORMATS))
        }
    if isinstance(value, list):
        return [_without_annotations(document, item, is_shown=is_shown) for item in value]
    return value


def _digest(value: JsonValue, *, has_fractions: bool | None = None) -> str:
    """Return the SHA-256, in lower-case hexadecimal, of a JSON value's canonical text; the order of keys counts."""
    return hashlib.sha256(canonical(value, has_fractions=has_fractions).encode()).hexdigest()


__all__ = [
    "digest_of_contract",
    "digest_of_language",
    "digest_of_text_contract",
    "digest_of_text_language",
    "without_prose",
]
