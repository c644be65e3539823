"""Write a schema as the validator must get it, so that it means what the automaton reads.

Numbers become the decimals that they are written as, references become URIs, ``pattern`` becomes a word of our own (the
validator checks patterns by its own engine, even before it is told otherwise), and the patterns of
``patternProperties`` are written anew so that the validator's engine cannot read them differently. What it says about
these places is turned back into the schema's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast
from urllib.parse import quote, unquote

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.keywords import UNKNOWN, Keyword
from commitgate.automaton.json_schema.plain_json import exact
from commitgate.automaton.json_schema.rewriting import Member, rewrite
from commitgate.automaton.json_schema.uri import as_uri
from commitgate.automaton.json_schema.vocabulary import Vocabulary
from commitgate.gate.pattern_search import PatternSearch
from commitgate.gate.rust_pattern import rust_pattern
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import escape_token, unescape_token

PATTERN = "x-commitgate-pattern"
"""What stands in place of ``pattern``."""

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_URIS = _REFERENCES | {"$id", "id"}
_IN_FRAGMENT = "/?:@!$&'()*+,;=~"
"""What a fragment may hold unescaped beside letters, digits and ``_.-``."""

_CONTENT = frozenset({"contentEncoding", "contentMediaType"})
"""Annotations, which the validator asserts in drafts 6 and 7."""


class Preparation:
    """Write the schemas of one contract for the validator.

    Args:
        patterns: reads the patterns.
        documents: what references may lead to, by URI; also where a meta-schema of the caller's own is looked up.
    """

    def __init__(self, patterns: PatternSearch, documents: Mapping[str, JsonSchema]) -> None:
        self._patterns = patterns
        self._documents = documents
        self._written: dict[str, str] = {}
        self._original: dict[str, str] = {}

    def prepare(self, schema: JsonSchema, vocabulary: Vocabulary) -> JsonSchema:
        """Return the schema for the validator.

        Args:
            vocabulary: what is meant where ``$schema`` is missing.

        Raises:
            SchemaError: a pattern is malformed.
            UnsupportedError: a ``$schema`` names nothing that is known.
        """
        prepared = rewrite(schema, self._member, vocabulary=vocabulary, documents=self._documents)
        return cast("JsonSchema", self._with_written_references(prepared))

    def original_path(self, path: Iterable[str | int]) -> list[str | int]:
        """Return a path through the prepared schema as one through the schema itself."""
        found: list[str | int] = []
        for part in path:
            if part == PATTERN:
                part = "pattern"
            elif found and found[-1] == "patternProperties" and isinstance(part, str):
                part = self._original.get(part, part)
            found.append(part)
        return found

    def _member(self, pointer: str, name: str, value: JsonValue, known: Keyword) -> Member | None:
        match name, value:
            case "pattern", str() if known is not UNKNOWN:
                self._patterns.finds(value, pointer)
                return PATTERN, value
            case "patternProperties", dict() if known is not UNKNOWN:
                return name, {self._write(pattern, pointer): _exact(inner) for pattern, inner in value.items()}
            case _, str() if name in _URIS and known is not UNKNOWN:
                # The validator reads URIs alone, and looks up what stands behind their escapes.
                return name, as_uri(value)
            case _ if name in _CONTENT or name == PATTERN:
                return None
            case _:
                return name, _exact(value)

    def _write(self, pattern: str, pointer: str) -> str:
        """Return a pattern that the validator reads as we read this one; no two patterns get the same."""
        if pattern not in self._written:
            try:
                written = rust_pattern(self._patterns.language(pattern, pointer, "patternProperties"))
            except TooManyStates:
                written = None
            written = pattern if written is None else written
            while self._original.get(written, pattern) != pattern:
                written += "(?:)"
            self._written[pattern] = written
            self._original[written] = pattern
        return self._written[pattern]

    def _with_written_references(self, schema: JsonValue) -> JsonValue:
        """Return the prepared schema with references that lead through ``patternProperties`` following it."""
        match schema:
            case dict():
                return {
                    name: self._written_reference(value)
                    if name in _REFERENCES and isinstance(value, str)
                    else self._with_written_references(value)
                    for name, value in schema.items()
                }
            case list():
                return [self._with_written_references(item) for item in schema]
            case _:
                return schema

    def _written_reference(self, reference: str) -> str:
        if "/patternProperties/" not in reference:
            return reference
        uri, _, fragment = reference.partition("#")
        tokens = unquote(fragment).split("/")
        for index in range(1, len(tokens)):
            pattern = unescape_token(tokens[index])
            if tokens[index - 1] == "patternProperties" and pattern in self._written:
                tokens[index] = escape_token(self._written[pattern])
        return f"{uri}#{quote('/'.join(tokens), safe=_IN_FRAGMENT)}"


def _exact(value: JsonValue) -> JsonValue:
    """Return a value with each float as the decimal that it is written as; the validator compares values exactly."""
    match value:
        case dict():
            exacted: JsonObject = {name: _exact(item) for name, item in value.items()}
            return exacted
        case list():
            return [_exact(item) for item in value]
        case float():
            return exact(value)
        case _:
            return value


__all__ = ["PATTERN", "Preparation"]
