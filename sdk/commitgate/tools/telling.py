"""Write the messages that tell a model of a turn of its and of what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.backends.base import Message
from commitgate.errors import MisuseError
from commitgate.outcome import Committed, EffectFailed, Invalid
from commitgate.tools.call_result import CallResult
from commitgate.tools.results import CallReport, told_results
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import Turn

MOST_TURN_CHARACTERS = 65_536
"""Most characters of a turn that are shown to the model again."""


def turn_messages(
    turn: Turn[object], results: Sequence[CallResult], tools: ToolSet | Sequence[AnyTool]
) -> tuple[Message, Message]:
    """Return the two messages by which a conversation goes on: the model's turn, and the results of its calls.

    Args:
        turn: it, with calls.
        results: what became of them, in order.
        tools: the tools of the turn.

    Raises:
        MisuseError: there is another number of results than of calls; or one ended so that a model cannot act on it.
    """
    known = tools if isinstance(tools, ToolSet) else ToolSet.of(tools)
    if [result.call.ordinal for result in results] != [call.ordinal for call in turn.calls] or not results:
        raise MisuseError("results must hold one result for each call of the turn, in order")
    said = turn.text
    if len(said) > MOST_TURN_CHARACTERS:
        said = said[:MOST_TURN_CHARACTERS] + "…"
    return Message("assistant", said), Message("user", told_results([_report(each, known) for each in results]))


def _report(result: CallResult, tools: ToolSet) -> CallReport:
    call = result.call
    match result.outcome:
        case Committed(result=returned):
            result_json = tools[call.name].effect_of_call().dump(returned)
            return CallReport(ordinal=call.ordinal, name=call.name, kind="result", result_json=result_json)
        case EffectFailed(reason=reason):
            return CallReport(ordinal=call.ordinal, name=call.name, kind="rejected", reason=reason)
        case Invalid(failures=failures) if result.is_told:
            return CallReport(ordinal=call.ordinal, name=call.name, kind="invalid", failures=failures)
        case other:
            raise MisuseError(f"a call that ended as {other.name} is not for the model to know: end the run with it")


__all__ = ["MOST_TURN_CHARACTERS", "turn_messages"]
