"""Offer runs of tools as methods of the blocking client; ``commitgate.tools.face`` does the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import TypeVar

from commitgate.backends.base import Sampling
from commitgate.outcome import Outcome
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.run.conversation import MessageLike
from commitgate.run.order import DEFAULT_APPROVAL_EXPIRES_S, InProgress
from commitgate.sync.bridge import Bridge
from commitgate.sync.tool_run import ToolRun
from commitgate.timeouts import Timeouts
from commitgate.tools.call_result import CallResult
from commitgate.tools.tools_order import DEFAULT_TURNS, CutTurns
from commitgate.tools.turn import DEFAULT_CALLS, ToolCall, Turn

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate import client as asynchronous
    from commitgate.contract import Contract
    from commitgate.tools.tool_set import AnyTool

A = TypeVar("A", default=str)


class ToolsFace:
    """Hold the methods of a blocking client that let a model call functions."""

    _client: asynchronous.Client
    _bridge: Bridge

    def run_tools(
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
        """Let the model call functions until it answers. The arguments are those of ``commitgate.Client.stream_tools``.

        Returns:
            As ``commitgate.Client.run_tools``.

        Raises:
            MisuseError: the run contradicts itself; nothing was sent or written.
            ContractError: the answer's schema cannot be enforced, or tools and answer are too large together.
            BackendError: the model cannot be had.
            LedgerError: a key conflicts, is in progress, or the ledger cannot be used.
        """
        return self._bridge.wait(
            lambda: self._client.run_tools(
                model,
                tools=tools,
                prompt=prompt,
                messages=messages,
                system=system,
                answer=answer,
                operation_key=operation_key,
                input_fingerprint=input_fingerprint,
                most_turns=most_turns,
                most_calls=most_calls,
                strict_limit=strict_limit,
                cut_turns=cut_turns,
                sampling=sampling,
                reasoning=reasoning,
                principal=principal,
                timeouts=timeouts,
                retry=retry,
                forced=forced,
                in_progress=in_progress,
                approval_expires_s=approval_expires_s,
            )
        )

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
        """Prepare a run of tools; it starts when the returned run is entered. The arguments are as ever.

        Raises:
            MisuseError: the run contradicts itself; nothing was sent or written.
        """
        run = self._bridge.call(
            lambda: self._client.stream_tools(
                model,
                tools=tools,
                prompt=prompt,
                messages=messages,
                system=system,
                answer=answer,
                operation_key=operation_key,
                input_fingerprint=input_fingerprint,
                most_turns=most_turns,
                most_calls=most_calls,
                strict_limit=strict_limit,
                cut_turns=cut_turns,
                sampling=sampling,
                reasoning=reasoning,
                principal=principal,
                timeouts=timeouts,
                retry=retry,
                forced=forced,
                in_progress=in_progress,
                approval_expires_s=approval_expires_s,
            )
        )
        return ToolRun(run, self._bridge)

    def next_turn(
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
        """Ask for one turn; none of its calls is run. The arguments are those of ``commitgate.Client.next_turn``.

        Raises:
            MisuseError: the call contradicts itself; nothing was sent or written.
            ContractError: the answer's schema cannot be enforced, or tools and answer are too large together.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        return self._bridge.wait(
            lambda: self._client.next_turn(
                model,
                tools=tools,
                prompt=prompt,
                messages=messages,
                system=system,
                answer=answer,
                must_call=must_call,
                operation_key=operation_key,
                turn=turn,
                input_fingerprint=input_fingerprint,
                most_calls=most_calls,
                strict_limit=strict_limit,
                sampling=sampling,
                reasoning=reasoning,
                principal=principal,
                timeouts=timeouts,
                retry=retry,
                forced=forced,
                in_progress=in_progress,
            )
        )

    def run_call(
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
        """Run one call of a turn. The arguments are those of ``commitgate.Client.run_call``.

        Raises:
            MisuseError: the call contradicts itself, or is of no tool of these.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        return self._bridge.wait(
            lambda: self._client.run_call(
                call,
                tools=tools,
                operation_key=operation_key,
                principal=principal,
                timeouts=timeouts,
                in_progress=in_progress,
                approval_expires_s=approval_expires_s,
            )
        )


__all__ = ["ToolsFace"]
