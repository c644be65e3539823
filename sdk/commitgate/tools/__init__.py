"""Let a model call functions: the choice of a tool as a language, and each call an operation of its own."""

from commitgate.tools.keys import MAX_RUN_KEY_BYTES, call_key, turn_key
from commitgate.tools.offer import OfferedTool, ToolOffer
from commitgate.tools.tool import Tool, ToolKind, tool
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import MAX_CALLS, ToolCall, Turn

__all__ = [
    "MAX_CALLS",
    "MAX_RUN_KEY_BYTES",
    "AnyTool",
    "OfferedTool",
    "Tool",
    "ToolCall",
    "ToolKind",
    "ToolOffer",
    "ToolSet",
    "Turn",
    "call_key",
    "tool",
    "turn_key",
]
