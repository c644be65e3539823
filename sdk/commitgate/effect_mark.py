"""Mark a function as an effect of one kind: what keeps it from happening twice.

Example::

    @by_key(reconcile=look_up)
    async def refund(order: Refund, ctx: EffectContext) -> str:
        return await payments.refund(order.id, order.amount, idempotency_key=ctx.key)

A function without a mark is an effect of kind ``once``. A mark changes nothing about calling the function itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from commitgate.argument import check_takes, check_words, wrong_kind
from commitgate.effect import is_async
from commitgate.effect_kind import EffectKind
from commitgate.errors import MisuseError
from commitgate.finding import Looked

if TYPE_CHECKING:
    from commitgate.ledger.record import Record

F = TypeVar("F", bound=Callable[..., object])

Reconcile: TypeAlias = "Callable[[str, Record], Looked | Awaitable[Looked]]"
"""Looks downstream for an effect that is in doubt. It takes the effect key and the ledger's row."""


@overload
def once(function: F, /) -> F: ...
@overload
def once(
    *, name: str | None = None, version: str | None = None, reconcile: Reconcile | None = None
) -> Callable[[F], F]: ...
def once(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    version: str | None = None,
    reconcile: Reconcile | None = None,
) -> F | Callable[[F], F]:
    """Mark an effect that nothing downstream keeps from happening twice. It is started at most once for each key.

    Where it raises anything but ``EffectRejected``, or its process dies in it, its fate is in doubt, and it is never
    run again by itself.

    Args:
        function: takes the value and an ``EffectContext``; sync or async.
        name: names it in the ledger; None takes module and name of the function.
        version: tells versions of it apart; None takes ``"1"``.
        reconcile: looks downstream whether one that is in doubt happened; asked by the next call with its key.

    Raises:
        MisuseError: an argument is of the wrong kind.
    """
    return _marked(EffectKind.ONCE, function, name, version, reconcile)


@overload
def by_key(function: F, /) -> F: ...
@overload
def by_key(
    *, name: str | None = None, version: str | None = None, reconcile: Reconcile | None = None
) -> Callable[[F], F]: ...
def by_key(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    version: str | None = None,
    reconcile: Reconcile | None = None,
) -> F | Callable[[F], F]:
    """Mark an effect that may be run again under the same ``ctx.key``: what it calls knows idempotency keys.

    Where its fate is unknown, the next call with the operation key runs it again with the stored value. The arguments
    are those of ``once``.

    Raises:
        MisuseError: an argument is of the wrong kind.
    """
    return _marked(EffectKind.BY_KEY, function, name, version, reconcile)


@overload
def transactional(function: F, /) -> F: ...
@overload
def transactional(*, name: str | None = None, version: str | None = None) -> Callable[[F], F]: ...
def transactional(
    function: F | None = None, /, *, name: str | None = None, version: str | None = None
) -> F | Callable[[F], F]:
    """Mark an effect that only writes rows of the ledger's own database, through ``ctx.connection``.

    Its rows and the ledger's word that it ran are one transaction, so it happens exactly once or not at all. It is a
    plain ``def``, runs in a worker thread, and must not wait for anything but the database, because it holds a lock.
    Where it raises, its transaction is rolled back. The arguments are those of ``once``.

    Raises:
        MisuseError: an argument is of the wrong kind.
    """
    return _marked(EffectKind.TRANSACTIONAL, function, name, version, None)


def _marked(
    kind: EffectKind, function: F | None, name: str | None, version: str | None, reconcile: Reconcile | None
) -> F | Callable[[F], F]:
    given: dict[str, object] = {"effect_kind": kind, "effect_reconcile": _checked_reconcile(reconcile)}
    for attribute, word in (("effect_name", name), ("effect_version", version)):
        if word is not None:
            check_words(attribute, word)
            given[attribute] = word

    def mark(marked: F) -> F:
        if not callable(marked):
            raise wrong_kind("an effect", "a function", marked)
        if kind is EffectKind.TRANSACTIONAL and is_async(marked):
            raise MisuseError(
                "a transactional effect must be a plain def: it runs in one transaction in a worker thread"
            )
        try:
            for attribute, value in given.items():
                setattr(marked, attribute, value)
        except AttributeError as error:
            told = f"no mark can be set on an object of type {type(marked).__name__}"
            raise MisuseError(f"{told}; mark the function itself, or wrap it in a def") from error
        return marked

    return mark if function is None else mark(function)


def _checked_reconcile(reconcile: Reconcile | None) -> Reconcile | None:
    if reconcile is not None:
        if not callable(reconcile):
            raise wrong_kind("reconcile", "a function of the key and the record", reconcile)
        check_takes(reconcile, ("key", "record"), "reconcile")
    return reconcile


__all__ = ["Reconcile", "by_key", "once", "transactional"]
