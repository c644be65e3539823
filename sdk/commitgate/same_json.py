"""Tell whether two pieces of JSON are the same where a schema's meaning hangs on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast


def same_json(first: object, second: object) -> bool:
    """Say whether two values are the same JSON, written alike: True is not 1, and the order of keys counts.

    Python's own ``==`` takes both for the same. What is no JSON is compared by it. Work is bounded by the pairs of
    objects that meet, so values that hold themselves, or parts of themselves many times, come to an end.
    """
    met: dict[tuple[int, int], tuple[object, object]] = {}  # holds the values, so that no id is given out anew
    waiting: list[tuple[object, object]] = [(first, second)]
    while waiting:
        left, right = pair = waiting.pop()
        if left is right:
            continue
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            mine, its = dict(cast("Mapping[object, object]", left)), dict(cast("Mapping[object, object]", right))
            if list(mine) != list(its):
                return False
            inner = list(zip(mine.values(), its.values(), strict=True))
        elif isinstance(left, list) and isinstance(right, list):
            items, others = cast("list[object]", left), cast("list[object]", right)
            if len(items) != len(others):
                return False
            inner = list(zip(items, others, strict=True))
        elif isinstance(left, bool) or isinstance(right, bool) or left != right:
            return False
        else:
            continue
        if met.setdefault((id(pair[0]), id(pair[1])), pair) is pair:
            waiting += inner
    return True


__all__ = ["same_json"]
