"""What a call's receipt, deadline and keys say holds on the rare ways too."""

from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, STOP, Pay, Payments, client_with

from commitgate import Contract, Risk
from commitgate.backends.base import GenerationRequest
from commitgate.client import StructuredRun
from commitgate.errors import UnsupportedError
from commitgate.gate.check_context import CheckContext
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Cancelled, Committed, TimedOut
from commitgate.preview import Preview, Reset
from commitgate.retry import Retry
from commitgate.testing import ScriptedBackend, Step
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

TOTAL_S = 0.05
CUT: list[Step] = [{"text": '{"amount":1'}, {"close": "rst"}]


async def test_replay_that_waits_for_its_authorization_is_bounded_by_the_total() -> None:
    ledger, payments = MemoryLedger(), Payments()
    asked: dict[str, Any] = {"prompt": "x", "effect": payments, "operation_key": "k"}

    async def never(value: Pay, context: CheckContext) -> bool:
        await anyio.sleep_forever()
        return True

    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        await client.generate_structured("scripted", Pay, **asked)
        with anyio.fail_after(10):
            replayed = await client.generate_structured(
                "scripted", Pay, **asked, authorize=never, timeouts=Timeouts(total_s=TOTAL_S)
            )
        again = await client.generate_structured("scripted", Pay, **asked)
    assert isinstance(replayed, TimedOut)
    assert (replayed.phase, replayed.limit_s, replayed.receipt.attempts) == ("total", TOTAL_S, 0)
    assert isinstance(again, Committed)
    assert again.is_replayed
    assert len(payments.made) == 1


async def test_cancelled_call_names_no_committed_value() -> None:
    payments = Payments()
    runs: list[StructuredRun[Pay, str]] = []

    def cancels(value: Pay) -> None:
        runs[0].cancel()

    async with (
        client_with(ScriptedBackend([{"text": PAYMENT}, STOP])) as client,
        client.stream_structured(
            "scripted", Pay, prompt="x", rules=[cancels], effect=payments, operation_key="k"
        ) as run,
    ):
        runs.append(run)
        outcome = await run.outcome()
    assert isinstance(outcome, Cancelled)
    assert outcome.receipt.value_digest is None
    assert payments.made == []


class Unconstrained(ScriptedBackend):
    """Refuse what it cannot enforce, after it noted the request."""

    def open(self, request: GenerationRequest) -> Any:
        if request.is_constrained:
            self.requests.append(request)
            raise UnsupportedError("this backend constrains nothing", keyword="type", pointer="", reason="it cannot")
        return super().open(request)


async def test_request_without_the_constraint_has_a_key_of_its_own() -> None:
    backend = Unconstrained(GOOD)
    async with client_with(backend) as client:
        outcome = await client.generate_structured(
            "scripted", Contract.of(Pay, risk=Risk.DRAFT), prompt="x", fallback="prompt_only"
        )
    assert isinstance(outcome, Committed)
    assert outcome.is_fallback
    assert [request.is_constrained for request in backend.requests] == [True, False]
    assert len({request.idempotency_key for request in backend.requests}) == 2


async def test_reader_that_missed_resets_sees_the_newest_before_the_newest_preview() -> None:
    async with (
        client_with(ScriptedBackend(CUT, then=[CUT, GOOD])) as client,
        client.stream_structured(
            "scripted", Pay, prompt="x", retry=Retry(restarts=2, backoff_s=0.001, backoff_most_s=0.001)
        ) as run,
    ):
        late = run.latest()
        await run.outcome()
        seen = [item async for item in late]
    assert [(type(item), item.attempt) for item in seen] == [(Reset, 3), (Preview, 3)]
