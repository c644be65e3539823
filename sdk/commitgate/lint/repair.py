"""Find every place of a schema that no contract can be made of: take out what was refused, and look again.

What is left, where a contract can be made of it, says what holds for all the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.plain_json import canonical, plain_copy
from commitgate.contract import Contract
from commitgate.errors import (
    ContractError,
    LimitExceededError,
    NotationError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedError,
)
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.lint.excision import value_at, without_keyword, without_required
from commitgate.lint.finding import Finding, finding
from commitgate.lint.schema_contradiction import Contradiction, contradiction
from commitgate.pointer import tokens_of

if TYPE_CHECKING:
    from commitgate.contract import Formats
    from commitgate.limits import Limits

MOST_READINGS = 64
"""Most times that a small schema is read for faults of its text; a large one is read less often."""

MOST_ANALYSES = 4
"""Most times that what a small schema means is worked out; a large one less often."""

_READ_BYTES = 2_000_000
_ANALYSED_BYTES = 200_000
_TRIED_NODES = 1_000

_INSTEAD: Mapping[str, str] = {
    "pattern": "write the alternatives out, or check it in a rule",
    "patternProperties": "write the alternatives out, or check the keys in a rule",
    "$ref": "move what it names into $defs of this schema, or pass its document",
    "$schema": "name one of the drafts 4, 6, 7, 2019-09 and 2020-12 by its full URI",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """Hold what could be made of a schema.

    Attributes:
        contract: that of the schema without all that was refused; None where that cannot be told.
        findings: what was refused.
        is_complete: everything was looked at.
    """

    contract: Contract[object] | None
    findings: tuple[Finding, ...]
    is_complete: bool


def repaired(
    schema: JsonValue, *, limits: Limits, formats: Formats, documents: Mapping[str, JsonSchema] | None
) -> Repaired:
    """Return the contract of a schema, or of what is left of it, with all that had to go."""
    findings: list[Finding] = []
    try:
        contract = _contract(schema, limits, formats, documents)
        return Repaired(contract=contract, findings=(), is_complete=True)
    except ContractError as error:
        first = error
    try:
        root = plain_copy(schema, limits)
    except ContractError:
        return Repaired(contract=None, findings=(error_finding(first),), is_complete=False)
    for _ in range(max(4, min(MOST_READINGS, _READ_BYTES // (len(canonical(root)) + 1)))):
        try:
            SchemaDocument(root, limits, documents)
            break
        except ContractError as error:
            rest = _without(root, error, findings)
            if rest is None:
                return Repaired(contract=None, findings=tuple(findings), is_complete=False)
            root = rest
    else:
        return Repaired(contract=None, findings=tuple(findings), is_complete=False)
    return _analysed(root, findings, limits, formats, documents)


def _analysed(
    root: JsonValue,
    findings: list[Finding],
    limits: Limits,
    formats: Formats,
    documents: Mapping[str, JsonSchema] | None,
) -> Repaired:
    for _ in range(max(2, min(MOST_ANALYSES, _ANALYSED_BYTES // (len(canonical(root)) + 1)))):
        try:
            contract = _contract(root, limits, formats, documents)
            return Repaired(contract=contract, findings=tuple(findings), is_complete=True)
        except ContractError as error:
            explained = None if not isinstance(error, UnsatisfiableError) else _explained(root, error, limits, formats)
            rest = _without(root, error, findings, explained)
            if rest is None:
                break
            root = rest
    return Repaired(contract=None, findings=tuple(findings), is_complete=False)


def _explained(root: JsonValue, error: UnsatisfiableError, limits: Limits, formats: Formats) -> Contradiction | None:
    """Return what contradicts what at the place that an error names; None where it cannot be told."""
    pointer = error.pointer
    if value_at(root, tokens_of(pointer)) is False:
        pointer = pointer.removesuffix("/additionalProperties")
    tokens = tokens_of(pointer)
    schema = value_at(root, tokens)
    if not isinstance(schema, dict) or "#" in pointer.partition("/")[0]:
        return None
    tight = replace(limits, nodes=min(limits.nodes, _TRIED_NODES))

    def is_solved_by(word: str) -> bool:
        try:
            _contract(without_keyword(root, tokens, word), tight, formats, None)
        except UnsatisfiableError as left:
            return left.pointer != error.pointer
        except ContractError:
            return False
        return True

    return contradiction(root, pointer, schema, is_solved_by)


def _contract(
    schema: JsonValue, limits: Limits, formats: Formats, documents: Mapping[str, JsonSchema] | None
) -> Contract[object]:
    given = cast("bool", schema)
    found = Contract.json_schema(given, limits=limits, formats=formats, documents=documents)
    return cast("Contract[object]", found)


def error_finding(error: ContractError) -> Finding:
    """Return what kept a contract from being made, as a finding."""
    match error:
        case UnsupportedError():
            code, instead = "rejected", _INSTEAD.get(error.keyword or "", "leave it out, and check it in a rule")
        case UnsatisfiableError():
            code, instead = "unsatisfiable", "change one of the parts that contradict each other"
        case LimitExceededError():
            code, instead = "too_large", f"make it smaller, or raise Limits.{error.limit_name} on purpose"
        case SchemaError() | NotationError():
            code, instead = "malformed", "correct the named place"
        case _:
            code, instead = "rejected", "correct the named place"
    return finding(code, error.pointer, str(error), instead, keyword=error.keyword, position=error.position)


def _without(
    root: JsonValue, error: ContractError, findings: list[Finding], explained: Contradiction | None = None
) -> JsonValue | None:
    """Note an error; return the schema without what it names, None where that cannot be taken out."""
    found = error_finding(error)
    if explained is not None:
        keyword, pointer = explained.keyword, explained.pointer
        found = replace(found, message=explained.message, instead=explained.instead, pointer=pointer, keyword=keyword)
    if any((each.code, each.pointer, each.keyword) == (found.code, found.pointer, found.keyword) for each in findings):
        return None
    findings.append(found)
    if "#" in error.pointer.partition("/")[0]:
        return None
    if explained is not None and explained.names:
        return without_required(root, tokens_of(explained.pointer), explained.names)
    return without_keyword(root, tokens_of(error.pointer), error.keyword)


__all__ = ["MOST_ANALYSES", "MOST_READINGS", "Repaired", "error_finding", "repaired"]
