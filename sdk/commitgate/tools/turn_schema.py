"""Write the JSON Schema of one turn: calls of tools that exist, with arguments that fit, or an answer."""

from __future__ import annotations

from dataclasses import replace

from commitgate.automaton.json_schema.drafts import DEFAULT_DRAFT, draft_of
from commitgate.contract import Contract
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.tools.bundling import below
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME

_URI_PREFIX = "urn:commitgate:"
_TOOL_PREFIX = "tool_"
"""Sets the tools' schemas apart from the answer's, whatever a tool is called."""


def turn_contract(tools: ToolSet, answer: Contract[object] | None, most_calls: int) -> Contract[JsonValue]:
    """Return the contract of one turn; its value is plain JSON, with every number exact.

    Args:
        tools: what may be called.
        answer: what may be answered; None where a turn must call.
        most_calls: most calls in one turn, >= 1.

    Raises:
        ContractError: they are larger together than a limit allows.
    """
    shared: JsonObject = {}
    documents: dict[str, JsonSchema] = {}
    called: JsonObject = {
        "type": "array",
        "minItems": 1,
        "maxItems": most_calls,
        "items": _any_of([_call(each, shared, documents) for each in tools]),
    }
    options: list[JsonValue] = [_object({CALLS: called})]
    if answer is not None:
        options.append(_object({ANSWER: _placed(answer, ANSWER, shared, documents)}))
    return Contract.json_schema(
        {**_any_of(options), "$defs": shared},
        name="turn",
        numbers="decimal",
        limits=_limits(next(iter(tools)).contract.limits if answer is None else answer.limits),
        formats="assert" if answer is None else answer.formats,
        refusal=answer is not None and answer.refusal,
        prose="keep" if answer is None else answer.prose,
        documents=documents,
    )


def _limits(answers: Limits) -> Limits:
    """Return the bounds on a turn: an answer that may hardly be nested must not keep calls from being made."""
    # How deep the answer may be is asked again, of the answer alone.
    usual = Limits().nesting
    return answers if answers.nesting >= usual else replace(answers, nesting=usual)


def _call(tool: AnyTool, shared: JsonObject, documents: dict[str, JsonSchema]) -> JsonObject:
    arguments = _placed(tool.contract, _TOOL_PREFIX + tool.name, shared, documents)
    return _object({NAME: {"const": tool.name}, ARGUMENTS: arguments})


def _placed(contract: Contract[object], name: str, shared: JsonObject, documents: dict[str, JsonSchema]) -> JsonSchema:
    """Put a contract's schema where the turn's can refer to it, and return the reference."""
    schema = contract.schema
    documents.update(contract.documents)
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(named, str) and draft_of(named) is not DEFAULT_DRAFT:
        documents[_URI_PREFIX + name] = schema  # another draft's words keep their meaning in a document of their own
        return {"$ref": _URI_PREFIX + name}
    shared[name] = below(schema, f"/$defs/{name}")
    return {"$ref": f"#/$defs/{name}"}


def _any_of(options: list[JsonValue]) -> JsonObject:
    only, *others = options
    return {"anyOf": options} if others or not isinstance(only, dict) else only


def _object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


__all__ = ["turn_contract"]
