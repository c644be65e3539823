"""Name a suite by what is asked and what is known of the right answers, so that two runs can be told to be of one."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from commitgate.evaluation.canonical import digest_of
from commitgate.evaluation.case import Case, Suite
from commitgate.json_value import JsonObject


def digest_of_suite(suite: Suite[object]) -> str:
    """Return the hexadecimal SHA-256 of a suite's cases; functions and contracts are no part of it."""
    return digest_of([_plain(case) for case in suite.cases])


def contract_digests(suite: Suite[object]) -> JsonObject:
    """Return the full digest of each contract and tool, by its name."""
    found: JsonObject = {name: contract.full_digest for name, contract in suite.contracts.items()}
    found |= {f"tool:{name}": f"{tool.contract.full_digest}:{tool.version}" for name, tool in suite.tools.items()}
    return found


def _plain(case: Case) -> JsonObject:
    plain = {entry.name: getattr(case, entry.name) for entry in fields(case)}
    plain["messages"] = [[message.role, message.content] for message in case.messages]
    return cast(JsonObject, plain)


__all__ = ["contract_digests", "digest_of_suite"]
