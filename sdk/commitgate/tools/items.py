"""Define what a run of tools shows while it lasts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from commitgate.json_value import JsonValue
from commitgate.preview import Preview, Reset
from commitgate.tools.call_result import CallResult
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPreview:
    """Show one call as far as it had come. For display: no tool runs on it.

    Attributes:
        name: the tool; None until the name is whole.
        arguments: what there is of its arguments; None where there is nothing yet.
    """

    name: str | None
    arguments: JsonValue = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPreview:
    """Show a turn as far as it had come. For display: no tool runs on it.

    Attributes:
        turn: its number, from 1.
        preview: what there is to show.
    """

    turn: int
    preview: Preview

    @property
    def calls(self) -> tuple[CallPreview, ...]:
        """Return the calls so far; the last one may still grow."""
        calls = self._member(CALLS)
        found = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        return tuple(_call(call) for call in found)

    @property
    def answer(self) -> JsonValue:
        """Return the answer so far; None where there is nothing to show."""
        return self._member(ANSWER)

    def _member(self, name: str) -> JsonValue:
        value = self.preview.value
        return value.get(name) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """Say that a call of a whole, stored turn is about to be judged and run.

    Attributes:
        call: the call.
    """

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """Say how a call ended.

    Attributes:
        result: what became of it.
    """

    result: CallResult


ToolItem: TypeAlias = TurnPreview | Reset | CallStarted | CallEnded
"""What a run of tools shows. A ``Reset`` takes back the previews of the turn that is being written."""


def _call(call: dict[str, JsonValue]) -> CallPreview:
    name = call.get(NAME)
    return CallPreview(name=name if isinstance(name, str) else None, arguments=call.get(ARGUMENTS))


__all__ = ["CallEnded", "CallPreview", "CallStarted", "ToolItem", "TurnPreview"]
