"""Go from turn to turn: ask, store the turn whole, run its calls in order, tell the model, until it answers.

What the model may know and act on is told to it: what a tool returned, that a tool said no, that arguments were
refused. Everything else ends the run with its own ending, and the same operation key goes on from there: turns that are
stored are not asked for again, and calls that ran are not run again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, cast

from typing_extensions import TypeVar

from commitgate.backends.base import Message
from commitgate.outcome import Cancelled, Committed, Failed, Invalid, Outcome, Receipt, ReceiptWarning, Truncated
from commitgate.preview import Preview, Reset
from commitgate.tools.call_result import CallResult, is_told
from commitgate.tools.calling import Calling
from commitgate.tools.items import CallEnded, CallStarted, ToolItem, TurnPreview
from commitgate.tools.results import CUT, told_answer, turn_messages
from commitgate.tools.steps import Settings, Steps
from commitgate.tools.tools_order import ToolsOrder
from commitgate.tools.turn import Turn
from commitgate.tools.turn_language import TurnLanguage
from commitgate.tools.turns import Turns

A = TypeVar("A", default=str)


class ToolLoop(Generic[A]):
    """Run one run of tools, once.

    Args:
        order: what was asked for.
        language: what a turn may be.
        steps: runs the steps.
        settings: what they have in common.
        show: takes what is to be shown; None where nobody looks.
        results: where to note what became of the calls, in order.
    """

    def __init__(
        self,
        order: ToolsOrder[A],
        language: TurnLanguage,
        steps: Steps,
        settings: Settings,
        *,
        show: Callable[[ToolItem], None] | None,
        results: list[CallResult],
    ) -> None:
        self._order = order
        self._steps = steps
        self._turns = Turns(order, language, steps, settings)
        self._calling = Calling(order.tools, steps, settings)
        self._show = show
        self._messages = list(order.messages)
        self._last: Committed[object, None] | None = None
        self._results = results
        self._warnings = dict[ReceiptWarning, None]()

    async def run(self) -> Outcome[A, tuple[CallResult, ...]]:
        """Run it to its end.

        Returns:
            How it ended, with the receipt of what ended it and the warnings of all its turns.

        Raises:
            MisuseError: the client is being closed.
            BackendError: the model cannot be had.
            LedgerError: a key conflicts, is in progress, or the ledger cannot be used.
        """
        outcome = await self._run()
        warnings = tuple(dict.fromkeys((*self._warnings, *outcome.receipt.warnings)))
        return replace(outcome, receipt=replace(outcome.receipt, warnings=warnings))

    async def _run(self) -> Outcome[A, tuple[CallResult, ...]]:
        number = 1
        for _ in range(self._order.most_turns):
            asked = await self._turns.ask(number, self._messages, show=self._preview(number))
            if not isinstance(asked, Committed):
                if not isinstance(asked, Truncated) or self._order.cut_turns == "end":
                    return asked
                self._messages.append(Message("user", CUT))
                continue
            self._last = asked
            self._warnings.update(dict.fromkeys(asked.receipt.warnings))
            turn = await self._turns.read(asked, number)
            if isinstance(turn, Turn) and not turn.calls:
                return self._answered(turn, asked)
            ending = await self._go_on(turn, asked)
            if ending is not None:
                return ending
            number += 1
        return self._used_up()

    async def _go_on(self, turn: Turn[A] | Failed, asked: Committed[object, None]) -> Failed | None:
        """Run the calls of a turn, or tell the model that its answer is refused; return what ends the run."""
        if not isinstance(turn, Turn):
            if not isinstance(turn, Invalid) or not is_told(turn):
                return turn
            self._messages += [Message("assistant", asked.text), Message("user", told_answer(turn.failures))]
            return None
        results: list[CallResult] = []
        for call in turn.calls:
            if self._steps.is_cancelled:
                return Cancelled(receipt=asked.receipt)
            self._put(CallStarted(call=call))
            result = await self._calling.run(call)
            results.append(result)
            self._results.append(result)
            self._put(CallEnded(result=result))
            outcome = result.outcome
            if not isinstance(outcome, Committed) and not result.is_told:
                return outcome
        self._messages += turn_messages(turn, results, self._order.tools)
        return None

    def _answered(self, turn: Turn[A], asked: Committed[object, None]) -> Outcome[A, tuple[CallResult, ...]]:
        return Committed(
            value=cast(A, turn.answer),
            result=tuple(self._results),
            is_replayed=asked.is_replayed,
            text=asked.text,
            receipt=asked.receipt,
        )

    def _used_up(self) -> Truncated:
        last = self._last
        if last is None:
            return Truncated(kind="turns", receipt=Receipt())
        return Truncated(kind="turns", partial_text=last.text, receipt=last.receipt)

    def _preview(self, number: int) -> Callable[[Preview | Reset], None] | None:
        if self._show is None:
            return None
        return lambda item: self._put(item if isinstance(item, Reset) else TurnPreview(turn=number, preview=item))

    def _put(self, item: ToolItem) -> None:
        if self._show is not None:
            self._show(item)


__all__ = ["ToolLoop"]
