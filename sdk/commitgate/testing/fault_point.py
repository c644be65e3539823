"""Name the places of a request at which a test can make the backend break or hang."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol, TypeAlias, cast

import anyio

from commitgate.argument import check_kind, wrong_kind


class FaultPoint(StrEnum):
    """Name a place on the way of one request, in the order in which they are passed."""

    BEFORE_OPEN = "before_open"
    """In ``open``, before there is anything to close."""
    OPENING = "opening"
    """While the request is sent, before the stream is handed over."""
    FIRST_EVENT = "first_event"
    """Before the first event."""
    MID_TEXT = "mid_text"
    """After the first piece of text."""
    AFTER_TEXT = "after_text"
    """Before the finish, or before the end of a stream without one."""
    AFTER_FINISH = "after_finish"
    """After the finish."""
    CLOSING = "closing"
    """While the stream is closed, also after a cancellation."""


class Waitable(Protocol):
    """Anything that can be waited for, as an ``anyio.Event``."""

    async def wait(self) -> object:
        """Wait for it."""
        ...


Trouble: TypeAlias = "BaseException | Waitable | None"
"""What happens at a place: the exception is raised, the waitable is waited for, None hangs for ever."""


def check_troubles(name: str, troubles: object) -> None:
    """Check what shall happen where.

    Raises:
        MisuseError: a key is no ``FaultPoint``, or a value nothing that can happen there.
    """
    check_kind(name, troubles, Mapping, "a dict from FaultPoint to an exception, a waitable or None")
    for point, trouble in cast("Mapping[object, object]", troubles).items():
        check_kind(f"key of {name}", point, FaultPoint, "a FaultPoint")
        if isinstance(trouble, BaseException):
            continue
        if point is FaultPoint.BEFORE_OPEN:
            raise wrong_kind(f"{name}: {point}", "an exception: nothing can wait there", trouble)
        if trouble is not None and not callable(getattr(trouble, "wait", None)):
            raise wrong_kind(f"{name}: {point}", "an exception, an object with an async wait(), or None", trouble)


async def wait_for(waitable: Waitable | None) -> None:
    """Wait for a waitable; for ever where there is none."""
    if waitable is None:
        await anyio.sleep_forever()
    else:
        await waitable.wait()


__all__ = ["FaultPoint", "Trouble", "Waitable", "check_troubles", "wait_for"]
