"""A bounded cache keeps what was used last, up to its limit."""

from __future__ import annotations

from commitgate_local.bounded import BoundedCache


def test_what_was_not_used_for_longest_is_dropped() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert cache.get("a") == 1
    cache.put("c", 3, 4)
    assert cache.get("b") is None
    assert cache.get("a") == 1
    assert cache.size_bytes == 8


def test_limit_itself_is_allowed() -> None:
    cache: BoundedCache[str, int] = BoundedCache(8)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert len(cache) == 2


def test_newest_value_is_kept_even_when_too_large() -> None:
    cache: BoundedCache[str, int] = BoundedCache(8)
    cache.put("a", 1, 4)
    cache.put("b", 2, 40)
    assert cache.get("a") is None
    assert cache.get("b") == 2


def test_replacing_a_value_counts_it_once() -> None:
    cache: BoundedCache[str, int] = BoundedCache(100)
    cache.put("a", 1, 40)
    cache.put("a", 2, 10)
    assert (cache.get("a"), cache.size_bytes, len(cache)) == (2, 10, 1)


def test_discarded_keys_are_gone() -> None:
    cache: BoundedCache[int, int] = BoundedCache(100)
    for number in range(6):
        cache.put(number, number, 1)
    cache.discard(lambda number: number % 2 == 0)
    assert [cache.get(number) for number in range(6)] == [None, 1, None, 3, None, 5]
    assert cache.size_bytes == 3
