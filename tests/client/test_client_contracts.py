"""Contracts that cannot be enforced, and calls that contradict themselves."""

from typing import Any

import pytest
from scripts import GOOD, PAY, Pay, Payments, client_with

from commitgate.backends.base import Message, Sampling
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import ContractError, MisuseError, UnknownModelError
from commitgate.ledger import MemoryLedger
from commitgate.outcome import CompileFailed, Unsupported
from commitgate.testing import ScriptedBackend
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

UNSUPPORTED = {"type": "string", "pattern": r"(.)\1"}
BROKEN = {"type": "nothing"}


async def test_unenforceable_keyword_ends_the_call_before_any_request() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", {"properties": {"a": UNSUPPORTED}}, prompt="x")
    assert isinstance(outcome, Unsupported)
    assert (outcome.keyword, outcome.pointer) == ("pattern", "/properties/a")
    assert outcome.receipt.compile_result == "failed"
    assert (outcome.receipt.attempts, backend.requests) == (0, [])


@pytest.mark.parametrize("schema", [BROKEN, False, {"$ref": "#/nowhere"}])
async def test_contract_that_cannot_be_built_ends_the_call(schema: Any) -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", schema, prompt="x")
    assert isinstance(outcome, CompileFailed)
    assert backend.requests == []


async def test_contract_built_by_the_caller_raises_by_itself() -> None:
    for schema in (UNSUPPORTED, BROKEN):
        with pytest.raises(ContractError):
            Contract.of(schema)


async def test_key_is_not_claimed_for_a_contract_that_cannot_be_built() -> None:
    ledger, backend = MemoryLedger(), ScriptedBackend(GOOD)
    async with client_with(backend, ledger) as client:
        await client.generate_structured("scripted", UNSUPPORTED, prompt="x", operation_key="k")
        outcome = await client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
    assert outcome.name == "committed"


@pytest.mark.parametrize(
    "options",
    [
        {"effect": Payments()},
        {"input_fingerprint": "x"},
        {"prompt": "a", "messages": [Message("user", "b")]},
        {"prompt": " \n"},
        {"prompt": ""},
        {"system": " "},
        {"messages": []},
        {"system": "a", "messages": [Message("system", "b"), Message("user", "c")]},
        {"operation_key": ""},
        {"operation_key": "x" * 2_000},
        {"prompt_schema": "maybe"},
        {"numbers": "fraction"},
        {"rules": [3]},
        {"effect": lambda value, context: None, "operation_key": "k"},
    ],
    ids=str,
)
async def test_call_that_contradicts_itself_raises_before_anything(options: dict[str, Any]) -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        with pytest.raises(MisuseError):
            await client.generate_structured("scripted", Pay, **options)
        with pytest.raises(MisuseError):
            client.stream_structured("scripted", Pay, **options)
    assert backend.requests == []


@pytest.mark.parametrize("model", ["", " ", "nobody", "nobody/model", "/scripted", "Scripted"])
async def test_unknown_model_names_the_known_backends(model: str) -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(UnknownModelError, match=r"commitgate, .*local, .*scripted"):
            await client.generate_structured(model, Pay, prompt="x")


@pytest.mark.parametrize(
    ("model", "name"),
    [("scripted", ""), ("scripted/", ""), ("scripted/a", "a"), ("scripted/Qwen/Qwen3-8B", "Qwen/Qwen3-8B")],
)
async def test_model_is_split_at_the_first_slash(model: str, name: str) -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        outcome = await client.generate_structured(model, Pay, prompt="x")
    assert backend.requests[0].model == name
    assert (outcome.receipt.backend, outcome.receipt.model) == ("scripted", name)


@pytest.mark.parametrize("name", ["", "a/b"])
async def test_backend_that_no_model_could_name_is_refused(name: str) -> None:
    with pytest.raises(MisuseError):
        Client(backends={name: ScriptedBackend(GOOD)})


@pytest.mark.parametrize("schema", [3, "a schema", None, [], object()])
async def test_what_is_no_schema_at_all_is_misuse(schema: Any) -> None:
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(MisuseError):
            await client.generate_structured("scripted", schema, prompt="x")


async def test_client_must_be_entered() -> None:
    client = Client(backends={"scripted": ScriptedBackend(GOOD)})
    with pytest.raises(MisuseError):
        client.stream_structured("scripted", PAY, prompt="x")
    async with client:
        with pytest.raises(MisuseError):
            await client.__aenter__()


async def test_run_must_be_entered_and_only_once() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        run = client.stream_structured("scripted", PAY, prompt="x")
        for use in (run.outcome, run.__anext__):
            with pytest.raises(MisuseError):
                await use()
        assert backend.requests == []
        async with run:
            await run.outcome()
        with pytest.raises(MisuseError):
            await run.__aenter__()


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "3"])
@pytest.mark.parametrize("name", ["first_event_s", "idle_s", "progress_s", "total_s"])
async def test_timeouts_are_checked(name: str, value: Any) -> None:
    with pytest.raises(MisuseError, match=name):
        Timeouts(**{name: value})


async def test_request_carries_what_was_asked_for() -> None:
    backend = ScriptedBackend(GOOD)
    sampling = Sampling(temperature=0.7, seed=3)
    async with client_with(backend) as client:
        await client.generate_structured("scripted", Pay, prompt="x", sampling=sampling, forced=False)
    (request,) = backend.requests
    assert (request.sampling, request.forced) == (sampling, False)
    assert request.contract.type_adapter is not None
