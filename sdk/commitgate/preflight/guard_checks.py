"""Check what looks at a value once its text is whole: rules, content, evidence, authorization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from commitgate.automaton.json_schema import Satisfiability
from commitgate.contract import Contract
from commitgate.json_value import JsonValue
from commitgate.languages import Choices
from commitgate.preflight.check import Check, check
from commitgate.preflight.code_scan import CodeScan
from commitgate.untrusted_text import UNTRUSTED

_STEERING = frozenset({"enum", "const", "pattern", "format"})
"""Keywords beside which a string is no free text."""


def guard_checks(contract: Contract[object], code: CodeScan | None, *, acts: bool) -> Iterator[Check]:
    """Yield the checks of what comes after parsing.

    Args:
        contract: the contract.
        code: the caller's calls; None where no code was given.
        acts: something is done because of its value.
    """
    yield _rules(contract, code)
    yield _content(contract, code)
    yield _evidence(contract, code, acts=acts)
    yield _authorized(contract, code, acts=acts)


def _rules(contract: Contract[object], code: CodeScan | None) -> Check:
    if contract.rules:
        told = f"{_counted(len(contract.rules), 'rule')} of the contract"
        return check("rules", "passed", told, places=_names(contract.rules))
    if code is not None and code.gives("rules"):
        return check("rules", "passed", "the calls in the code give rules")
    instead = "write rules= for what the schema cannot say: sums, limits, what must not go together"
    return check("rules", "warned", "no rule looks at the value: whatever has the right form is taken", instead)


def _content(contract: Contract[object], code: CodeScan | None) -> Check:
    free = _free_texts(contract)
    marked = _untrusted(contract)
    if contract.content or (code is not None and code.gives("content")):
        return check("content", "passed", "checks of content look at its texts", places=_names(contract.content))
    if not free and not marked:
        return check("content", "not_applicable", "no place of it takes free text")
    if marked >= len(free):
        told = f"each free text is an UntrustedText ({marked}), and the built-in check looks at it"
        return check("content", "passed", told)
    told = f"free text is taken as trusted text: {_counted(len(free), 'place')}, {marked} of them UntrustedText"
    instead = "annotate them UntrustedText, or give a check in content=: a model repeats what its input told it"
    return check("content", "warned", told, instead, free)


def _evidence(contract: Contract[object], code: CodeScan | None, *, acts: bool) -> Check:
    if contract.evidence or (code is not None and code.gives("evidence")):
        return check("evidence", "passed", "the value is compared with an authority", places=_names(contract.evidence))
    if not acts:
        return check("evidence", "not_applicable", "nothing is done because of it")
    instead = "give evidence= that looks up what the value names: ids, amounts, owners"
    return check("evidence", "warned", "what the value claims is compared with nothing", instead)


def _authorized(contract: Contract[object], code: CodeScan | None, *, acts: bool) -> Check:
    if contract.authorize:
        told = "the contract asks somebody before it is acted on"
        return check("authorized", "passed", told, places=_names(contract.authorize))
    if not acts:
        return check("authorized", "not_applicable", "nothing is done because of it")
    if code is not None and code.acting and all(each.has("authorize") for each in code.acting):
        return check("authorized", "passed", f"{_counted(len(code.acting), 'call')} that acts gives authorize=")
    lacking = () if code is None else (each.place for each in code.acting if not each.has("authorize"))
    instead = "give authorize= to the contract, or to every call that acts: who asks may not be who may have it done"
    return check("authorized", "failed", "it is acted on, and nobody says for whom that may be done", instead, lacking)


def _free_texts(contract: Contract[object]) -> list[str]:
    """Return the places of strings of which nothing but their length is said."""
    analysis = contract.analysis
    if not isinstance(analysis, Satisfiability):
        return [] if isinstance(contract.text, Choices) else ["the whole text"]
    schemas = analysis.meaning.document.schemas
    return [pointer or "the root" for pointer, schema in schemas.items() if _is_free(schema)]


def _is_free(schema: JsonValue) -> bool:
    if not isinstance(schema, dict) or not _STEERING.isdisjoint(schema):
        return False
    kinds = schema.get("type")
    return kinds == "string" or (isinstance(kinds, list) and "string" in kinds)


def _untrusted(contract: Contract[object]) -> int:
    """Count where a type has untrusted text."""
    adapter = contract.type_adapter
    if adapter is None:
        return 0
    waiting: list[object] = [adapter.core_schema]
    seen: set[int] = set()
    found = 0
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            members = cast("dict[str, object]", node)
            notes = members.get("metadata")
            if isinstance(notes, dict) and UNTRUSTED in notes:
                found += 1
                continue
            waiting.extend(members.values())
        elif isinstance(node, list | tuple):
            waiting.extend(cast("list[object]", node))
    return found


def _names(functions: tuple[object, ...]) -> list[str]:
    return [getattr(each, "__qualname__", type(each).__name__) for each in functions]


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


__all__ = ["guard_checks"]
