"""Cut a value out of an event as the server spelled it, so that what a model wrote is never written anew."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.tools.slices import items, members


def raw_value(text: bytes, path: Sequence[str | int]) -> bytes:
    """Return the value at a place of a JSON text, byte for byte.

    Of members with one key the last is taken, as parsers do. The whole text is walked: for many values of one event
    cut out what holds them first.

    Args:
        text: JSON that was parsed without a fault.
        path: the keys and positions that lead to the value.

    Raises:
        WireFaultError: there is none.
    """
    try:
        for step in path:
            text = items_of(text)[step] if isinstance(step, int) else dict(members(text))[step]
    except (KeyError, IndexError, ValueError):
        raise WireFaultError("no_slice", "a value of the event could not be cut out") from None
    return text


def items_of(text: bytes) -> list[bytes]:
    """Return the items of a JSON array, byte for byte.

    Raises:
        WireFaultError: it is none.
    """
    try:
        return list(items(text))
    except ValueError:
        raise WireFaultError("no_slice", "a list of the event could not be cut into its items") from None


__all__ = ["items_of", "raw_value"]
