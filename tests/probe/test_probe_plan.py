"""Which probes a server gets, and what they send."""

from dataclasses import replace
from random import Random

import pytest
from probe.scripted_server import FACTS

from commitgate.backends.dialects.table import DIALECTS
from commitgate.contract import Contract
from commitgate.lint.vendor_facts import CASES, VENDORS, Reaction
from commitgate.lint.vendor_facts import FACTS as VENDOR_FACTS
from commitgate.probe.canaries import CANARIES, canaries
from commitgate.probe.judge import judge
from commitgate.probe.plan import ask_count, ask_cut, ask_enum, plan
from commitgate.probe.question import Reply
from commitgate.probe.result import Verdict


def names(**changed: object) -> set[str]:
    return {step.name for step in plan(replace(FACTS, **changed), trials=2)}  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_api_has_a_plan_that_begins_with_what_costs_least(dialect: str) -> None:
    steps = plan(DIALECTS[dialect]().facts, trials=2)
    kinds = [step.kind for step in steps]
    assert kinds[0] == "refusal"
    assert kinds == sorted(kinds, key=["refusal", "constraint", "echo", "behaviour"].index)
    assert len({step.name for step in steps}) == len(steps)


def test_only_what_the_server_takes_is_asked() -> None:
    assert {"choice", "pattern", "grammar", "tool"} <= names()
    assert not names(forms=frozenset({"json_schema"}), offers_tools=False) & {"choice", "pattern", "grammar", "tool"}
    assert "invalid_grammar" not in names(notations=frozenset())
    assert not names(forms=frozenset({"regex"})) & {"enum", "property", "count", "cut", "echo"}
    assert names(forms=frozenset({"prompt"}), offers_tools=False) == set()


def test_items_are_counted_only_where_the_server_takes_a_number_of_them() -> None:
    assert "count" in names()
    assert "count" in names(vendor=None)
    assert "count" not in names(vendor="anthropic")


def test_chance_decides_what_is_asked() -> None:
    assert ask_enum(Random(1).randrange) != ask_enum(Random(2).randrange)
    counts = set()
    for seed in range(12):
        schema = ask_count(Random(seed).randrange).translation.schema
        assert isinstance(schema, dict)
        counts.add(str(schema["properties"]))
    assert len(counts) == 12
    assert len(ask_cut(Random(3).randrange).nonce) == 160


@pytest.mark.parametrize("vendor", [vendor.name for vendor in VENDORS])
def test_canaries_are_of_what_is_ignored_wrong_or_not_sure(vendor: str) -> None:
    asked = {step.name for step in canaries(vendor, trials=2)}
    for case in CANARIES:
        fact = VENDOR_FACTS[vendor, case]
        is_wanted = fact.reaction in (Reaction.IGNORED, Reaction.WRONG, Reaction.UNKNOWN) or (
            fact.reaction is Reaction.TAKEN and not fact.is_sure
        )
        assert (case in asked) is is_wanted, case


def test_canaries_of_a_contract_are_those_of_its_keywords() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 3}
    asked = {step.name for step in canaries("llama_cpp", trials=2, contract=Contract.json_schema(schema))}
    assert asked == {"unique_items"}


def test_keyword_without_a_canary_is_told_of_all_the_same() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "propertyNames": {"maxLength": 3}}
    steps = canaries("llama_cpp", trials=2, contract=Contract.json_schema(schema))
    assert [step.name for step in steps if step.ask is None] == ["names_beside_properties"]


def test_text_contract_has_no_keywords() -> None:
    from commitgate.languages import Regex

    assert canaries("llama_cpp", trials=2, contract=Contract.of(Regex("a+"))) == ()


BREAKING = {
    "integer_bound": '{"v": 99999999}',
    "integer_exclusive_bound": '{"v": 99999999}',
    "number_minimum": '{"v": 1}',
    "number_maximum": '{"v": 99999999}',
    "number_exclusive_bound": '{"v": 99999999}',
    "multiple_of": '{"v": 1234}',
    "unique_items": '{"v": [0, 0, 0]}',
    "contains": '{"v": [0, 0, 0]}',
    "min_properties": '{"a": 1}',
    "max_properties": '{"a": 1, "b": 1, "c": 1}',
    "dependent_required": '{"a": 1}',
    "if_then_else": '{"a": 1}',
    "one_of_overlapping": '{"v": 5}',
    "undeclared_required": '{"a": 1}',
}
KEEPING = {
    "integer_bound": '{"v": 1}',
    "integer_exclusive_bound": '{"v": 1}',
    "number_minimum": '{"v": 99999999}',
    "number_maximum": '{"v": 1.5}',
    "number_exclusive_bound": '{"v": 1.5}',
    "multiple_of": '{"v": 2000}',
    "min_length": '{"v": "elephants and mice"}',
    "max_length": '{"v": "ele"}',
    "anchored_pattern": '{"v": "1234"}',
    "unanchored_pattern": '{"v": "1234"}',
    "pattern_class": '{"v": "1234"}',
    "pattern_with_length": '{"v": "1234"}',
    "format_date_time": '{"v": "2026-01-02T03:04:05Z"}',
    "format_date": '{"v": "2026-01-02"}',
    "format_email": '{"v": "a@example.com"}',
    "format_uuid": '{"v": "2c0ff1ae-2f1c-4a4e-9d2e-0d1f5b0c4d3e"}',
    "format_uri": '{"v": "https://example.com/"}',
    "format_listed": '{"v": "127.0.0.1"}',
    "unique_items": '{"v": [0, 1, 2]}',
    "contains": '{"v": [0, 1, 0]}',
    "min_properties": '{"a": 1, "b": 1}',
    "max_properties": '{"a": 1, "b": 1}',
    "dependent_required": '{"a": 1, "b": 1}',
    "if_then_else": '{"a": 1, "b": 1}',
    "one_of_overlapping": '{"v": 5.5}',
    "reference_with_siblings": '{"v": "ele"}',
    "undeclared_required": '{"a": 1, "b": 1}',
}


@pytest.mark.parametrize("case", sorted(CANARIES))
def test_canary_tells_what_keeps_to_the_keyword_from_what_breaks_it(case: str) -> None:
    assert case in CASES
    (step,) = [step for vendor in VENDORS for step in canaries(vendor.name, trials=2) if step.name == case][:1]
    assert step.ask is not None
    assert step.control is not None
    question, control = step.ask(Random(5).randrange), step.control(Random(5).randrange)
    assert question.schema == control.schema == question.translation.schema != control.translation.schema
    if case == "not":
        schema = question.schema
        assert isinstance(schema, dict)
        first, second = schema["properties"]["v"]["enum"]  # type: ignore[index,call-overload]
        breaking, keeping = f'{{"v": "{first}"}}', f'{{"v": "{second}"}}'
    else:
        breaking, keeping = BREAKING.get(case, '{"v": "elephant"}'), KEEPING[case]
    for asked in (question, control):
        assert judge(asked, Reply(text=breaking.encode())).verdict is Verdict.DROPPED
        assert judge(asked, Reply(text=keeping.encode())).verdict is Verdict.ENFORCED
        # What the control sends lets through what it asks for.
    assert Contract.json_schema(control.translation.schema or {}).name
