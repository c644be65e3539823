"""Hold what customers write, and two solved cases: a model this small follows what it sees done."""

import json
from collections.abc import Sequence

from commitgate import Committed, Message, Receipt
from commitgate.json_value import JsonObject
from commitgate.tools import AnyTool, CallResult, ToolCall, Turn, turn_messages

MAILS = {
    "tea-pot": "My tea pot of order A-1001 leaks. Please refund 2450 cents. Cleo",
    "lamp": "The lamp of order A-1002 does not work. Please pay me back 18900 cents. Dan",
    "radio": "Order A-1003 never arrived. Please refund it. I paid 7900 cents. Eva",
    "mirror": "The mirror of order A-1004 has a crack. Please refund 5600 cents. Finn",
    "clock": "The clock of order A-1005 is too loud. I want my money back. Gil",
}

SOLVED = (
    ("Order B-2001 came broken. I paid 4900 cents. Please refund it. Ada", "B-2001", "kettle", 4900),
    ("Please refund 3600 cents of order C-3102, the lid is missing. Bo", "C-3102", "pan", 3600),
)


def conversation(mail: str, tools: Sequence[AnyTool]) -> list[Message]:
    """Return what the model is asked: the solved cases, then this mail."""
    messages = [Message("system", "You work for a shop.")]
    for text, order_id, item, cents in SOLVED:
        order: JsonObject = {"order_id": order_id}
        messages += [
            Message("user", text),
            *_call(tools, "look_up_order", order, {"item": item, "paid_cents": cents}),
            *_call(tools, "refund", order | {"cents": cents}, {"refunded_cents": cents}),
            Message("assistant", json.dumps({"answer": f"Order {order_id}: {cents} cents were refunded."})),
        ]
    return [*messages, Message("user", mail)]


def _call(tools: Sequence[AnyTool], name: str, arguments: JsonObject, result: JsonObject) -> tuple[Message, Message]:
    """Return a turn with one call and what is told of it, in the words in which a run tells it."""
    text = json.dumps({"calls": [{"name": name, "arguments": arguments}]})
    call = ToolCall(turn=1, ordinal=1, name=name, arguments_json=json.dumps(arguments).encode())
    done = CallResult(call=call, outcome=Committed(value=None, result=result, receipt=Receipt()))
    return turn_messages(Turn(number=1, calls=(call,), text=text), [done], tools)
