"""Whatever the schema and the vendor: only what is taken is sent, and nothing differs that is not listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from automaton import schemas as listed
from automaton.schema_making import schemas
from backends.translation.translation_law import check_law
from backends.translation.vendor_servers import VENDOR_NAMES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commitgate import Contract
from commitgate.errors import ContractError
from commitgate.json_value import JsonSchema, JsonValue

CASES = json.loads((Path(listed.__file__).parent / "constraint_cases.json").read_text())
USUAL = ("openai", "anthropic", "vllm", "llama_cpp")


def contract_of(schema: JsonSchema) -> Contract[object] | None:
    """Return the contract of a schema without its formats, which the judge does not read; None where it is none."""
    try:
        return Contract.of(schema, formats="annotate")
    except ContractError:
        return None


@pytest.mark.parametrize("vendor", VENDOR_NAMES)
def test_every_difference_from_known_schemas_is_listed(vendor: str) -> None:
    forms = set[str]()
    for schema in listed.TEN.values():
        contract = contract_of(schema)
        assert contract is not None
        forms.add(check_law(contract, vendor))
    assert "json_schema" in forms


@pytest.mark.parametrize("vendor", USUAL)
def test_every_difference_from_constraint_cases_is_listed(vendor: str) -> None:
    checked = 0
    for case in CASES[USUAL.index(vendor) % 2 :: 2]:
        contract = contract_of(case["schema"])
        if contract is not None:
            instances = [_value(text) for text in [*case.get("valid", []), *case.get("invalid", [])]]
            check_law(contract, vendor, instances)
            checked += 1
    assert checked > 20


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(st.data(), st.sampled_from(["4", "7", "2019-09", "2020-12"]), st.sampled_from(VENDOR_NAMES))
def test_every_difference_from_made_up_schemas_is_listed(data: st.DataObject, draft: str, vendor: str) -> None:
    contract = contract_of(cast("JsonSchema", data.draw(schemas(draft))))
    if contract is not None:
        check_law(contract, vendor)


def _value(text: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(text))
    except ValueError:
        return None
