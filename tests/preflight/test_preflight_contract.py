"""What a contract says by itself, whether it was reviewed, and what looks at its value: each check passing and not."""

from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from commitgate import Choices, Contract, ContractTemplate, Regex, RuleViolation, UntrustedText
from commitgate.lint import lint
from commitgate.preflight.check import Check
from commitgate.preflight.code_scan import CodeScan, scan
from commitgate.preflight.contract_checks import contract_checks
from commitgate.preflight.guard_checks import guard_checks
from commitgate.preflight.review_checks import review_checks
from commitgate.template import Count

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def by_id(checks: Any) -> dict[str, Check]:
    return {each.id: each for each in checks}


def verdicts(checks: Any) -> dict[str, str]:
    return {each.id: each.verdict for each in checks}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (NUMBER, {"usable": "passed", "satisfiable": "passed", "bounded": "passed"}),
        ({"type": 3}, {"usable": "failed", "satisfiable": "not_applicable", "bounded": "not_applicable"}),
        (
            {"type": "string", "minLength": 3, "maxLength": 2},
            {"usable": "failed", "satisfiable": "failed", "bounded": "not_applicable"},
        ),
        ({"type": "string"}, {"usable": "passed", "satisfiable": "passed", "bounded": "warned"}),
        ({"maxLenght": 3, "type": "integer"}, {"usable": "warned", "satisfiable": "passed", "bounded": "passed"}),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 900},
            {"usable": "passed", "satisfiable": "warned", "bounded": "warned"},
        ),
    ],
    ids=str,
)
def test_schema_is_judged_by_what_it_says(schema: Any, expected: dict[str, str]) -> None:
    assert verdicts(contract_checks(lint(schema))) == expected


def test_places_of_what_grows_without_end_are_named() -> None:
    schema: Any = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(25)}}
    found = by_id(contract_checks(lint(schema)))["bounded"]
    assert found.places[0].startswith("/properties/p0: ")
    assert (len(found.places), found.places_left_out) == (20, 0)
    assert "25 places" in found.found


def reviews(contract: Any, reviewed: Any = None, *, acts: bool = False) -> dict[str, str]:
    return verdicts(review_checks(contract, reviewed, acts=acts))


NAMED = Contract.json_schema(NUMBER, name="Number", version="2")


def test_contract_without_name_version_and_review_warns_and_fails_where_it_acts() -> None:
    bare = Contract.json_schema(NUMBER)
    assert set(reviews(bare).values()) == {"warned"}
    assert set(reviews(bare, acts=True).values()) == {"failed"}


def test_contract_that_is_named_versioned_and_reviewed_passes() -> None:
    reviewed = replace(NAMED, reviewed_digest=NAMED.full_digest)
    assert set(reviews(reviewed, acts=True).values()) == {"passed"}
    assert set(reviews(NAMED, {NAMED.full_digest}, acts=True).values()) == {"passed"}


def test_contract_that_is_not_in_the_list_fails_even_where_nothing_acts() -> None:
    others = {Contract.json_schema(NUMBER, name="Number", version="1").full_digest}
    found = by_id(review_checks(NAMED, others, acts=False))["reviewed"]
    assert found.verdict == "failed"
    assert NAMED.full_digest in found.found
    assert reviews(replace(NAMED, reviewed_digest=NAMED.full_digest), others)["reviewed"] == "failed"


def test_template_is_reviewed_in_place_of_what_is_filled_from_it() -> None:
    template = ContractTemplate.of(
        {"type": "integer", "maximum": Count("most", least=1, most=9)}, name="Number", version="1"
    )
    filled = template.fill(most=3)
    assert reviews(filled, {template.digest})["reviewed"] == "passed"
    assert reviews(filled, set())["reviewed"] == "failed"
    assert "template" in by_id(review_checks(filled, None, acts=False))["reviewed"].found


class Trusting(BaseModel):
    text: Annotated[str, Field(max_length=9)]


class Wary(BaseModel):
    text: Annotated[UntrustedText, Field(max_length=9)]


class Half(BaseModel):
    one: Annotated[UntrustedText, Field(max_length=9)]
    other: Annotated[str, Field(max_length=9)]


def is_fine(value: Any) -> RuleViolation | None:
    return None


def may(value: Any, context: Any) -> bool:
    return True


def guards(contract: Any, code: CodeScan | None = None, *, acts: bool = False) -> dict[str, str]:
    return verdicts(guard_checks(contract, code, acts=acts))


def test_checks_of_the_contract_pass_and_missing_ones_do_not() -> None:
    guarded: Any = Contract.of(Trusting, rules=[is_fine], content=[is_fine], evidence=[may], authorize=may)  # pyright: ignore[reportArgumentType]
    assert set(guards(guarded, acts=True).values()) == {"passed"}
    bare = {"rules": "warned", "content": "warned"}
    assert guards(Contract.of(Trusting)) == {**bare, "evidence": "not_applicable", "authorized": "not_applicable"}
    assert guards(Contract.of(Trusting), acts=True) == {**bare, "evidence": "warned", "authorized": "failed"}


@pytest.mark.parametrize(
    ("contract", "verdict"),
    [
        (Contract.of(Wary), "passed"),
        (Contract.of(Half), "warned"),
        (Contract.of(list[Wary]), "passed"),
        (Contract.json_schema(NUMBER), "not_applicable"),
        (Contract.json_schema({"type": "string", "maxLength": 3}), "warned"),
        (Contract.json_schema({"type": ["string", "null"], "maxLength": 3}), "warned"),
        (Contract.json_schema({"enum": ["a", "b"]}), "not_applicable"),
        (Contract.json_schema({"type": "string", "format": "date"}), "not_applicable"),
        (Contract.of(Choices(["a", "b"])), "not_applicable"),
        (Contract.of(Regex("[a-z]{1,9}")), "warned"),
    ],
    ids=str,
)
def test_free_text_has_to_be_untrusted_or_checked(contract: Any, verdict: str) -> None:
    assert guards(contract)["content"] == verdict


ACTING = (
    "client.generate_structured('m', T, effect=pay, operation_key=k{more})\n"
    "client.generate_structured('m', T, prompt='x')\n"
)


def test_authorization_that_every_acting_call_gives_counts() -> None:
    given = scan([("a.py", ACTING.format(more=", authorize=may, rules=[r], evidence=[e], content=[c]"))])
    assert set(guards(Contract.of(Trusting), given, acts=True).values()) == {"passed"}
    lacking = scan([("a.py", ACTING.format(more=""))])
    found = by_id(guard_checks(Contract.of(Trusting), lacking, acts=True))["authorized"]
    assert (found.verdict, found.places) == ("failed", ("a.py:1",))
    none = scan([("a.py", ACTING.format(more=", authorize=None"))])
    assert guards(Contract.of(Trusting), none, acts=True)["authorized"] == "failed"
