"""Tell a model in words which tools there are, and in what form it calls them or answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import indent

from commitgate.contract import Contract
from commitgate.json_value import JsonSchema
from commitgate.run.conversation import HOW_TO_REFUSE
from commitgate.run.outline import outline
from commitgate.tools.tool_set import AnyTool, ToolSet

_CALL = '{"calls": [{"name": "<tool>", "arguments": {<its arguments>}}]}'


def instruction(tools: ToolSet, answer: Contract[object] | None, most_calls: int) -> str:
    """Return the words that end the system message.

    Args:
        tools: what may be called.
        answer: what may be answered; None where a turn must call.
        most_calls: most calls in one turn.
    """
    several = "one tool" if most_calls == 1 else f"up to {most_calls} tools at once"
    lines = [f"You answer with JSON. To have something done or looked up, call {several}:", _CALL]
    if answer is not None and answer.refusal:
        lines.append(HOW_TO_REFUSE)
    if answer is not None:
        lines += ["Once you have what you need, answer:", *_answer(answer)]
    lines += ["The tools are:", *(line for each in tools for line in _tool(each))]
    return "\n".join(lines)


def _tool(tool: AnyTool) -> Iterator[str]:
    yield f"- {tool.name}: {tool.description}" if tool.description else f"- {tool.name}"
    schema = tool.contract.shown_schema
    if not isinstance(schema, dict) or not schema.get("properties"):
        yield "  It takes no arguments: {}"
    else:
        yield "  Its arguments are:"
        yield indent(_fields(schema, tool.contract), "  ")


def _answer(answer: Contract[object]) -> Iterator[str]:
    schema = answer.shown_schema
    if isinstance(schema, dict) and schema.get("type") == "string":
        yield '{"answer": "<your answer>"}'
        return
    yield '{"answer": <your answer>}'
    if isinstance(schema, dict):
        yield "Your answer is JSON with:"
        yield _fields(schema, answer)


def _fields(schema: JsonSchema, contract: Contract[object]) -> str:
    """Return the lines that tell of a schema's fields, without the heading that they have where they stand alone."""
    if not isinstance(schema, dict):
        return json.dumps(schema)
    return outline(schema, contract.shown_documents).partition("\n")[2]


__all__ = ["instruction"]
