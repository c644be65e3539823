"""Count how often effects and tools really run, so that it can be told whether an act was done a second time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_type_hints

from commitgate.effect import Effect, EffectContext, EffectFunction, is_async
from commitgate.effect_kind import EffectKind
from commitgate.gate.checks import Authorize

if TYPE_CHECKING:
    from pydantic import BaseModel

    from commitgate.tools.tool_set import AnyTool

ATTRIBUTES = ("effect_version", "effect_kind", "effect_reconcile", "effect_only_reads")


class Runs:
    """Count runs, from any thread.

    Attributes:
        names: of what ran, in order.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    @property
    def count(self) -> int:
        """Return how many there were."""
        return len(self.names)

    def note(self, name: str) -> None:
        """Note one."""
        self.names.append(name)


def counted_effect(function: EffectFunction[object, object], runs: Runs) -> EffectFunction[object, object]:
    """Return an effect that does the same under the same name, and is counted.

    Raises:
        MisuseError: it is no effect.
    """
    name = Effect[object, object].of(function).name

    async def counted_async(value: object, context: EffectContext) -> object:
        runs.note(name)
        return await cast("Awaitable[object]", cast("Callable[..., object]", function)(value, context))

    def counted_sync(value: object, context: EffectContext) -> object:
        runs.note(name)
        return cast("Callable[..., object]", function)(value, context)

    made: Callable[..., object] = counted_async if is_async(function) else counted_sync
    made.__annotations__ = _result_of(function)
    setattr(made, "effect_name", name)  # noqa: B010 - the attribute is this library's, and not of every function
    for attribute in ATTRIBUTES:
        if hasattr(function, attribute):
            setattr(made, attribute, getattr(function, attribute))
    return cast("EffectFunction[object, object]", made)


def counted_tool(tool: AnyTool, runs: Runs, authorize: Authorize[BaseModel] | None) -> AnyTool:
    """Return a tool that does the same under the same name, is counted unless it only reads, and asks further.

    Args:
        tool: it.
        runs: where to count.
        authorize: whether a call of it is allowed, beside its contract's own.
    """
    from commitgate.tools.tool import Tool

    contract = tool.contract
    if authorize is not None:
        contract = replace(contract, authorize=(*contract.authorize, authorize))
    effect = (
        tool.effect
        if tool.kind == "read"
        else counted_effect(cast("EffectFunction[object, object]", tool.effect), runs)
    )
    return Tool(
        tool.function,
        name=tool.name,
        description=tool.description,
        kind=tool.kind,
        version=tool.version,
        contract=contract,
        effect=cast("EffectFunction[BaseModel, object]", effect),
    )


def may_run_again(function: EffectFunction[object, object]) -> bool:
    """Say whether an effect in doubt may be run again under its key: then a second run is no fault."""
    return Effect[object, object].of(function).kind is EffectKind.BY_KEY


def _result_of(function: object) -> dict[str, object]:
    """Return the annotation of the result alone, in a form that needs no names of another module."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    annotated = function if inspect.isroutine(function) else type(function).__call__
    try:
        hints = get_type_hints(annotated)
    except Exception:  # noqa: BLE001 - annotations are the caller's code, evaluated here, and may raise anything
        return {}
    return {"return": hints["return"]} if "return" in hints else {}


__all__ = ["ATTRIBUTES", "Runs", "counted_effect", "counted_tool", "may_run_again"]
