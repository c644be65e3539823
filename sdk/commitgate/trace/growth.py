"""Tell how a value grew from one preview to the next, and put it together again out of what was told.

A preview only ever adds to an earlier one: text at its end, items and members behind the last. So what changed is found
along the last parts alone, and is as long as what was added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from commitgate.json_value import JsonValue
from commitgate.pointer import ARRAY_INDEX, child, tokens_of
from commitgate.preview import Preview
from commitgate.trace.trace import Change


class Growth:
    """Follow the previews of one request."""

    def __init__(self) -> None:
        self._has_value = False
        self._value: JsonValue = None

    def changes(self, preview: Preview) -> tuple[Change, ...]:
        """Return what makes the last preview's value the one of this."""
        if not preview.has_value:
            return ()
        before, value = self._value, preview.value
        had_value, self._has_value, self._value = self._has_value, True, value
        return tuple(_changes(before, value, "")) if had_value else (Change("", value),)


def _changes(before: JsonValue, after: JsonValue, pointer: str) -> Iterator[Change]:
    if before is after:
        return
    if isinstance(before, str) and isinstance(after, str) and after.startswith(before):
        if len(after) > len(before):
            yield Change(pointer, after[len(before) :], is_more=True)
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(0, len(before) - 1), len(after)):
            if index < len(before):
                yield from _changes(before[index], after[index], child(pointer, index))
            else:
                yield Change(child(pointer, index), after[index])
    elif isinstance(before, dict) and isinstance(after, dict):
        for key, value in islice(after.items(), max(0, len(before) - 1), None):
            if key in before:
                yield from _changes(before[key], value, child(pointer, key))
            else:
                yield Change(child(pointer, key), value)
    elif type(before) is not type(after) or before != after:
        yield Change(pointer, after)


def grown(value: JsonValue, changes: Iterable[Change]) -> JsonValue:
    """Return what changes make of a value that they belong to; containers that are in it already are changed in place.

    Raises:
        ValueError: a change names a place that is not there.
    """
    for change in changes:
        if change.pointer == "":
            value = _added(value, change)
            continue
        *way, last = tokens_of(change.pointer)
        place = value
        for token in way:
            place = _step(place, token)
        _put(place, last, change)
    return value


def replayed(pieces: Iterable[Iterable[Change]]) -> JsonValue:
    """Return the value that the changes of all these pieces make, one after another; None where there is none.

    Raises:
        ValueError: a change names a place that is not there.
    """
    value: JsonValue = None
    for changes in pieces:
        value = grown(value, changes)
    return value


def _step(place: JsonValue, token: str) -> JsonValue:
    if isinstance(place, dict) and token in place:
        return place[token]
    if isinstance(place, list) and ARRAY_INDEX.fullmatch(token) and int(token) < len(place):
        return place[int(token)]
    raise ValueError("a change names a place that is not there")


def _put(place: JsonValue, last: str, change: Change) -> None:
    if isinstance(place, dict):
        place[last] = _added(place.get(last), change)
    elif isinstance(place, list) and ARRAY_INDEX.fullmatch(last) and int(last) < len(place):
        place[int(last)] = _added(place[int(last)], change)
    elif isinstance(place, list) and last == str(len(place)):
        place.append(_added(None, change))
    else:
        raise ValueError("a change names a place that is not there")


def _added(before: JsonValue, change: Change) -> JsonValue:
    if not change.is_more:
        return _own(change.value)
    if isinstance(before, str) and isinstance(change.value, str):
        return before + change.value
    raise ValueError("a change adds text where there is none")


def _own(value: JsonValue) -> JsonValue:
    """Return a copy that may be changed: what previews show is read-only and shared."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_own(item) for item in value]
    return value


__all__ = ["Growth", "grown", "replayed"]
