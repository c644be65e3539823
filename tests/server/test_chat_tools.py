"""What a model may call follows from tools, their choice and whether several may be called."""

from typing import Any

import pytest
from chats import LIMITS, function, parsed

from commitgate.tools.turn import DEFAULT_CALLS
from commitgate_local.server.chat_tool import ToolUse
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.server_limits import ServerLimits

TOOLS = [function("weather"), function("news")]
NAMED = {"type": "function", "function": {"name": "news"}}


def use(**fields: Any) -> ToolUse | None:
    return parsed(**{"tools": TOOLS, **fields}).tools


def refused(limits: ServerLimits = LIMITS, **fields: Any) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        parsed(limits, **{"tools": TOOLS, **fields})
    return caught.value


def summary(found: ToolUse | None) -> Any:
    return None if found is None else ([tool.name for tool in found.tools], found.mode, found.most_calls)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, (["weather", "news"], "auto", DEFAULT_CALLS)),
        ("auto", (["weather", "news"], "auto", DEFAULT_CALLS)),
        ("required", (["weather", "news"], "required", DEFAULT_CALLS)),
        ("none", None),
        (NAMED, (["news"], "required", 1)),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}},
            (["news"], "auto", DEFAULT_CALLS),
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED, NAMED]}},
            (["news"], "required", DEFAULT_CALLS),
        ),
    ],
)
def test_choice_says_what_may_be_called(choice: Any, expected: Any) -> None:
    assert summary(use(tool_choice=choice)) == expected


@pytest.mark.parametrize(("parallel", "most"), [(True, DEFAULT_CALLS), (None, DEFAULT_CALLS), (False, 1)])
def test_one_call_at_most_where_several_are_not_wanted(parallel: bool | None, most: int) -> None:
    found = use(parallel_tool_calls=parallel)
    assert found is not None
    assert found.most_calls == most


@pytest.mark.parametrize("tools", [None, []])
def test_without_tools_nothing_may_be_called(tools: Any) -> None:
    assert use(tools=tools) is None
    assert use(tools=tools, tool_choice="auto") is None
    for choice in ("required", NAMED):
        assert refused(tools=tools, tool_choice=choice).param == "tool_choice"


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({}, "tool_choice.type"),
        ({"type": "custom", "custom": {"name": "x"}}, "tool_choice.type"),
        ({"type": "function"}, "tool_choice.function"),
        ({"type": "function", "function": {}}, "tool_choice.function.name"),
        ({"type": "function", "function": {"name": "other"}}, "tool_choice.function.name"),
        ({"type": "function", "name": "news"}, "tool_choice.name"),
        ({"type": "allowed_tools", "allowed_tools": {"tools": [NAMED]}}, "tool_choice.allowed_tools.mode"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, "tool_choice.allowed_tools.tools"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED] * 3}},
            "tool_choice.allowed_tools.tools",
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function"}]}},
            "tool_choice.allowed_tools.tools[0].function",
        ),
        ({"type": "allowed_tools", "mode": "auto"}, "tool_choice.mode"),
        (3, "tool_choice"),
    ],
)
def test_choice_that_is_malformed_is_refused_by_its_place(choice: Any, param: str) -> None:
    assert refused(tool_choice=choice).param == param


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        ({"type": "custom", "custom": {"name": "x"}}, "tools[0].type"),
        ({"function": {"name": "x"}}, "tools[0].type"),
        ({"type": "function"}, "tools[0].function"),
        (function(""), "tools[0].function.name"),
        (function("a b"), "tools[0].function.name"),
        (function("a" * 65), "tools[0].function.name"),
        (function("a", parameters=[]), "tools[0].function.parameters"),
        (function("a", parameters={}), "tools[0].function.parameters"),
        (function("a", parameters={"type": "array"}), "tools[0].function.parameters"),
        (function("a", further=1), "tools[0].function.further"),
        (function("a", strict="yes"), "tools[0].function.strict"),
        (function("a", description=1), "tools[0].function.description"),
    ],
)
def test_tool_that_is_malformed_is_refused_by_its_place(tool: Any, param: str) -> None:
    assert refused(tools=[tool]).param == param


def test_two_tools_of_one_name_are_refused() -> None:
    assert refused(tools=[function("a"), function("a")]).param == "tools[1].function.name"


def test_tool_without_parameters_takes_none() -> None:
    found = use(tools=[{"type": "function", "function": {"name": "now"}}])
    assert found is not None
    assert found.tools[0].parameters == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(("strict", "is_strict"), [(True, True), (False, False), (None, True)])
def test_arguments_are_strict_unless_the_client_says_otherwise(strict: bool | None, is_strict: bool) -> None:
    found = use(tools=[function(strict=strict, description="how warm it is")])
    assert found is not None
    assert (found.tools[0].is_strict, found.tools[0].description) == (is_strict, "how warm it is")


def test_number_of_tools_is_bounded() -> None:
    assert parsed(ServerLimits(tools=2), tools=TOOLS).tools is not None
    error = refused(ServerLimits(tools=1))
    assert (error.status, error.param) == (413, "tools")
