"""Find properties that a model need not write: the program knows them, or can work them out.

What only looks so is told as such. A model is good at reading what stands in its prompt; it cannot know the time,
cannot draw an identifier, and adds up badly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.json_value import JsonObject
from commitgate.lint.finding import Finding, finding
from commitgate.lint.places import (
    PropertyPlace,
    branches_of,
    is_condition,
    objects_of,
    properties_of,
    target_of,
    types_of,
)

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ID_WORDS = frozenset({"id", "uuid", "guid", "ulid"})
_MOMENT_NAMES = frozenset(
    {"timestamp", "created", "updated", "modified", "deleted", "created date", "created time", "updated time"}
)
_MOMENT_FORMATS = frozenset({"date-time", "date", "time"})
_NUMERIC = frozenset({"integer", "number"})
_SUMS = frozenset({"total", "subtotal", "sum", "average", "mean", "count"})
_DIGESTS = frozenset({"hash", "checksum", "digest", "sha256", "md5", "etag", "signature"})
_KNOWS_ALREADY = ("pattern", "enum", "const")


def value_findings(document: SchemaDocument) -> Iterator[Finding]:
    """Yield a finding for each property that could be left out of what the model writes.

    Args:
        document: the schema.
    """
    branches = _branch_places(document)
    for place, schema in objects_of(document):
        # What only tells when something holds is not what a model writes.
        if is_condition(place):
            continue
        for declared in properties_of(document, place, schema):
            yield from _of_property(declared, is_in_branch=place in branches)


def _of_property(declared: PropertyPlace, *, is_in_branch: bool) -> Iterator[Finding]:
    schema = declared.schema
    keyword = _single(schema)
    if keyword is not None:
        # In a branch the one value is what tells it from the others.
        if not is_in_branch:
            message = "it has one possible value, which the program knows before the model begins"
            yield finding("fixed_value", declared.pointer, message, _LEAVE_OUT, keyword=keyword)
        return
    if schema.get("readOnly") is True:
        message = "readOnly says that the value is the server's own, yet the model is made to write it"
        yield finding("read_only_value", declared.pointer, message, _LEAVE_OUT, keyword="readOnly")
        return
    # A default of null says no more than that it may be left out.
    if schema.get("default") is not None:
        yield _default(declared)
    found = _derived(declared.name, schema)
    if found is not None:
        code, message, instead = found
        yield finding(code, declared.pointer, message, instead)
    if not declared.is_required and _admits_null(schema):
        message = "it may be left out and it may be null: two ways to say nothing, and a model uses both"
        instead = "require it and keep null, as every vendor takes it within anyOf; or leave null out"
        yield finding("nullable_optional", declared.pointer, message, instead)


_LEAVE_OUT = "leave it out of the schema and add it afterwards"


def _single(schema: JsonObject) -> str | None:
    values = schema.get("enum")
    if "const" in schema:
        return "const"
    return "enum" if isinstance(values, list) and len(values) == 1 else None


def _default(declared: PropertyPlace) -> Finding:
    if declared.is_required:
        message = "it has a default and is required all the same: the model must write even the usual value"
        instead = (
            "take it out of required, or take the default away; a default is filled in by the type, not by a schema"
        )
    else:
        message = "it has a default: where the model never has a reason for another value, the program can fill it"
        instead = "leave it out where the default is what is always meant; else say in its description when not"
    return finding("default_value", declared.pointer, message, instead, keyword="default")


def _derived(name: str, schema: JsonObject) -> tuple[str, str, str] | None:
    """Return the code, message and way out for a name that says where its value comes from."""
    if any(keyword in schema for keyword in _KNOWS_ALREADY):
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    types = types_of(schema)
    if not words or types & {"array", "object", "boolean"}:
        return None
    if schema.get("format") == "uuid" or words[-1] in _ID_WORDS:
        return _INVENTED
    is_moment = (words[-1] == "at" and len(words) > 1) or " ".join(words) in _MOMENT_NAMES
    if is_moment and (schema.get("format") in _MOMENT_FORMATS or not types or types & {"string", *_NUMERIC}):
        return _MOMENT
    if types & _NUMERIC and _SUMS & {words[0], words[-1]}:
        return _SUM
    if words[-1] in _DIGESTS and (not types or "string" in types):
        return _DIGEST
    return None


_INVENTED = (
    "invented_id",
    "an identifier: a model can copy one that stands in its prompt, and invents one that looks right where none does",
    "if the program gives it, leave it out; if it must come from the prompt, give a pattern or an enum of those known",
)
_MOMENT = (
    "derived_value",
    "by its name the moment of something: a model does not know what time it is",
    "leave it out and let the program note the time; keep it only where it is read from the prompt",
)
_SUM = (
    "derived_value",
    "by its name worked out from other values, and a model adds up badly",
    "leave it out and work it out; keep it, with a rule that compares, where a document states it",
)
_DIGEST = (
    "derived_value",
    "by its name a digest, which no model can work out",
    "leave it out and work it out",
)


def _admits_null(schema: JsonObject) -> bool:
    if "null" in types_of(schema):
        return True
    branches = [each for keyword in ("anyOf", "oneOf") if isinstance(each := schema.get(keyword), list)]
    return any(isinstance(item, dict) and item.get("type") == "null" for held in branches for item in held)


def _branch_places(document: SchemaDocument) -> set[str]:
    """Return the places of all branches, and those to which they refer."""
    found: set[str] = set()
    for place, schema in objects_of(document):
        for _, branch in branches_of(schema, place):
            at: str | None = branch
            while at is not None and at not in found:
                found.add(at)
                at = target_of(document, at)
    return found


__all__ = ["value_findings"]
