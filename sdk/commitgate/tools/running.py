"""Run what a caller asked for of tools: a whole run, one turn of it, or one call."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import anyio
from typing_extensions import TypeVar

from commitgate.argument import check_kind
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.outcome import Committed, Failed, Outcome
from commitgate.retry.keys import OperationKey
from commitgate.run.shared import Shared
from commitgate.tools.call_result import CallResult
from commitgate.tools.calling import Calling
from commitgate.tools.items import ToolItem
from commitgate.tools.keys import check_counted
from commitgate.tools.loop import ToolLoop
from commitgate.tools.steps import Settings, Steps
from commitgate.tools.tool_set import ToolSet
from commitgate.tools.tools_order import ToolsOrder
from commitgate.tools.turn import ToolCall, Turn
from commitgate.tools.turns import Turns
from commitgate.worker_thread import run_in_thread

A = TypeVar("A", default=str)


async def prepared_loop(
    order: ToolsOrder[A],
    steps: Steps,
    *,
    show: Callable[[ToolItem], None] | None,
    results: list[CallResult],
) -> ToolLoop[A]:
    """Return a run that is ready to begin; its time runs from now.

    Args:
        order: what was asked for.
        steps: runs its steps.
        show: takes what is to be shown; None where nobody looks.
        results: where to note what became of its calls.
    """
    settings = settings_of(order)
    check_ledger(order.tools, settings.key, steps.shared)
    language = await run_in_thread(order.language)
    check_reviewed(order.tools, language.answer, steps.shared)
    return ToolLoop(order, language, steps, settings, show=show, results=results)


async def run_tools(order: ToolsOrder[A], shared: Shared) -> Outcome[A, tuple[CallResult, ...]]:
    """Run it to its end, in the caller's task; each step runs in a task of the client."""
    loop = await prepared_loop(order, Steps(shared), show=None, results=[])
    return await loop.run()


async def next_turn(order: ToolsOrder[A], shared: Shared, turn: int) -> Outcome[Turn[A], None]:
    """Ask for one turn, and judge its answer where it has one."""
    check_counted("turn", turn)
    steps, settings = Steps(shared), settings_of(order)
    check_ledger(order.tools, settings.key, shared)
    language = await run_in_thread(order.language)
    check_reviewed(order.tools, language.answer, shared)
    turns = Turns(order, language, steps, settings)
    asked = await turns.ask(turn, order.messages, show=None)
    if not isinstance(asked, Committed):
        return asked
    found: Turn[A] | Failed = await turns.read(asked, turn)
    if not isinstance(found, Turn):
        return found
    return Committed(value=found, result=None, is_replayed=asked.is_replayed, text=asked.text, receipt=asked.receipt)


async def run_call(call: ToolCall, tools: ToolSet, shared: Shared, settings: Settings) -> CallResult:
    """Run one call of a turn, at most once under its key."""
    check_kind("call", call, ToolCall, "a ToolCall")
    check_kind("call.arguments_json", call.arguments_json, bytes, "bytes")
    return await Calling(tools, Steps(shared), settings).run(call)


def check_ledger(tools: ToolSet, key: OperationKey | None, shared: Shared) -> None:
    """Check that the ledger can hold what the tools write, before the model is asked for anything.

    Raises:
        MisuseError: a tool is transactional, and the ledger is in no database that holds other rows.
        LedgerError: the ledger cannot be opened.
    """
    writing = [tool.name for tool in tools if tool.kind == "transactional"]
    if key is not None and writing and not shared.ledger().has_transactions:
        raise MisuseError(
            f"the transactional tool {writing[0]} needs a ledger in a database that can hold its rows too; use "
            "SqliteLedger or PostgresLedger"
        )


def check_reviewed(tools: ToolSet, answer: Contract[object] | None, shared: Shared) -> None:
    """Check that what may set off an effect was reviewed, before the model is asked for anything.

    Raises:
        ReviewedContractError: a tool that does more than read, or an answer of ``Risk.EFFECT``, was not.
    """
    for tool in tools:
        shared.reviewed.check(tool.contract, subject=f"the contract of the tool {tool.name}")
    if answer is not None:
        shared.reviewed.check(answer, subject="the contract of the answer")


def settings_of(order: ToolsOrder[A]) -> Settings:
    """Return what the steps of a run have in common; the run's time begins now."""
    return Settings(
        key=order.key,
        principal=order.principal,
        timeouts=order.timeouts,
        ends_at=end_of(order.timeouts.total_s),
        in_progress=order.in_progress,
        approval_expires_s=order.approval_expires_s,
    )


def end_of(total_s: float | None) -> float:
    """Return the time by the event loop's clock at which something that begins now must end."""
    return inf if total_s is None else anyio.current_time() + total_s


__all__ = [
    "check_ledger",
    "check_reviewed",
    "end_of",
    "next_turn",
    "prepared_loop",
    "run_call",
    "run_tools",
    "settings_of",
]
