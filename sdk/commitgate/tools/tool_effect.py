"""Make an effect of a tool's function: what a judged call sets off, under the tool's own name in the ledger."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from commitgate.effect import Effect, EffectContext, EffectFunction, is_async
from commitgate.effect_kind import EffectKind
from commitgate.errors import EffectRejected
from commitgate.tools.signature import Signature

if TYPE_CHECKING:
    from pydantic import BaseModel

    from commitgate.effect_mark import Reconcile

ToolKind: TypeAlias = Literal["read", "once", "by_key", "transactional"]
"""``read``: changes nothing, so it may run again at will. The others are the kinds of effects."""

_KINDS = {
    "read": EffectKind.BY_KEY,  # what may run again at will may run again under its key
    "once": EffectKind.ONCE,
    "by_key": EffectKind.BY_KEY,
    "transactional": EffectKind.TRANSACTIONAL,
}


def tool_effect(
    function: Callable[..., object],
    signature: Signature,
    *,
    name: str,
    kind: ToolKind,
    version: str,
    reconcile: Reconcile | None,
) -> EffectFunction[BaseModel, object]:
    """Return the function of the arguments and a context that ``Effect.of`` takes.

    Where a tool that only reads raises, nothing has happened: so that is a clean no, of which the model is told the
    exception's type, and not a doubt.

    Args:
        function: the tool's own.
        signature: how it is called.
        name: the tool's name; moving or renaming the function changes no key.
        kind: what calling it may do.
        version: the tool's version.
        reconcile: looks downstream for one that is in doubt.

    Raises:
        MisuseError: it is transactional and async, or its return annotation has no JSON form.
    """
    made = _asynchronous(function, signature, kind) if is_async(function) else _blocking(function, signature, kind)
    made.__annotations__ = {} if signature.result is inspect.Parameter.empty else {"return": signature.result}
    given: dict[str, object] = {
        "effect_kind": _KINDS[kind],
        "effect_name": f"tool:{name}",
        "effect_version": version,
        "effect_reconcile": reconcile,
        "effect_only_reads": kind == "read",
    }
    for attribute, value in given.items():
        setattr(made, attribute, value)
    Effect[object, object].of(cast("EffectFunction[object, object]", made))  # checks it
    return cast("EffectFunction[BaseModel, object]", made)


def _asynchronous(function: Callable[..., object], signature: Signature, kind: ToolKind) -> Callable[..., object]:
    async def effect(arguments: BaseModel, context: EffectContext) -> object:
        try:
            return await cast("Awaitable[object]", function(**signature.keywords(arguments, context)))
        except Exception as error:
            if kind == "read":
                raise _failed(error) from error
            raise

    return effect


def _blocking(function: Callable[..., object], signature: Signature, kind: ToolKind) -> Callable[..., object]:
    def effect(arguments: BaseModel, context: EffectContext) -> object:
        try:
            return function(**signature.keywords(arguments, context))
        except Exception as error:
            if kind == "read":
                raise _failed(error) from error
            raise

    return effect


def _failed(error: Exception) -> EffectRejected:
    # What it says may hold payload, or words of somebody else; the program finds it behind ``__cause__``.
    return error if isinstance(error, EffectRejected) else EffectRejected(f"it failed: {type(error).__qualname__}")


__all__ = ["ToolKind", "tool_effect"]
