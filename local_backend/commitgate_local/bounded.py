"""Hold values up to a number of bytes, dropping those not used for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Remember values by key. Usable from several threads.

    Args:
        limit_bytes: most bytes, as the callers of ``put`` count them. The newest value is kept even where it alone
            is larger.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()
        self.size_bytes = 0

    def __len__(self) -> int:
        """Return the number of values held."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return the value of a key, and count it as used; None where there is none."""
        found = self._values.get(key)
        if found is None:
            return None
        # Another thread may have dropped it in between; the value in hand is still right.
        with suppress(KeyError):
            self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Remember a value, and drop the ones not used for longest until the limit is kept."""
        with self._lock:
            self._remove(key)
            self._values[key] = (value, size_bytes)
            self.size_bytes += size_bytes
            while self.size_bytes > self._limit and len(self._values) > 1:
                self._remove(next(iter(self._values)))

    def discard(self, matches: Callable[[K], bool]) -> None:
        """Drop the values of all keys that match."""
        with self._lock:
            for key in [key for key in self._values if matches(key)]:
                self._remove(key)

    def _remove(self, key: K) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self.size_bytes -= found[1]


__all__ = ["BoundedCache"]
