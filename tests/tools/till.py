"""A till whose payments are remembered, scripts that call it, and clients to run them with."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from commitgate.client import Client
from commitgate.effect import EffectContext
from commitgate.errors import EffectRejected
from commitgate.ledger import Ledger, MemoryLedger
from commitgate.testing import ScriptedBackend, Step
from commitgate.tools import Tool, tool

DONE: Step = {"done": True}
CALLS: Step = {"finish": "tool_calls"}
STOP: Step = {"finish": "stop"}
Script = list[Step]


class Till:
    """Pay and look up; remember both."""

    def __init__(self, *, before_paying: Callable[[int], None] | None = None) -> None:
        self.paid: list[tuple[int, str]] = []
        self.keys: list[str] = []
        self.looked_up: list[str] = []
        self._before_paying = before_paying or (lambda amount: None)

    def tool(self, **options: Any) -> Tool[..., Any]:
        """Return the tool that pays."""

        def pay(amount: int, context: EffectContext, to: str = "me") -> str:
            self._before_paying(amount)
            self.paid.append((amount, to))
            self.keys.append(context.key)
            return f"paid {amount}"

        options = {"effect": "once", **options}
        made: Tool[..., Any] = tool(**options)(pay)
        return made

    def reader(self, **options: Any) -> Tool[..., Any]:
        """Return the tool that looks up."""

        async def look_up(name: str) -> dict[str, str]:
            if name == "nobody":
                raise EffectRejected("there is nobody of this name")
            if name == "broken":
                raise ZeroDivisionError
            self.looked_up.append(name)
            return {"name": name}

        options = {"effect": "read", **options}
        made: Tool[..., Any] = tool(**options)(look_up)
        return made

    def both(self) -> Sequence[Tool[..., Any]]:
        return [self.tool(), self.reader()]


def piece(i: int, args: str = "", *, name: str | None = None, id: str | None = None) -> Step:
    return {"tool": {"i": i, "id": id, "name": name, "args": args}}


def calling(*calls: tuple[str, str]) -> Script:
    """Return the script of a turn that calls."""
    pieces = [piece(i, arguments, name=name, id=f"c{i}") for i, (name, arguments) in enumerate(calls)]
    return [*pieces, CALLS, DONE]


def answering(words: str = "Done.") -> Script:
    """Return the script of a turn that answers."""
    return [{"prose": words}, STOP, DONE]


def backend_of(*scripts: Script) -> ScriptedBackend:
    return ScriptedBackend(scripts[0], then=scripts[1:])


def client_of(backend: ScriptedBackend, ledger: Ledger | None = None) -> AbstractAsyncContextManager[Client]:
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger())
