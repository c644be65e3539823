"""A run that was interrupted goes on under its key: no turn is asked for twice, and no call is done twice."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from till import Till, answering, backend_of, calling, client_of

from commitgate.errors import InProgressError, KeyConflictError, StoredValueError
from commitgate.gate.rules import RuleViolation
from commitgate.ledger import MemoryLedger, SqliteLedger
from commitgate.outcome import Committed, InDoubt, Invalid, NeedsApproval
from commitgate.testing import FaultPoint, ScriptedBackend
from commitgate.tools import Tool, call_key, turn_key

pytestmark = pytest.mark.anyio

TURN = [("pay", '{"amount":1}'), ("pay", '{"amount":2}'), ("pay", '{"amount":3}')]


class Interrupt:
    """Raise once, when a certain amount is about to be paid."""

    def __init__(self, amount: int, error: BaseException) -> None:
        self.error: BaseException | None = error
        self._amount = amount

    def __call__(self, amount: int) -> None:
        if amount == self._amount and self.error is not None:
            error, self.error = self.error, None
            raise error


async def run(backend: ScriptedBackend, ledger: Any, tools: list[Tool[..., Any]]) -> Any:
    async with client_of(backend, ledger) as client:
        return await client.run_tools("scripted", tools=tools, prompt="pay", operation_key="k")


@pytest.mark.parametrize("kind", ["by_key", "once"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
async def test_interrupt_in_a_call_leaves_what_was_done_and_the_rest_to_the_next_run(
    kind: str, error: BaseException, tmp_path: Path
) -> None:
    till = Till(before_paying=Interrupt(2, error))
    pay = till.tool(effect=kind)
    ledger = SqliteLedger(tmp_path / "ledger.db")
    with pytest.raises(type(error)):
        await run(backend_of(calling(*TURN), answering()), ledger, [pay])
    assert till.paid == [(1, "me")]
    second = backend_of(answering())  # who asks for the first turn again gets an answer
    outcome = await run(second, ledger, [pay])
    if kind == "once":
        assert isinstance(outcome, InDoubt)
        assert till.paid == [(1, "me")]
    else:
        assert isinstance(outcome, Committed)
        assert till.paid == [(1, "me"), (2, "me"), (3, "me")]
        assert len(outcome.result) == 3
    assert len(second.requests) == (0 if kind == "once" else 1)
    await ledger.aclose()


@pytest.mark.parametrize("point", [FaultPoint.OPENING, FaultPoint.MID_TEXT, FaultPoint.AFTER_TEXT])
async def test_turn_that_breaks_off_is_asked_for_again_and_calls_before_it_are_not(point: FaultPoint) -> None:
    till, ledger = Till(), MemoryLedger()
    first = backend_of(calling(*TURN), [{"tool": {"i": 0, "name": "pay", "args": '{"amount":4'}}, {"close": "rst"}])
    assert not isinstance(await run(first, ledger, [till.tool()]), Committed)
    broken = ScriptedBackend(calling(("pay", '{"amount":4}')), fault_at={point: ConnectionError()})
    with pytest.raises(ConnectionError):
        await run(broken, ledger, [till.tool()])
    outcome = await run(backend_of(calling(("pay", '{"amount":5}')), answering()), ledger, [till.tool()])
    assert isinstance(outcome, Committed)
    assert [amount for amount, _ in till.paid] == [1, 2, 3, 5]


async def test_run_whose_stored_turn_was_deleted_asks_for_no_other_one() -> None:
    till, ledger = Till(), MemoryLedger()
    pay = till.tool(approve=lambda arguments, context: arguments.amount == 2)
    first = await run(backend_of(calling(*TURN)), ledger, [pay])
    assert isinstance(first, NeedsApproval)
    assert till.paid == [(1, "me")]
    assert await ledger.prune(older_than_s=0.0) == 2  # the turn, and the call that ran; the one that waits stays
    second = backend_of(calling(*TURN), answering())
    with pytest.raises(KeyConflictError, match="turn 1 of this run is not in the ledger") as caught:
        await run(second, ledger, [pay])
    assert caught.value.differs == ("turn",)
    assert (len(second.requests), till.paid) == (0, [(1, "me")])


async def test_run_of_which_nothing_is_left_begins_anew() -> None:
    till, ledger = Till(), MemoryLedger()
    await run(backend_of(calling(*TURN), answering()), ledger, [till.tool()])
    await ledger.prune(older_than_s=0.0)
    assert await ledger.list() == ()
    assert isinstance(await run(backend_of(calling(*TURN), answering()), ledger, [till.tool()]), Committed)
    assert len(till.paid) == 6


async def test_vendors_ids_and_spelling_are_no_part_of_the_identity() -> None:
    till, ledger = Till(), MemoryLedger()
    turn = [{"tool": {"i": 4, "id": "x", "name": "pay", "args": '{ "amount" : 1.00e0 }'}}, {"finish": "stop"}]
    first = backend_of(turn, [{"close": "rst"}])
    assert not isinstance(await run(first, ledger, [till.tool()]), Committed)
    outcome = await run(backend_of(answering()), ledger, [till.tool()])
    assert isinstance(outcome, Committed)
    assert till.paid == [(1, "me")]


async def test_arguments_that_are_not_those_of_the_stored_call_conflict() -> None:
    till, ledger = Till(), MemoryLedger()
    await run(backend_of(calling(("pay", '{"amount":1}')), answering()), ledger, [till.tool()])
    assert await ledger.prune(older_than_s=0, limit=1) == 1  # the oldest row, which is the turn
    assert await ledger.read(turn_key("k", 1)) is None
    with pytest.raises(KeyConflictError):
        await run(backend_of(calling(("pay", '{"amount":2}')), answering()), ledger, [till.tool()])
    assert till.paid == [(1, "me")]


REFUSED_KEY = f"{call_key('k', 1, 1)}/refused"


async def test_record_of_a_refusal_is_not_taken_from_another_operation() -> None:
    till, ledger = Till(), MemoryLedger()
    async with client_of(ScriptedBackend([{"text": '"no"'}, {"finish": "stop"}]), ledger) as client:
        other = await client.generate_structured("scripted", str, prompt="x", operation_key=REFUSED_KEY)
    assert isinstance(other, Committed)
    with pytest.raises(KeyConflictError):
        await run(backend_of(calling(("pay", '{"amount":1}'))), ledger, [till.tool()])
    assert till.paid == []


async def refused_once(ledger: MemoryLedger, till: Till) -> Tool[..., Any]:
    """Let a call of 60 be refused and drop its turn; return the tool, which takes it from then on."""
    limits = [50]

    def rule(arguments: Any) -> RuleViolation | None:
        return RuleViolation("limit", "too much") if arguments.amount > limits[0] else None

    pay = till.tool(rules=[rule])
    await run(backend_of(calling(("pay", '{"amount":60}')), [{"close": "rst"}]), ledger, [pay])
    limits[0] = 1_000
    assert await ledger.prune(older_than_s=0, limit=1) == 1
    assert await ledger.read(turn_key("k", 1)) is None
    return pay


async def test_turn_of_which_a_refusal_is_left_is_not_asked_for_anew() -> None:
    till, ledger = Till(), MemoryLedger()
    pay = await refused_once(ledger, till)
    backend = backend_of(calling(("pay", '{ "amount": 60 }')), answering())
    with pytest.raises(KeyConflictError, match="turn 1 of this run is not in the ledger"):
        await run(backend, ledger, [pay])
    assert (len(backend.requests), till.paid) == (0, [])


async def test_refusal_of_other_arguments_is_a_conflict() -> None:
    till, ledger = Till(), MemoryLedger()
    pay = await refused_once(ledger, till)
    with pytest.raises(KeyConflictError):
        await run(backend_of(calling(("pay", '{"amount":40}')), answering()), ledger, [pay])
    assert till.paid == []


async def test_call_that_one_run_refused_is_done_by_no_other_at_the_same_time() -> None:
    till, ledger = Till(), MemoryLedger()
    asked, go_on, outcomes = anyio.Event(), anyio.Event(), list[Any]()

    async def only_the_first_is_refused(arguments: Any, context: Any) -> RuleViolation | None:
        if asked.is_set():
            return None
        asked.set()
        await go_on.wait()
        return RuleViolation("no", "not now")

    pay = till.tool(evidence=[only_the_first_is_refused])
    backend = backend_of(calling(("pay", '{"amount":1}')), answering())

    async def one() -> None:
        async with client_of(backend, ledger) as client:
            options: dict[str, Any] = {"tools": [pay], "prompt": "pay", "operation_key": "k", "in_progress": "wait"}
            outcomes.append(await client.run_tools("scripted", **options))

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        await asked.wait()
        group.start_soon(one)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    assert [type(each.outcome) for outcome in outcomes for each in outcome.result] == [Invalid, Invalid]
    assert till.paid == []


UNKNOWN_LAYER = b'[{"code":"","layer":"of tomorrow","message":"","pointer":""}]'


@pytest.mark.parametrize("value", [b"[]", b"5", b"{", b"\xff", UNKNOWN_LAYER, None], ids=str)
@pytest.mark.parametrize("has_receipt", [True, False])
async def test_damaged_record_of_a_refusal_is_told_and_nothing_is_done(
    tmp_path: Path, value: bytes | None, has_receipt: bool
) -> None:
    till, path = Till(), tmp_path / "ledger.db"
    ledger = SqliteLedger(path)
    refusing = till.tool(rules=[lambda arguments: RuleViolation("limit", "too much")])
    await run(backend_of(calling(("pay", '{"amount":1}')), [{"close": "rst"}]), ledger, [refusing])
    with closing(sqlite3.connect(path)) as connection, connection:
        receipt = "receipt" if has_receipt else "NULL"
        statement = f"UPDATE commitgate_operation SET value = ?, receipt = {receipt} WHERE key = ?"
        assert connection.execute(statement, (value, REFUSED_KEY.encode())).rowcount == 1
    with pytest.raises(StoredValueError):
        await run(backend_of(answering()), ledger, [till.tool()])
    assert till.paid == []
    await ledger.aclose()


@pytest.mark.parametrize("key", [turn_key("k", 1), call_key("k", 1, 1)])
@pytest.mark.parametrize("is_first", [True, False])
async def test_key_of_a_turn_or_call_that_is_used_for_something_else_conflicts(key: str, is_first: bool) -> None:
    till, ledger, pay = Till(), MemoryLedger(), Till().tool()
    mine = till.tool()
    if not is_first:
        await run(backend_of(calling(("pay", '{"amount":1}')), answering()), ledger, [mine])
    # The same arguments, contract and effect as the call has; only who asked for them differs.
    same: dict[str, Any] = {"prompt": "pay", "effect": pay.effect, "input_fingerprint": '{"amount":1}'}
    async with client_of(ScriptedBackend([{"text": '{"amount":1}'}, {"finish": "stop"}]), ledger) as client:
        if is_first:
            own = await client.generate_structured("scripted", pay.contract, operation_key=key, **same)
            assert isinstance(own, Committed)
        else:
            with pytest.raises(KeyConflictError):
                await client.generate_structured("scripted", pay.contract, operation_key=key, **same)
    if is_first:
        with pytest.raises(KeyConflictError):
            await run(backend_of(calling(("pay", '{"amount":1}')), answering()), ledger, [mine])
    assert till.paid == ([] if is_first else [(1, "me")])


async def test_replay_is_authorized_anew() -> None:
    allowed, ledger, till = [True], MemoryLedger(), Till()
    pay = till.tool(authorize=lambda arguments, context: allowed[0])
    backend = backend_of(calling(("pay", '{"amount":1}')), answering())
    await run(backend, ledger, [pay])
    allowed[0] = False
    assert isinstance(await run(backend, ledger, [pay]), Invalid)


async def test_two_runs_at_once_do_each_call_once() -> None:
    till, ledger = Till(), MemoryLedger()
    pay, backend = till.tool(), backend_of(calling(*TURN), answering())
    outcomes: list[object] = []

    async def one() -> None:
        async with client_of(backend, ledger) as client:
            outcomes.append(
                await client.run_tools("scripted", tools=[pay], prompt="pay", operation_key="k", in_progress="wait")
            )

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(one)
    assert [type(each) for each in outcomes] == [Committed] * 8
    assert till.paid == [(1, "me"), (2, "me"), (3, "me")]


async def test_run_that_is_in_progress_is_told() -> None:
    ledger, started = MemoryLedger(), anyio.Event()

    class Signal:
        async def wait(self) -> None:
            started.set()
            await anyio.sleep_forever()

    hanging = ScriptedBackend([{"wait": Signal()}])
    async with client_of(hanging, ledger) as client, anyio.create_task_group() as group:
        group.start_soon(lambda: client.run_tools("scripted", tools=[Till().tool()], prompt="pay", operation_key="k"))
        await started.wait()
        with pytest.raises(InProgressError):
            await run(backend_of(answering()), ledger, [Till().tool()])
        group.cancel_scope.cancel()


async def test_rows_of_a_run_tell_what_they_are() -> None:
    ledger = MemoryLedger()
    await run(backend_of(calling(("pay", '{"amount":1}')), answering()), ledger, [Till().tool()])
    rows = {row.key: row for row in await ledger.list(limit=10)}
    assert rows.keys() == {turn_key("k", 1), call_key("k", 1, 1), turn_key("k", 2)}
    assert rows[call_key("k", 1, 1)].fingerprint.effect_name == "tool:pay"
    assert json.loads(rows[call_key("k", 1, 1)].result or b"") == "paid 1"
