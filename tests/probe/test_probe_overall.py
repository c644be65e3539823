"""What the results of all probes come to."""

from dataclasses import replace

import pytest
from probe.scripted_server import FACTS

from commitgate.backends.dialect import ServerIdentity
from commitgate.probe.overall import overall
from commitgate.probe.result import ProbeKind, ProbeResult, Verdict

READY = ServerIdentity(is_ready=True)
GOOD = {
    "invalid_schema": Verdict.REJECTED,
    "enum": Verdict.ENFORCED,
    "property": Verdict.ENFORCED,
    "count": Verdict.ENFORCED,
    "order": Verdict.ENFORCED,
    "choice": Verdict.ENFORCED,
    "cut": Verdict.YES,
    "whole": Verdict.YES,
}


def results(changed: dict[str, Verdict | None]) -> list[ProbeResult]:
    found = {**GOOD, **changed}
    return [
        ProbeResult(name=name, kind="constraint", about="", form="json_schema", verdict=verdict, reason="why")
        for name, verdict in found.items()
        if verdict is not None
    ]


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "enforced"),
        ({"invalid_schema": Verdict.DROPPED}, "not_enforced"),
        ({"enum": Verdict.DROPPED}, "not_enforced"),
        ({"property": Verdict.DROPPED}, "not_enforced"),
        ({"echo": Verdict.DROPPED}, "not_enforced"),
        ({"enum": Verdict.PARTIAL}, "partial"),
        ({"property": Verdict.PARTIAL}, "partial"),
        ({"echo": Verdict.PARTIAL}, "partial"),
        ({"count": Verdict.PARTIAL}, "partial"),
        ({"count": Verdict.DROPPED}, "partial"),
        ({"choice": Verdict.DROPPED}, "partial"),
        ({"invalid_pattern": Verdict.DROPPED}, "partial"),
        ({"cut": Verdict.NO}, "partial"),
        ({"whole": Verdict.NO}, "partial"),
        ({"enum": Verdict.UNCLEAR}, "unknown"),
        ({"enum": Verdict.REJECTED}, "unknown"),
        ({"property": Verdict.NOT_TOLD}, "unknown"),
        ({"enum": None}, "unknown"),
        ({"count": Verdict.UNCLEAR}, "unknown"),
        ({"count": None}, "enforced"),
        ({"count": None, "invalid_schema": Verdict.UNCLEAR}, "unknown"),
        ({"invalid_schema": Verdict.UNCLEAR}, "enforced"),
        ({"choice": Verdict.REJECTED}, "enforced"),
        ({"choice": Verdict.UNCLEAR}, "enforced"),
        ({"cut": Verdict.UNCLEAR}, "enforced"),
        ({"order": Verdict.DROPPED}, "enforced"),
        ({"tool": Verdict.DROPPED}, "enforced"),
        ({"echo": Verdict.NO}, "enforced"),
        ({"disconnect": Verdict.NO, "repeated_key": Verdict.NO}, "enforced"),
    ],
)
def test_results_come_to_one_verdict(changed: dict[str, Verdict | None], verdict: str) -> None:
    found, reason = overall(FACTS, READY, results(changed))
    assert found == verdict
    assert reason


def test_keyword_that_is_ignored_does_not_spoil_the_rest() -> None:
    kind: ProbeKind = "keyword"
    more = ProbeResult(name="enum", kind=kind, about="", form="json_schema", verdict=Verdict.DROPPED, reason="why")
    assert overall(FACTS, READY, [*results({}), more])[0] == "enforced"


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ({"pattern": Verdict.ENFORCED}, "enforced"),
        ({"pattern": Verdict.DROPPED}, "not_enforced"),
        ({"pattern": Verdict.ENFORCED, "grammar": Verdict.DROPPED}, "partial"),
        ({"pattern": Verdict.UNCLEAR}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_server_that_knows_no_schemas_is_judged_by_what_it_knows(verdicts: dict[str, Verdict], verdict: str) -> None:
    facts = replace(FACTS, forms=frozenset({"regex", "grammar"}))
    none = dict.fromkeys(GOOD)
    assert overall(facts, READY, results({**none, **verdicts}))[0] == verdict
