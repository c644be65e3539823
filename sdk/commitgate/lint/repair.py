"""Find every place of a schema that no contract can be made of: take out what was refused, and look again.

What is left, where a contract can be made of it, says what holds for all the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from commitgate.lint.finding import Finding, finding

if TYPE_CHECKING:
    from commitgate.contract import Formats
    from commitgate.limits import Limits

MOST_READINGS = 64
"""Most times that a small schema is read for faults of its text; a large one is read less often."""

MOST_ANALYSES = 4
"""Most times that what a small schema means is worked out; a large one less often."""

_CHOICES = frozenset({"anyOf", "oneOf"})
_READ_BYTES = 2_000_000
_ANALYSED_BYTES = 200_000

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
            rest = _without(root, error, findings)
            if rest is None:
                break
            root = rest
    return Repaired(contract=None, findings=tuple(findings), is_complete=False)


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


def _without(root: JsonValue, error: ContractError, findings: list[Finding]) -> JsonValue | None:
    """Note an error; return the schema without what it names, None where that cannot be taken out."""
    found = error_finding(error)
    if any((each.code, each.pointer, each.keyword) == (found.code, found.pointer, found.keyword) for each in findings):
        return None
    findings.append(found)
    if "#" in error.pointer.partition("/")[0]:
        return None
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in error.pointer.split("/")[1:]]
    return _cut(root, tokens, error.keyword)


def _cut(value: JsonValue, tokens: list[str], keyword: str | None) -> JsonValue | None:
    """Return a copy without the keyword of the schema at a place, or with the whole schema there allowing anything."""
    path: list[tuple[dict[str, JsonValue] | list[JsonValue], str | int]] = []
    at = value
    for token in tokens:
        key: str | int = token
        if isinstance(at, list):
            if not token.isdecimal() or int(token) >= len(at):
                return None
            key = int(token)
            path.append((at, key))
            at = at[key]
        elif isinstance(at, dict) and token in at:
            path.append((at, token))
            at = at[token]
        else:
            return None
    # Objects, as draft 4 knows no booleans for schemas.
    made: JsonValue = {}
    if isinstance(at, dict) and keyword is not None and keyword in at:
        made = {name: item for name, item in at.items() if name != keyword}
    elif not path:
        return None
    if not made and len(path) > 1 and tokens[-2] in _CHOICES and len(path[-1][0]) > 1:
        # A branch that allows everything would hide the others.
        made = {} if "draft-04" in str(value.get("$schema") if isinstance(value, dict) else "") else False
    for held, key in reversed(path):
        if isinstance(held, list):
            made = [made if index == key else item for index, item in enumerate(held)]
        else:
            made = {name: made if name == key else item for name, item in held.items()}
    return made


__all__ = ["MOST_ANALYSES", "MOST_READINGS", "Repaired", "error_finding", "repaired"]
