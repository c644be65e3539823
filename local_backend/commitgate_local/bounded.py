"""Hold values up to a number of bytes, giving up those not used for long."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Remember values by key. Usable from several threads.

    Values used since the older half was last given up are in the newer half, where finding one is a single look-up.

    Args:
        limit_bytes: most bytes, as the callers of ``put`` count them. The newest value is kept even where it alone
            is larger.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._half = limit_bytes // 2
        self._newer: dict[K, tuple[V, int]] = {}
        self._older: dict[K, tuple[V, int]] = {}
        self._newer_bytes = self._older_bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of values held."""
        return len(self._newer) + len(self._older)

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all values held."""
        return self._newer_bytes + self._older_bytes

    def get(self, key: K) -> V | None:
        """Return the value of a key, and count it as used; None where there is none."""
        found = self._newer.get(key)
        if found is not None:
            return found[0]
        found = self._older.get(key)
        if found is None:
            return None
        # Another thread may have given it up in between; the value in hand is still right.
        self.put(key, *found)
        return found[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Remember a value, and give up ones not used for long where the limit would be passed."""
        with self._lock:
            self._remove(key)
            if self._newer and self._newer_bytes + size_bytes > self._half:
                self._older, self._older_bytes = self._newer, self._newer_bytes
                self._newer, self._newer_bytes = {}, 0
            self._newer[key] = (value, size_bytes)
            self._newer_bytes += size_bytes
            if self._newer_bytes > self._half:
                self._older, self._older_bytes = {}, 0

    def discard(self, matches: Callable[[K], bool]) -> None:
        """Drop the values of all keys that match."""
        with self._lock:
            for key in [key for half in (self._newer, self._older) for key in half if matches(key)]:
                self._remove(key)

    def _remove(self, key: K) -> None:
        found = self._newer.pop(key, None)
        if found is not None:
            self._newer_bytes -= found[1]
        found = self._older.pop(key, None)
        if found is not None:
            self._older_bytes -= found[1]


__all__ = ["BoundedCache"]
