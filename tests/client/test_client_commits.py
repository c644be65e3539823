"""One operation key, one effect: claims, replays, conflicts and what the ledger keeps."""

from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel
from scripts import GOOD, PAY, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.client import Client
from commitgate.effect import EffectContext
from commitgate.errors import EffectRejected, InProgressError, KeyConflictError, LeaseLostError
from commitgate.ledger import LEDGER_VARIABLE, MemoryLedger, State
from commitgate.outcome import Committed, EffectFailed, InDoubt
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


async def pay(ledger: MemoryLedger, backend: ScriptedBackend, schema: Any = Pay, **options: Any) -> Any:
    async with client_with(backend, ledger) as client:
        return await client.generate_structured("scripted", schema, **{"prompt": "x", "operation_key": "k", **options})


async def test_second_call_replays_without_asking_the_model() -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(GOOD)
    first = await pay(ledger, backend, effect=payments)
    second = await pay(ledger, backend, effect=payments)
    assert isinstance(first, Committed)
    assert isinstance(second, Committed)
    assert (first.is_replayed, second.is_replayed) == (False, True)
    assert (first.value, first.result) == (second.value, second.result)
    assert second.receipt == first.receipt
    assert (len(payments.made), len(backend.requests)) == (1, 1)


class Bill(BaseModel):
    total: Decimal
    count: int
    paid: bool = False


async def test_replayed_value_is_exactly_the_first_one() -> None:
    ledger = MemoryLedger()
    backend = ScriptedBackend([{"text": '{"total":0.10000000000000000000001,"count":1e2}'}, STOP])
    first, second = [await pay(ledger, backend, Bill) for _ in range(2)]
    assert second.is_replayed
    assert repr(second.value) == repr(first.value) == repr(Bill(total=Decimal("0.10000000000000000000001"), count=100))


@pytest.mark.parametrize("numbers", ["float", "decimal"])
async def test_plain_json_is_replayed_exactly(numbers: str) -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend([{"text": '{"a":[1.50,2,1e2,"é"]}'}, STOP])
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    first, second = [await pay(ledger, backend, schema, numbers=numbers) for _ in range(2)]
    assert second.is_replayed
    assert repr(second.value) == repr(first.value)


def capital(country: str) -> dict[str, object]:
    described = {"type": "string", "description": f"the capital of {country}"}
    return {"type": "object", "properties": {"city": described}, "required": ["city"]}


@pytest.mark.parametrize("system", [None, "be brief"])
@pytest.mark.parametrize("prompt_schema", ["append", "none"])
async def test_words_of_the_schema_that_are_the_prompt_are_part_of_the_input(
    system: str | None, prompt_schema: str
) -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend([{"text": '{"city":"Paris"}'}, STOP])
    options: dict[str, Any] = {"prompt": None, "system": system, "prompt_schema": prompt_schema}
    await pay(ledger, backend, capital("France"), **options)
    assert (await pay(ledger, backend, capital("France"), **options)).is_replayed
    with pytest.raises(KeyConflictError) as caught:
        await pay(ledger, backend, capital("Japan"), **options)
    assert caught.value.differs == ("input_fingerprint",)


async def test_words_of_the_schema_beside_a_prompt_are_no_part_of_the_input() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend([{"text": '{"city":"Paris"}'}, STOP])
    await pay(ledger, backend, capital("France"))
    assert (await pay(ledger, backend, capital("the French"))).is_replayed


async def test_key_without_effect_stores_the_value_itself() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    first = await pay(ledger, backend)
    second = await pay(ledger, backend)
    assert (first.is_replayed, second.is_replayed, len(backend.requests)) == (False, True, 1)
    assert (second.value, second.result) == (Pay(amount=100, to="bob"), None)


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"schema": {"type": "integer"}}, ("language_digest",)),
        ({"prompt": "y"}, ("input_fingerprint",)),
        ({"system": "be kind"}, ("input_fingerprint",)),
        ({"effect": Payments()}, ("effect_name", "effect_version")),
    ],
    ids=["schema", "prompt", "system", "effect"],
)
async def test_key_that_stands_for_something_else_conflicts(change: dict[str, Any], differs: tuple[str, ...]) -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    await pay(ledger, backend)
    with pytest.raises(KeyConflictError) as caught:
        await pay(ledger, backend, **change)
    assert caught.value.differs == differs
    assert len(backend.requests) == 1


async def test_prose_in_the_schema_and_a_fingerprint_of_the_callers_make_no_conflict() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    await pay(ledger, backend, PAY, input_fingerprint="case 1")
    described = {**PAY, "title": "Payment", "description": "what to pay"}
    again = await pay(ledger, backend, described, prompt="other words", input_fingerprint="case 1")
    assert again.is_replayed


@pytest.mark.parametrize("script", [[{"text": PAYMENT}], [{"refusal": "no"}], [{"text": "x"}, STOP]])
async def test_call_that_chose_no_value_gives_its_key_back_and_says_why(script: Any) -> None:
    ledger, payments = MemoryLedger(), Payments()
    failed = await pay(ledger, ScriptedBackend(script), effect=payments)
    (row,) = await ledger.list()
    assert (row.state, row.reason) == (State.RELEASED, failed.name)
    assert (await pay(ledger, ScriptedBackend(GOOD), effect=payments)).name == "committed"
    assert len(payments.made) == 1


async def test_second_call_while_the_first_runs_is_in_progress() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend([{"text": "{"}, {"wait": None}])
    async with client_with(backend, ledger) as client:
        options: Any = {"prompt": "x", "operation_key": "k"}
        async with client.stream_structured("scripted", Pay, **options) as run:
            async for _ in run:
                with pytest.raises(InProgressError) as caught:
                    await client.generate_structured("scripted", Pay, **options)
                assert caught.value.lease_remaining_s > 0
                break
    assert len(backend.requests) == 1


class Telling(MemoryLedger):
    """Tells when a claim was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.claimed = anyio.Event()

    async def claim(self, *args: Any, **options: Any) -> Any:
        self.claimed.set()
        return await super().claim(*args, **options)


async def test_error_reaches_a_caller_who_only_iterates() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    await pay(ledger, backend)
    async with client_with(backend, ledger) as client:
        run = client.stream_structured("scripted", Pay, prompt="other", operation_key="k")
        async with run:
            with pytest.raises(KeyConflictError):
                await anext(run)


async def test_error_reaches_a_caller_who_only_leaves() -> None:
    ledger, backend = Telling(), ScriptedBackend(GOOD)
    await pay(ledger, backend)
    ledger.claimed = anyio.Event()
    async with client_with(backend, ledger) as client:
        run = client.stream_structured("scripted", Pay, prompt="other", operation_key="k")
        await run.__aenter__()
        await ledger.claimed.wait()
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(KeyConflictError):
            await run.__aexit__(None, None, None)


async def test_lost_claim_is_raised_and_commits_nothing() -> None:
    """A ledger that disowns the claim at the last step: the value must not be handed over."""

    class Disowning(MemoryLedger):
        async def start_effect(self, *args: Any, **options: Any) -> None:
            raise LeaseLostError("taken over")

    payments = Payments()
    with pytest.raises(LeaseLostError):
        await pay(Disowning(), ScriptedBackend(GOOD), effect=payments)
    assert payments.made == []


async def rejecting(value: Pay, context: EffectContext) -> None:
    raise EffectRejected("account closed")


async def breaking(value: Pay, context: EffectContext) -> None:
    raise ConnectionError("canary")


async def test_effect_that_rejects_has_failed_and_stays_so() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    for _ in range(2):
        outcome = await pay(ledger, backend, effect=rejecting)
        assert isinstance(outcome, EffectFailed)
        assert outcome.reason == "account closed"
    assert len(backend.requests) == 1


async def test_effect_that_breaks_is_in_doubt_and_is_not_run_again() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    for _ in range(2):
        outcome = await pay(ledger, backend, effect=breaking)
        assert isinstance(outcome, InDoubt)
        assert "canary" not in repr(outcome)
    assert len(backend.requests) == 1


@pytest.mark.parametrize("is_named_by_environment", [True, False])
async def test_ledger_file_comes_from_the_argument_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named_by_environment: bool
) -> None:
    path = tmp_path / "ledger.sqlite"
    place = None if is_named_by_environment else path
    if is_named_by_environment:
        monkeypatch.setenv(LEDGER_VARIABLE, str(path))
    backend, payments = ScriptedBackend(GOOD), Payments()
    for is_replayed in (False, True):
        async with Client(backends={"scripted": backend}, ledger=place) as client:
            outcome = await client.generate_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")
        assert isinstance(outcome, Committed)
        assert outcome.is_replayed is is_replayed
    assert path.exists()
    assert len(payments.made) == 1


async def test_call_without_a_key_opens_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    async with Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=path) as client:
        assert (await client.generate_structured("scripted", Pay, prompt="x")).name == "committed"
    assert not path.exists()


@pytest.mark.parametrize("error", [GeneratorExit, StopIteration])
async def test_synchronous_effect_that_raises_what_no_code_should_is_in_doubt(error: type[BaseException]) -> None:
    def leaving(value: Pay, context: EffectContext) -> None:
        raise error

    ledger = MemoryLedger()
    with suppress(error):
        await pay(ledger, ScriptedBackend(GOOD), effect=leaving)
    (row,) = await ledger.list()
    assert row.state is State.IN_DOUBT


async def test_effect_that_changes_its_value_changes_nothing_but_its_own_copy() -> None:
    def changing(value: Pay, context: EffectContext) -> int:
        value.amount = 99
        return value.amount

    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    first, second = [await pay(ledger, backend, effect=changing) for _ in range(2)]
    assert first.result == second.result == 99
    assert first.value == second.value == Pay(amount=100, to="bob")
