"""Make the choice of tools a language: what a model may write in one turn, and what it has written.

A turn is ``{"calls": [{"name": "<tool>", "arguments": {...}}, ...]}`` or ``{"answer": ...}``, nothing else. So a model
that is steered can only call tools that exist, with arguments that fit, and a turn is judged and stored as a whole
before its first call runs. Arguments are cut out of the text as they are spelled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from commitgate.argument import check_int
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.tools.instruction import instruction
from commitgate.tools.offer import AnswerForm, OfferedTool, ToolOffer
from commitgate.tools.slices import items, members
from commitgate.tools.tool_set import ToolSet
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, DEFAULT_CALLS, MAX_CALLS, NAME, ToolCall
from commitgate.tools.turn_schema import turn_contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Hold what stands in a turn's text.

    Attributes:
        calls: the calls; empty where it answers.
        answer_json: the answer as it is spelled; None where it calls.
    """

    calls: tuple[ToolCall, ...]
    answer_json: bytes | None = field(repr=False)


class TurnLanguage:
    """Know what one turn may be.

    Args:
        tools: what may be called.
        answer: what may be answered; None where a turn must call.
        most_calls: most calls in one turn, 1 to 256.

    Attributes:
        contract: its contract; the value is plain JSON.
        offer: the same for a backend.

    Raises:
        MisuseError: ``most_calls`` is out of range.
        ContractError: the tools and the answer are larger together than a limit allows.
    """

    def __init__(self, tools: ToolSet, *, answer: Contract[object] | None, most_calls: int = DEFAULT_CALLS) -> None:
        check_int("most_calls", most_calls)
        if not 1 <= most_calls <= MAX_CALLS:
            raise MisuseError(f"most_calls must lie in [1, {MAX_CALLS}], found {most_calls}")
        self.tools = tools
        self.answer = answer
        self.contract = turn_contract(tools, answer, most_calls)
        self.offer = ToolOffer(
            tools=tuple(
                OfferedTool(name=each.name, description=each.description, parameters=each.contract.shown_schema)
                for each in tools
            ),
            most_calls=most_calls,
            answer=_form(answer),
            instruction=instruction(tools, answer, most_calls),
        )


def read_turn(text: bytes, turn: int) -> Written:
    """Take a turn apart.

    Args:
        text: it, accepted by the contract of its language.
        turn: its number, from 1.
    """
    found = dict(members(text))
    calls = items(found[CALLS]) if CALLS in found else ()
    return Written(
        calls=tuple(_call(each, turn, ordinal) for ordinal, each in enumerate(calls, 1)),
        answer_json=found.get(ANSWER),
    )


def _call(text: bytes, turn: int, ordinal: int) -> ToolCall:
    found = dict(members(text))
    return ToolCall(turn=turn, ordinal=ordinal, name=json.loads(found[NAME]), arguments_json=found[ARGUMENTS])


def _form(answer: Contract[object] | None) -> AnswerForm:
    if answer is None:
        return "none"
    is_text = isinstance(answer.schema, dict) and answer.schema.get("type") == "string"
    return "text" if is_text else "json"


__all__ = ["TurnLanguage", "Written", "read_turn"]
