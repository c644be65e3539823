"""Offer runs of tools as methods of the client; ``commitgate.client.Client`` has them from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import TypeVar

from commitgate.backends.base import Sampling
from commitgate.backends.registry import BackendRegistry
from commitgate.outcome import Outcome
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.run.conversation import MessageLike
from commitgate.run.order import DEFAULT_APPROVAL_EXPIRES_S, InProgress
from commitgate.run.shared import Shared
from commitgate.timeouts import Timeouts
from commitgate.tools.tools_order import DEFAULT_TURNS, CutTurns, ToolsOrder, checked_key
from commitgate.tools.turn import DEFAULT_CALLS, ToolCall, Turn

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.contract import Contract
    from commitgate.tools.call_result import CallResult
    from commitgate.tools.tool_run import ToolRun
    from commitgate.tools.tool_set import AnyTool

A = TypeVar("A", default=str)


class ToolsFace:
    """Hold the methods of a client that let a model call functions."""

    _registry: BackendRegistry

    def _entered(self) -> Shared:
        raise NotImplementedError

    async def run_tools(
        self,
        model: str,
        *,
        tools: Sequence[AnyTool],
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        answer: type[A] | TypeAdapter[A] | Contract[A] | None = None,
        operation_key: str | None = None,
        input_fingerprint: str | None = None,
        most_turns: int = DEFAULT_TURNS,
        most_calls: int = DEFAULT_CALLS,
        strict_limit: bool = False,
        cut_turns: CutTurns = "end",
        sampling: Sampling | None = None,
        reasoning: Reasoning | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
        retry: Retry | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
    ) -> Outcome[A, tuple[CallResult, ...]]:
        """Let the model call functions until it answers. The arguments are those of ``stream_tools``.

        Returns:
            ``Committed`` with the answer, and with what became of each call as its ``result``. Every other ending says
            why the run stopped; the same operation key goes on from there.

        Raises:
            MisuseError: the run contradicts itself; nothing was sent or written.
            ContractError: the answer's schema cannot be enforced, or tools and answer are too large together.
            BackendError: the model cannot be had.
            LedgerError: a key conflicts, is in progress, or the ledger cannot be used.
        """
        from commitgate.tools.running import run_tools

        backend, name = self._registry.find(model)
        order = ToolsOrder[A].of(
            backend,
            name,
            tools=tools,
            answer=answer,
            must_call=False,
            prompt=prompt,
            messages=messages,
            system=system,
            sampling=sampling,
            reasoning=reasoning,
            principal=principal,
            operation_key=operation_key,
            input_fingerprint=input_fingerprint,
            timeouts=timeouts,
            retry=retry,
            forced=forced,
            most_turns=most_turns,
            most_calls=most_calls,
            strict_limit=strict_limit,
            cut_turns=cut_turns,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
        )
        return await run_tools(order, self._entered())

    def stream_tools(
        self,
        model: str,
        *,
        tools: Sequence[AnyTool],
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        answer: type[A] | TypeAdapter[A] | Contract[A] | None = None,
        operation_key: str | None = None,
        input_fingerprint: str | None = None,
        most_turns: int = DEFAULT_TURNS,
        most_calls: int = DEFAULT_CALLS,
        strict_limit: bool = False,
        cut_turns: CutTurns = "end",
        sampling: Sampling | None = None,
        reasoning: Reasoning | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
        retry: Retry | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
    ) -> ToolRun[A]:
        """Prepare a run of tools; it starts when the returned run is entered.

        A turn is stored whole before its first call runs, and each call is an operation of its own, named by the
        operation key, the turn and its place in the turn. So a run that is made again with the same key asks the model
        for no turn that is stored, and runs no call that ran.

        Args:
            model: as in ``stream_structured``.
            tools: functions under ``@tool(effect=...)``.
            prompt: what to do, as one user message.
            messages: what to do, as a conversation.
            system: the system message; the tools are described at its end.
            answer: what the model may answer: a type, or a ``Contract`` with its rules; None takes words. A turn is
                JSON, so ``Regex``, ``Grammar``, ``Choices`` and ``Machine`` are refused.
            operation_key: names the run. Only a run whose tools all just read may do without one.
            input_fingerprint: names the input under the key; None takes a digest of what is asked.
            most_turns: most turns, 1 to 1,000; then the run ends as ``Truncated`` of the kind ``turns``.
            most_calls: most calls in one turn, 1 to 256.
            strict_limit: a turn that counts as many tokens as its limit allowed runs nothing and ends the run as
                ``Truncated``: the server may have lost a further call of it.
            cut_turns: ``"end"`` ends the run with a turn that was cut; ``"tell"`` tells the model that it was cut, and
                asks again, within ``most_turns``.
            sampling: how tokens are drawn; None takes the likeliest. ``max_tokens`` bounds each turn.
            reasoning: how a thinking model may think before each turn; None lets it write turns at once.
            principal: who asks, handed to ``evidence``, ``authorize`` and ``approve`` of the tools.
            timeouts: limits on the waits; the total is that of the whole run. None takes the defaults.
            retry: what may be asked again, for each turn; None takes the defaults.
            forced: as in ``stream_structured``.
            in_progress: what to do where another call holds a key of this run.
            approval_expires_s: seconds that a person may take to decide about a call; None without a limit.

        Raises:
            MisuseError: the run contradicts itself; nothing was sent or written.
        """
        from commitgate.tools.tool_run import ToolRun

        backend, name = self._registry.find(model)
        order = ToolsOrder[A].of(
            backend,
            name,
            tools=tools,
            answer=answer,
            must_call=False,
            prompt=prompt,
            messages=messages,
            system=system,
            sampling=sampling,
            reasoning=reasoning,
            principal=principal,
            operation_key=operation_key,
            input_fingerprint=input_fingerprint,
            timeouts=timeouts,
            retry=retry,
            forced=forced,
            most_turns=most_turns,
            most_calls=most_calls,
            strict_limit=strict_limit,
            cut_turns=cut_turns,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
        )
        return ToolRun(order, self._entered())

    async def next_turn(
        self,
        model: str,
        *,
        tools: Sequence[AnyTool],
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        answer: type[A] | TypeAdapter[A] | Contract[A] | None = None,
        must_call: bool = False,
        operation_key: str | None = None,
        turn: int = 1,
        input_fingerprint: str | None = None,
        most_calls: int = DEFAULT_CALLS,
        strict_limit: bool = False,
        sampling: Sampling | None = None,
        reasoning: Reasoning | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
        retry: Retry | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
    ) -> Outcome[Turn[A], None]:
        """Ask for one turn, for programs that have a loop of their own; none of its calls is run.

        Args:
            model: as in ``stream_tools``, and so are the others but for these.
            tools: what may be called.
            prompt: what to do.
            messages: the conversation so far; ``turn_messages`` makes what follows a turn.
            system: the system message.
            answer: what the model may answer.
            must_call: the model may not answer.
            operation_key: names the run; the turn is stored under it and its number.
            turn: number of the turn in its run, from 1.
            input_fingerprint: names the input of this turn; None takes a digest of the messages.
            most_calls: most calls in the turn.
            strict_limit: a turn that counts as many tokens as its limit allowed is ``Truncated``.
            sampling: how tokens are drawn.
            reasoning: how a thinking model may think before the turn.
            principal: who asks.
            timeouts: limits on the waits.
            retry: what may be asked again.
            forced: as in ``stream_structured``.
            in_progress: what to do where another call holds the key.

        Raises:
            MisuseError: the call contradicts itself; nothing was sent or written.
            ContractError: the answer's schema cannot be enforced, or tools and answer are too large together.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        from commitgate.tools.running import next_turn

        backend, name = self._registry.find(model)
        order = ToolsOrder[A].of(
            backend,
            name,
            tools=tools,
            answer=answer,
            must_call=must_call,
            prompt=prompt,
            messages=messages,
            system=system,
            sampling=sampling,
            reasoning=reasoning,
            principal=principal,
            operation_key=operation_key,
            input_fingerprint=input_fingerprint,
            timeouts=timeouts,
            retry=retry,
            forced=forced,
            most_turns=DEFAULT_TURNS,
            most_calls=most_calls,
            strict_limit=strict_limit,
            cut_turns="end",
            in_progress=in_progress,
            approval_expires_s=None,
        )
        return await next_turn(order, self._entered(), turn)

    async def run_call(
        self,
        call: ToolCall,
        *,
        tools: Sequence[AnyTool],
        operation_key: str | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
    ) -> CallResult:
        """Run one call of a turn, for programs that have a loop of their own: judge its arguments, then the tool.

        Args:
            call: a call of a turn that ``next_turn`` committed.
            tools: the tools of the turn.
            operation_key: names the run, as for ``next_turn``; the call runs at most once under it, its turn and place.
            principal: who asks.
            timeouts: limits on the waits; None takes the defaults.
            in_progress: what to do where another call holds the key.
            approval_expires_s: seconds that a person may take to decide; None without a limit.

        Returns:
            What became of it; ``turn_messages`` tells the model.

        Raises:
            MisuseError: the call contradicts itself, or is of no tool of these.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        from commitgate.tools.running import end_of, run_call
        from commitgate.tools.steps import Settings
        from commitgate.tools.tool_set import ToolSet

        known, limits = ToolSet.of(tools), timeouts or Timeouts()
        settings = Settings(
            key=checked_key(known, operation_key),
            principal=principal,
            timeouts=limits,
            ends_at=end_of(limits.total_s),
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
        )
        return await run_call(call, known, self._entered(), settings)


__all__ = ["ToolsFace"]
