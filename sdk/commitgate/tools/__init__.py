"""Let a model call functions: the choice of a tool as a language, and each call an operation of its own."""

from commitgate.tools.call_result import CallResult
from commitgate.tools.items import CallEnded, CallPreview, CallStarted, ToolItem, TurnPreview
from commitgate.tools.keys import call_key, turn_key
from commitgate.tools.offer import OfferedTool, ToolOffer
from commitgate.tools.results import turn_messages
from commitgate.tools.tool import Tool, tool
from commitgate.tools.tool_effect import ToolKind
from commitgate.tools.tool_run import ToolRun
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import ToolCall, Turn

__all__ = [
    "AnyTool",
    "CallEnded",
    "CallPreview",
    "CallResult",
    "CallStarted",
    "OfferedTool",
    "Tool",
    "ToolCall",
    "ToolItem",
    "ToolKind",
    "ToolOffer",
    "ToolRun",
    "ToolSet",
    "Turn",
    "TurnPreview",
    "call_key",
    "tool",
    "turn_key",
    "turn_messages",
]
