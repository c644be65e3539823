"""No text that the strict parse must refuse ends as a value of a call."""

import pytest
from gate.strict_parse_kinds import REFUSED, text_of

from commitgate.client import Client
from commitgate.ledger import MemoryLedger
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


async def test_no_text_of_a_refused_kind_ends_as_a_value() -> None:
    for case in REFUSED:
        text = text_of(case)
        backend = ScriptedBackend([*([{"text": text}] if text else []), {"finish": "stop"}])
        async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
            outcome = await client.generate_structured("scripted", True, prompt="p")
        assert outcome.name in ("violated", "invalid"), case["kind"]
