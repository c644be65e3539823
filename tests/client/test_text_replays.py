"""A stored text is handed over again only where the row, or the contract itself, vouches for it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from client.scripts import STOP, client_with

from commitgate import Choices, Committed, Contract, Regex
from commitgate.errors import StoredValueError
from commitgate.languages import TextSource
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Outcome
from commitgate.retry.keys import operation_key
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

CODE = Regex("[A-Z]{2}-[0-9]+")


async def ask(ledger: MemoryLedger, source: TextSource | Contract[str] = CODE) -> Outcome[str, None]:
    async with client_with(ScriptedBackend([{"text": "AB-12"}, STOP]), ledger) as client:
        return await client.generate_structured("scripted", source, prompt="x", operation_key="k")


def damage(ledger: MemoryLedger, **changes: Any) -> None:
    """Change the row as a hand with a database tool could."""
    rows = ledger._rows  # pyright: ignore[reportPrivateUsage] - no legal step writes such a row
    rows[operation_key("k")] = replace(rows[operation_key("k")], **changes)


@pytest.mark.parametrize("source", [CODE, Contract.of(CODE, refusal=True)])
async def test_receipt_that_cannot_be_read_hides_no_text_of_the_contract(source: Any) -> None:
    ledger = MemoryLedger()
    await ask(ledger, source)
    damage(ledger, receipt=b"{")
    again = await ask(ledger, source)
    assert isinstance(again, Committed)
    assert (again.value, again.is_replayed) == ("AB-12", True)


async def test_reviewed_contract_reads_such_a_row_too() -> None:
    digest = Contract.of(CODE, refusal=True).full_digest
    contract = Contract.of(CODE, refusal=True, reviewed_digest=digest)
    ledger = MemoryLedger()
    await ask(ledger, contract)
    damage(ledger, receipt=None)
    assert (await ask(ledger, contract)).unwrap() == "AB-12"


@pytest.mark.parametrize(
    "value", ["AB-", "ab-12", "AB-12\n", "", "eve", '{"refusal": "no"}', ["AB-12"], 12, None, {"a": "AB-12"}]
)
@pytest.mark.parametrize("receipt", [b"{", None])
async def test_nothing_else_is_read_without_a_receipt(value: object, receipt: bytes | None) -> None:
    ledger = MemoryLedger()
    contract = Contract.of(CODE, refusal=True)
    await ask(ledger, contract)
    damage(ledger, value=json.dumps(value).encode(), receipt=receipt)
    with pytest.raises(StoredValueError) as caught:
        await ask(ledger, contract)
    assert "eve" not in str(caught.value)


@pytest.mark.parametrize("value", [b'"AB-13"', b"AB-12", b"\xff", b'"AB-12', b""])
async def test_changed_text_is_found_out_by_its_digest(value: bytes) -> None:
    ledger = MemoryLedger()
    await ask(ledger)
    damage(ledger, value=value)
    with pytest.raises(StoredValueError):
        await ask(ledger)


async def test_text_of_choices_is_replayed_as_it_was_chosen() -> None:
    ledger, source = MemoryLedger(), Choices(["AB-12", "x"])
    outcomes = [await ask(ledger, source) for _ in range(2)]
    assert [each.unwrap() for each in outcomes] == ["AB-12", "AB-12"]
