"""Judge the tests of the official suite: the automaton alone, the gate, and the schema layer alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from conformance_suite import Group, groups

from commitgate.automaton import compile
from commitgate.errors import ContractError, UnsatisfiableError
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import Parsed, strict_parse

NESTING = 64


class Class(StrEnum):
    """Say how a test went."""

    RIGHT = "right"
    REFUSED = "refused"
    TAKES_INVALID = "wrongly accepted"
    TAKES_INVALID_CHECKED = "accepted, checked"
    LOSES_VALID = "wrongly rejected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold how one judge did on one test.

    Attributes:
        judge: ``automaton``, ``gate`` or ``schema layer``.
        group: the test's group.
        test: the test's description.
        result: how it went.
        note: why the schema was refused.
    """

    judge: str
    group: Group
    test: str
    result: Class
    note: str = ""


@cache
def verdicts(draft: str) -> tuple[Verdict, ...]:
    """Return the verdicts of all judges on all tests of a draft."""
    return tuple(verdict for group in groups(draft) for verdict in _of_group(group))


def _of_group(group: Group) -> Iterator[Verdict]:
    automaton, layer = _automaton(group), _layer(group)
    for test, text, is_valid in group.tests:
        if isinstance(layer, str):
            by_layer = None
        else:
            parsed = strict_parse(text, nesting=NESTING)
            by_layer = isinstance(parsed, Parsed) and not layer.judge(parsed.value)
        yield _verdict("schema layer", group, test, by_layer, is_valid, str(layer))
        by_automaton = None if isinstance(automaton, str) else automaton is not None and automaton.accepts(text)
        is_checked = by_automaton is True and any(row.level == "checked" for row in automaton.support)
        yield _verdict("automaton", group, test, by_automaton, is_valid, str(automaton), is_checked)
        both = None if by_automaton is None or by_layer is None else by_automaton and by_layer
        yield _verdict("gate", group, test, both, is_valid, str(automaton if by_automaton is None else layer))


def _verdict(
    judge: str, group: Group, test: str, found: bool | None, is_valid: bool, note: str, is_checked: bool = False
) -> Verdict:
    if found is None:
        return Verdict(judge, group, test, Class.REFUSED, note)
    if found == is_valid:
        return Verdict(judge, group, test, Class.RIGHT)
    if is_valid:
        return Verdict(judge, group, test, Class.LOSES_VALID)
    return Verdict(judge, group, test, Class.TAKES_INVALID_CHECKED if is_checked else Class.TAKES_INVALID)


def _automaton(group: Group) -> Any:
    """Return the automaton, or in words why there is none; None where it is proven that it would accept nothing."""
    try:
        return compile(group.schema, dialect="accept", formats=group.formats, documents=group.documents)
    except UnsatisfiableError:
        return None
    except ContractError as error:
        return f"{type(error).__name__}: {error}"


def _layer(group: Group) -> Any:
    """Return the schema layer, or in words why there is none."""
    try:
        return SchemaLayer(group.schema, formats=group.formats, documents=group.documents)
    except ContractError as error:
        return f"{type(error).__name__}: {error}"
