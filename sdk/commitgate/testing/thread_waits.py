"""Tell whether a task waits for a worker thread, by the functions that it is suspended in."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType
from typing import cast

import anyio.to_thread

_IN_THREAD = anyio.to_thread.run_sync.__code__


def waits_for_thread(codes: Iterable[CodeType]) -> bool:
    """Say whether one of the functions that a task is suspended in hands work to a thread."""
    return any(code is _IN_THREAD for code in codes)


def awaited_codes(awaitable: object) -> Iterator[CodeType]:
    """Yield the code of every function that a suspended coroutine is in, from the outermost on."""
    while awaitable is not None:
        code, awaitable = _step(awaitable)
        if code is not None:
            yield code


def _step(awaitable: object) -> tuple[CodeType | None, object]:
    """Return the code of one link of the chain, and the next link."""
    if isinstance(awaitable, CoroutineType):
        return awaitable.cr_code, awaitable.cr_await
    if isinstance(awaitable, GeneratorType):
        return awaitable.gi_code, cast("GeneratorType[object, object, object]", awaitable).gi_yieldfrom
    if isinstance(awaitable, AsyncGeneratorType):
        return awaitable.ag_code, awaitable.ag_await
    # One step of an asynchronous generator is an object that shows its generator to the collector alone.
    referents: list[object] = gc.get_referents(awaitable)
    return None, next((each for each in referents if _is_generator(each)), None)


def _is_generator(value: object) -> bool:
    return isinstance(value, AsyncGeneratorType)


__all__ = ["awaited_codes", "waits_for_thread"]
