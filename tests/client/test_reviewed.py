"""A client that was told which contracts were reviewed lets no effect use another one."""

from typing import Any

import pytest
from scripts import GOOD, PAYMENT, Pay, Payments

from commitgate import Client, Contract, ContractTemplate, Risk, sync
from commitgate.errors import MisuseError, ReviewedContractError
from commitgate.gate.check_context import CheckContext
from commitgate.ledger import MemoryLedger, State
from commitgate.outcome import Committed, NeedsApproval
from commitgate.template import EnumValues
from commitgate.testing import ScriptedBackend, Step
from commitgate.tools import ToolCall, tool

pytestmark = pytest.mark.anyio

PAY = Contract.of(Pay)
OTHER = "0" * 64
TO_SOMEBODY = ContractTemplate.of(
    {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, "to": {"enum": EnumValues("people", most=3)}},
        "required": ["amount", "to"],
    },
    risk=Risk.EFFECT,
)
CALL = '{"calls":[{"name":"pay","arguments":{"amount":3}}]}'
LOOK = '{"calls":[{"name":"look_up","arguments":{"name":"bob"}}]}'
ANSWER = '{"answer":"done"}'


def saying(*texts: str) -> ScriptedBackend:
    steps: list[list[Step]] = [[{"text": text}, {"finish": "stop"}] for text in texts]
    return ScriptedBackend(steps[0], then=steps[1:])


def client_of(backend: ScriptedBackend, reviewed: Any, ledger: MemoryLedger | None = None) -> Client:
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger(), reviewed=reviewed)


class Till:
    """Hold a tool that pays and one that looks up."""

    def __init__(self) -> None:
        self.paid = list[int]()

        @tool(effect="once")
        def pay(amount: int) -> str:
            self.paid.append(amount)
            return "paid"

        @tool(effect="read")
        def look_up(name: str) -> str:
            return name

        self.pay, self.look_up = pay, look_up

    def both(self) -> list[Any]:
        return [self.pay, self.look_up]


@pytest.mark.parametrize("schema", [Pay, PAY])
async def test_effect_of_a_contract_that_nobody_reviewed_is_refused_before_anything(schema: Any) -> None:
    backend, ledger, payments = ScriptedBackend(GOOD), MemoryLedger(), Payments()
    async with client_of(backend, [OTHER], ledger) as client:
        with pytest.raises(ReviewedContractError) as raised:
            await client.generate_structured("scripted", schema, prompt="x", effect=payments, operation_key="k")
        async with client.stream_structured("scripted", schema, prompt="x", effect=payments, operation_key="k") as run:
            with pytest.raises(ReviewedContractError):
                await run.outcome()
        assert await ledger.list() == ()
    assert (backend.requests, payments.made) == ([], [])
    error = raised.value
    assert (error.reviewed, error.found, error.template) == (frozenset({OTHER}), PAY.full_digest, None)
    assert PAY.full_digest in str(error)
    assert "Client(reviewed=...)" in str(error)


@pytest.mark.parametrize("schema", [Pay, PAY, Contract.of(Pay, numbers="decimal", authorize=lambda _, __: True)])
async def test_effect_of_a_reviewed_contract_runs(schema: Any) -> None:
    payments = Payments()
    async with client_of(ScriptedBackend(GOOD), {OTHER, PAY.full_digest}) as client:
        outcome = await client.generate_structured("scripted", schema, prompt="x", effect=payments, operation_key="k")
    assert isinstance(outcome, Committed)
    assert payments.made == [Pay(amount=100, to="bob")]


async def test_contract_of_an_effect_is_refused_even_where_the_call_has_none() -> None:
    risky = Contract.of(Pay, risk=Risk.EFFECT)
    async with client_of(ScriptedBackend(GOOD), []) as client:
        with pytest.raises(ReviewedContractError):
            await client.generate_structured("scripted", risky, prompt="x")


async def test_what_has_no_effect_needs_no_review() -> None:
    async with client_of(ScriptedBackend(GOOD, then=[GOOD]), []) as client:
        for key in (None, "k"):
            outcome = await client.generate_structured("scripted", Pay, prompt="x", operation_key=key)
            assert isinstance(outcome, Committed)


async def test_client_without_a_list_asks_for_no_review() -> None:
    payments = Payments()
    async with client_of(ScriptedBackend(GOOD), None) as client:
        outcome = await client.generate_structured(
            "scripted", Contract.of(Pay, risk=Risk.EFFECT), prompt="x", effect=payments, operation_key="k"
        )
    assert isinstance(outcome, Committed)


async def test_reviewed_template_allows_whatever_it_was_filled_with() -> None:
    made: list[object] = []

    def pay(value: Any, context: object) -> None:
        made.append(value)

    async with client_of(ScriptedBackend(GOOD), [TO_SOMEBODY.digest]) as client:
        outcome = await client.generate_structured(
            "scripted", TO_SOMEBODY.fill(people=["ann", "bob"]), prompt="x", effect=pay, operation_key="k"
        )
    assert isinstance(outcome, Committed)
    assert made == [{"amount": 100, "to": "bob"}]


async def test_one_filled_contract_can_be_allowed_without_its_template() -> None:
    for_bob = TO_SOMEBODY.fill(people=["bob"])
    async with client_of(ScriptedBackend(GOOD), [for_bob.full_digest]) as client:
        assert isinstance(await client.generate_structured("scripted", for_bob, prompt="x"), Committed)
        with pytest.raises(ReviewedContractError) as raised:
            await client.generate_structured("scripted", TO_SOMEBODY.fill(people=["ann"]), prompt="x")
    assert raised.value.template == TO_SOMEBODY.digest
    assert TO_SOMEBODY.digest in str(raised.value)


async def test_contract_that_was_changed_after_it_was_filled_is_not_the_templates_any_more() -> None:
    changed = Contract.of(TO_SOMEBODY.fill(people=["bob"]), refusal=True)
    async with client_of(ScriptedBackend(GOOD), [TO_SOMEBODY.digest]) as client:
        with pytest.raises(ReviewedContractError):
            await client.generate_structured("scripted", changed, prompt="x")


async def test_approval_of_a_stored_value_is_not_recorded_where_its_contract_is_not_allowed() -> None:
    ledger, payments = MemoryLedger(), Payments()

    def always(value: Pay, context: CheckContext) -> bool:
        return True

    async with client_of(ScriptedBackend(GOOD), None, ledger) as proposing:
        outcome = await proposing.generate_structured(
            "scripted", Pay, prompt="x", effect=payments, operation_key="k", approve=always
        )
    assert isinstance(outcome, NeedsApproval)
    async with client_of(ScriptedBackend(GOOD), [OTHER], ledger) as strict:
        with pytest.raises(ReviewedContractError):
            await strict.approve("k", by="ann", schema=Pay, effect=payments)
    (row,) = await ledger.list()
    assert (row.state, payments.made) == (State.AWAITING_APPROVAL, [])
    async with client_of(ScriptedBackend(GOOD), [PAY.full_digest], ledger) as allowing:
        approved = await allowing.approve("k", by="ann", schema=Pay, effect=payments)
    assert isinstance(approved, Committed)
    assert payments.made == [Pay(amount=100, to="bob")]


async def test_value_can_be_rejected_and_told_whatever_is_allowed() -> None:
    ledger = MemoryLedger()
    async with client_of(ScriptedBackend(GOOD), None, ledger) as client:
        await client.generate_structured(
            "scripted", Pay, prompt="x", effect=Payments(), operation_key="k", approve=lambda _, __: True
        )
    async with client_of(ScriptedBackend(GOOD), [], ledger) as client:
        await client.reject("k", by="ann")
        told = await client.outcome("k", Contract.of(Pay, risk=Risk.EFFECT))
    assert told is not None


async def test_call_that_would_only_replay_is_refused_too() -> None:
    ledger, payments = MemoryLedger(), Payments()
    asked: dict[str, Any] = {"prompt": "x", "effect": payments, "operation_key": "k"}
    async with client_of(ScriptedBackend(GOOD), None, ledger) as client:
        await client.generate_structured("scripted", Pay, **asked)
    async with client_of(ScriptedBackend(GOOD), [], ledger) as client:
        with pytest.raises(ReviewedContractError):
            await client.generate_structured("scripted", Pay, **asked)
        assert isinstance(await client.outcome("k", Pay), Committed)


@pytest.mark.parametrize("way", ["run", "stream", "turn"])
async def test_tool_that_nobody_reviewed_is_not_even_shown_to_the_model(way: str) -> None:
    till, backend, ledger = Till(), saying(CALL, ANSWER), MemoryLedger()
    asked: dict[str, Any] = {"tools": till.both(), "prompt": "pay", "operation_key": "k"}
    async with client_of(backend, [till.look_up.contract.full_digest], ledger) as client:

        async def streamed(*given: Any, **options: Any) -> None:
            async with client.stream_tools(*given, **options) as run:
                await run.outcome()

        ways: dict[str, Any] = {"run": client.run_tools, "stream": streamed, "turn": client.next_turn}
        with pytest.raises(ReviewedContractError, match="the contract of the tool pay"):
            await ways[way]("scripted", **asked)
        assert await ledger.list() == ()
    assert (backend.requests, till.paid) == ([], [])


async def test_reviewed_tool_runs_and_one_that_reads_needs_no_review() -> None:
    till, backend = Till(), saying(LOOK, CALL, ANSWER)
    async with client_of(backend, [till.pay.contract.full_digest]) as client:
        outcome = await client.run_tools("scripted", tools=till.both(), prompt="pay", operation_key="k")
    assert isinstance(outcome, Committed)
    assert till.paid == [3]


async def test_single_call_of_a_tool_that_nobody_reviewed_is_refused() -> None:
    till, ledger = Till(), MemoryLedger()
    call = ToolCall(turn=1, ordinal=1, name="pay", arguments_json=b'{"amount":3}')
    async with client_of(saying(ANSWER), [OTHER], ledger) as client:
        with pytest.raises(ReviewedContractError):
            await client.run_call(call, tools=till.both(), operation_key="k")
        assert await ledger.list() == ()
    assert till.paid == []


async def test_answer_of_a_run_of_tools_is_held_to_the_list_by_its_risk() -> None:
    till, backend = Till(), saying(PAYMENT)
    answer = Contract.of(Pay, risk=Risk.EFFECT)
    async with client_of(backend, [till.pay.contract.full_digest]) as client:
        with pytest.raises(ReviewedContractError, match="the contract of the answer"):
            await client.run_tools("scripted", tools=till.both(), prompt="x", operation_key="k", answer=answer)
    assert backend.requests == []


def test_blocking_client_keeps_to_the_list_too() -> None:
    backend, payments = ScriptedBackend(GOOD, then=[GOOD]), Payments()
    asked: dict[str, Any] = {"prompt": "x", "effect": payments}
    with sync.Client(backends={"scripted": backend}, ledger=MemoryLedger(), reviewed=[PAY.full_digest]) as client:
        with pytest.raises(ReviewedContractError):
            client.generate_structured("scripted", Contract.of(Pay, name="other"), **asked, operation_key="k1")
        outcome = client.generate_structured("scripted", Pay, **asked, operation_key="k2")
    assert isinstance(outcome, Committed)
    assert len(payments.made) == 1


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (OTHER, "reviewed must be a list of digests, found str"),
        (3, "reviewed must be a list of digests, found int"),
        ([OTHER, "abc"], r"reviewed\[1\] must be a full_digest or the digest of a template"),
        ([PAY], r"reviewed\[0\] must be .*, found Contract"),
        ([OTHER.replace("0", "A")], r"reviewed\[0\] must be .* in lower case, found upper case$"),
        ([OTHER[1:]], r"reviewed\[0\] must be .*, found 63 characters$"),
        ([OTHER[1:] + "g"], r"reviewed\[0\] must be .*, found other characters$"),
    ],
)
@pytest.mark.parametrize("kind", [Client, sync.Client])
def test_what_is_no_list_of_digests_is_misuse(kind: Any, given: Any, wanted: str) -> None:
    with pytest.raises(MisuseError, match=wanted):
        kind(reviewed=given)
