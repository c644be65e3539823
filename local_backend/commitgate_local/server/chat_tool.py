"""Read which tools a request lets the model call, and whether it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from commitgate.json_value import JsonObject, JsonValue
from commitgate.tools.tool import MAX_TOOL_NAME_CHARACTERS
from commitgate.tools.turn import DEFAULT_CALLS
from commitgate_local.server.refusal import RequestRefused, bad_request, too_large
from commitgate_local.server.request_fields import Fields, wrong_kind
from commitgate_local.server.server_limits import ServerLimits

TOOL_FIELDS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
"""The fields of a body that say what may be called."""

_MODES: Final = ("none", "auto", "required")
_NAME_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")

Mode: TypeAlias = Literal["auto", "required"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool:
    """Describe one tool that the model may call.

    Attributes:
        name: what it is called.
        description: what the model is told of it; may be empty.
        parameters: JSON Schema of its arguments, whose type is ``object``.
        param: the field of the body that ``parameters`` stands in.
        is_strict: every keyword is enforced while decoding, or the request is refused; False where the client says
            ``"strict": false``: then what can be decoded is.
    """

    name: str
    description: str = field(repr=False)
    parameters: JsonObject = field(repr=False)
    param: str
    is_strict: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """Say what the model may call in one turn.

    Attributes:
        tools: the tools, at least one.
        mode: ``auto``: it may call or answer. ``required``: it must call.
        most_calls: most calls, >= 1.
    """

    tools: tuple[FunctionTool, ...]
    mode: Mode
    most_calls: int


def read_tools(body: Fields, limits: ServerLimits) -> ToolUse | None:
    """Return what a body lets the model call; None where it may call nothing.

    Raises:
        RequestRefused: a tool or the choice of one is malformed, of a kind that is not known here, or there are too
            many.
    """
    tools = _tools(body, limits)
    most_calls = 1 if body.flag("parallel_tool_calls") is False else DEFAULT_CALLS
    choice = body.value("tool_choice")
    if choice is None or isinstance(choice, str):
        mode = body.word("tool_choice", _MODES)
        if mode == "required" and not tools:
            raise _no_tools()
        if mode == "none" or not tools:
            return None
        return ToolUse(tools=tools, mode="required" if mode == "required" else "auto", most_calls=most_calls)
    if not tools:
        raise _no_tools()
    return _chosen(Fields.of(choice, "tool_choice"), tools, most_calls)


def _chosen(choice: Fields, tools: tuple[FunctionTool, ...], most_calls: int) -> ToolUse:
    """Return what an object says that chooses among tools."""
    kind = choice.word("type", ("function", "allowed_tools"))
    if kind is None:
        raise choice.missing("type")
    choice.check_known({"type", kind})
    inner = choice.fields(kind)
    if inner is None:
        raise choice.missing(kind)
    if kind == "function":
        # The one that is named is called once: that is what naming it means.
        return ToolUse(tools=(_named(inner, tools),), mode="required", most_calls=1)
    inner.check_known({"mode", "tools"})
    mode = inner.word("mode", ("auto", "required"))
    named = inner.items("tools")
    if mode is None or not named:
        raise inner.missing("tools" if mode else "mode")
    if len(named) > len(tools):
        place = inner.place("tools")
        raise bad_request(f"{place} names more tools than there are", param=place)
    allowed = [_allowed(Fields.of(each, f"{inner.place('tools')}[{at}]"), tools) for at, each in enumerate(named)]
    kept = tuple(tool for tool in tools if tool in allowed)
    return ToolUse(tools=kept, mode="required" if mode == "required" else "auto", most_calls=most_calls)


def _allowed(given: Fields, tools: tuple[FunctionTool, ...]) -> FunctionTool:
    given.check_known({"type", "function"})
    inner = given.fields("function") if given.word("type", ("function",)) else None
    if inner is None:
        raise given.missing("function")
    return _named(inner, tools)


def _named(given: Fields, tools: tuple[FunctionTool, ...]) -> FunctionTool:
    given.check_known({"name"})
    name = given.required_text("name")
    for tool in tools:
        if tool.name == name:
            return tool
    raise bad_request(f"{given.place('name')} is no tool of tools", param=given.place("name"))


def _tools(body: Fields, limits: ServerLimits) -> tuple[FunctionTool, ...]:
    given: Sequence[JsonValue] = body.items("tools") or ()
    if len(given) > limits.tools:
        raise too_large(f"tools holds {len(given)} tools, the limit is {limits.tools}", param="tools")
    found = tuple(_tool(Fields.of(each, f"tools[{index}]")) for index, each in enumerate(given))
    names = [tool.name for tool in found]
    for index, name in enumerate(names):
        if name in names[:index]:
            place = f"tools[{index}].function.name"
            raise bad_request(f"{place} is that of another tool", param=place)
    return found


def _tool(given: Fields) -> FunctionTool:
    if given.word("type", ("function",)) is None:
        raise given.missing("type")
    given.check_known({"type", "function"})
    function = given.fields("function")
    if function is None:
        raise given.missing("function")
    function.check_known({"name", "description", "parameters", "strict"})
    name = function.required_text("name")
    if not 1 <= len(name) <= MAX_TOOL_NAME_CHARACTERS or not _NAME_CHARACTERS.issuperset(name):
        raise bad_request(
            f"{function.place('name')} must be 1 to {MAX_TOOL_NAME_CHARACTERS} of the characters A-Z a-z 0-9 _ -",
            param=function.place("name"),
        )
    return FunctionTool(
        name=name,
        description=function.text("description") or "",
        parameters=_parameters(function),
        param=function.place("parameters"),
        is_strict=function.flag("strict") is not False,
    )


def _parameters(function: Fields) -> JsonObject:
    value, place = function.value("parameters"), function.place("parameters")
    if value is None:  # a function without parameters, says OpenAI's reference
        return {"type": "object", "properties": {}, "additionalProperties": False}
    if not isinstance(value, dict):
        raise wrong_kind(place, "a JSON Schema", value)
    if value.get("type") != "object":
        raise bad_request(
            f'{place} must be a JSON Schema with "type": "object" at its root',
            param=place,
            code="invalid_function_parameters",
        )
    return value


def _no_tools() -> RequestRefused:
    return bad_request("tool_choice wants a call, and there are no tools", param="tool_choice")


__all__ = ["TOOL_FIELDS", "FunctionTool", "Mode", "ToolUse", "read_tools"]
