"""Describe the one thing that a committed value may set off: a function of the user's, run at most once.

An effect is ``def`` or ``async def`` and takes the value and an ``EffectContext``. A clean no is raised as
``EffectRejected``; any other exception leaves it unknown whether something happened.

**Its kind** says what keeps it from happening twice: the attribute ``effect_kind``, which the marks ``once``,
``by_key`` and ``transactional`` set; ``once`` where there is none.

**Its name** is part of what an operation key stands for. It is the attribute ``effect_name`` where there is one, else
``module.qualname``; so moving or renaming the function makes older keys conflict unless it carries its old name. The
attribute ``effect_version`` (default ``"1"``) is for the same function that does something else.

**Its result** is stored as JSON and read back by the return annotation. The first call hands over what was read back
too, so a replay cannot differ from it.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast, get_type_hints

from commitgate.argument import check_takes
from commitgate.effect_kind import EffectKind
from commitgate.errors import MisuseError
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.effect_mark import Reconcile
    from commitgate.ledger.transaction import Transaction

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_EFFECT_VERSION = "1"


@dataclass(frozen=True, slots=True)
class EffectContext:
    """Tell an effect under which identity it runs.

    Attributes:
        key: the same for every try of this effect under this operation key; hand it to downstream services that know
            idempotency keys.
        fence: rises with every claim of the operation key; a downstream store that keeps the highest one it saw can
            refuse calls that were overtaken.
        attempt: how often the operation key was claimed, this call included.
        deadline: Unix time in seconds at which the effect is cancelled and its fate is in doubt; None without a limit.
    """

    key: str = field(repr=False)
    fence: int
    attempt: int
    deadline: float | None


@dataclass(frozen=True, slots=True)
class TransactionContext(EffectContext):
    """Tell a transactional effect under which identity it runs, and where it writes.

    It is not cut off at its deadline, since nothing can stop a thread; it may look at it and raise.

    Attributes:
        connection: runs statements in the ledger's own transaction; of no use after the effect.
    """

    connection: Transaction = field(repr=False)


# A function of an EffectContext can do with a TransactionContext, so both sorts are functions of the latter.
EffectFunction: TypeAlias = Callable[[T, TransactionContext], "R | Awaitable[R]"]


class Effect(Generic[T, R]):
    """Hold an effect's function with its name, its version and the form of its result. Make it with ``Effect.of``.

    Attributes:
        name: what names it in the ledger.
        version: what tells versions of it apart.
        kind: what keeps it from happening twice.
        reconcile: looks downstream for one that is in doubt; None where nothing can.
        only_reads: it is that of a tool which changes nothing.
    """

    __slots__ = ("_adapter", "_function", "_is_async", "kind", "name", "only_reads", "reconcile", "version")

    def __init__(
        self,
        function: EffectFunction[T, R],
        *,
        name: str,
        version: str,
        adapter: TypeAdapter[R] | None,
        kind: EffectKind = EffectKind.ONCE,
        reconcile: Reconcile | None = None,
        only_reads: bool = False,
    ) -> None:
        self._function = function
        self._is_async = is_async(function)
        self._adapter = adapter
        self.name = name
        self.version = version
        self.kind = kind
        self.reconcile = reconcile
        self.only_reads = only_reads
        if kind is EffectKind.TRANSACTIONAL and self._is_async:
            raise MisuseError(
                f"the transactional effect {name} must be a plain def: it runs in one transaction in a worker thread"
            )

    @classmethod
    def of(cls, function: EffectFunction[T, R]) -> Effect[T, R]:
        """Return the effect of a function, a method or an object that can be called.

        Raises:
            MisuseError: it cannot be called, has no name of its own (a lambda or partial without ``effect_name``), or
                its return annotation has no JSON form; or it cannot be called with a value and a context. Nothing was
                sent or written.
        """
        if not callable(function):
            raise MisuseError(f"effect must be a function of the value and an EffectContext, found {_kind(function)}")
        if callable(getattr(function, "effect_of_call", None)):
            raise MisuseError("effect is a tool; give its effect: tool.effect")
        kind = getattr(function, "effect_kind", EffectKind.ONCE)
        if not isinstance(kind, EffectKind):
            raise MisuseError(
                f"effect_kind must be an EffectKind, found {_kind(kind)}; mark the effect with once, by_key or "
                "transactional"
            )
        version = getattr(function, "effect_version", DEFAULT_EFFECT_VERSION)
        if not isinstance(version, str) or not version:
            raise MisuseError(f"effect_version must be a non-empty str, found {_kind(version)}")
        name = _name(function)
        check_takes(function, ("value", "context"), f"the effect {name}")
        adapter = cast("TypeAdapter[R] | None", result_adapter(function, name))
        reconcile = getattr(function, "effect_reconcile", None)
        only_reads = getattr(function, "effect_only_reads", False) is True
        return cls(
            function,
            name=name,
            version=version,
            adapter=adapter,
            kind=kind,
            reconcile=reconcile,
            only_reads=only_reads,
        )

    async def run(self, value: T, context: EffectContext) -> R:
        """Run the function once: on the event loop where it is async, else in a worker thread.

        Cancelling abandons a worker thread, because nothing can stop it.
        """
        given = cast(TransactionContext, context)
        if self._is_async:
            returned = self._function(value, given)
        else:
            returned = await run_in_thread(lambda: self._function(value, given))
        if inspect.isawaitable(returned):
            returned = await cast("Awaitable[R]", returned)
        return cast("R", returned)

    def run_in_transaction(self, value: T, context: TransactionContext) -> R:
        """Run a transactional function here and now, in the thread that holds the transaction.

        Raises:
            MisuseError: it returned something to wait for.
        """
        returned = self._function(value, context)
        if inspect.isawaitable(returned):
            if inspect.iscoroutine(returned):
                returned.close()
            raise MisuseError(
                f"the transactional effect {self.name} returned something to wait for; make it a plain def"
            )
        return returned

    def dump(self, result: R) -> bytes:
        """Return a result as JSON.

        Raises:
            ValueError: it has no JSON form. The message names its type alone.
        """
        try:
            plain = self._plain(result)
            # Not-a-number is not JSON, and a null in its place would be another result.
            return json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
        except Exception as error:
            # Serialisers of the result's own class may raise anything.
            raise ValueError(f"its result, of type {_kind(result)}, cannot be stored as JSON") from error

    def load(self, data: bytes) -> R:
        """Return a stored result: by the return annotation, or as plain JSON where that is absent or does not fit."""
        if self._adapter is not None:
            # What was returned may not be what the annotation promises, and validators of its class may raise anything.
            with suppress(Exception):
                return self._adapter.validate_json(data)
        return cast("R", json.loads(data))

    def _plain(self, result: R) -> object:
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        if self._adapter is not None:
            # Where it is not of the annotated type, its own type may still have a JSON form.
            with suppress(PydanticSerializationError):
                return self._adapter.dump_python(result, mode="json", warnings="error")
        return to_jsonable_python(result)


def _kind(thing: object) -> str:
    return type(thing).__qualname__


def _name(function: Callable[..., object]) -> str:
    explicit = getattr(function, "effect_name", None)
    if explicit is not None:
        if not isinstance(explicit, str) or not explicit:
            raise MisuseError(f"effect_name must be a non-empty str, found {_kind(explicit)}")
        return explicit
    if isinstance(function, functools.partial):
        raise MisuseError("a functools.partial has no name of its own: set its attribute effect_name, or write a def")
    named = function if hasattr(function, "__qualname__") else type(function)
    if "<lambda>" in named.__qualname__:
        raise MisuseError("a lambda has no name of its own: write a def, so that the ledger can tell effects apart")
    return f"{named.__module__}.{named.__qualname__}"


def is_async(function: Callable[..., object]) -> bool:
    """Say whether a function, or what a partial or an object calls, is an ``async def``."""
    while isinstance(function, functools.partial):
        function = function.func
    called = getattr(function, "__call__", None)  # noqa: B004 - its kind is looked at, not whether there is one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def result_adapter(function: Callable[..., object], name: str) -> TypeAdapter[Any] | None:
    """Return what writes and reads an effect's result by its return annotation; None where there is none.

    Raises:
        MisuseError: the annotation has no JSON form.
    """
    annotation = _return_annotation(function)
    if annotation is Any or annotation is object or annotation is inspect.Parameter.empty:
        return None
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter[Any](annotation)
    except PydanticUserError as error:
        raise MisuseError(
            f"the return annotation of the effect {name} has no JSON form, so its result could not be stored "
            f"({str(error).splitlines()[0]}); return plain data or a model, or drop the annotation"
        ) from error


def _return_annotation(function: Callable[..., object]) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    annotated = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(annotated).get("return", inspect.Parameter.empty)
    except Exception:  # noqa: BLE001 - annotations are the caller's code, evaluated here, and may raise anything
        # Names that exist for the type checker alone, no expression at all, or a callable without annotations.
        return inspect.Parameter.empty


__all__ = [
    "DEFAULT_EFFECT_VERSION",
    "Effect",
    "EffectContext",
    "EffectFunction",
    "TransactionContext",
    "is_async",
    "result_adapter",
]
