"""Join the arguments of a call that Vertex AI sends piece by piece, each with the place that it belongs to.

A piece says ``{"jsonPath": "$.stops[0].city", "stringValue": "Qui", "willContinue": true}``. Numbers are kept as they
are spelled. What cannot be joined for certain is refused: a path of another kind, a place that was left and is come
back to, a value where there is one already.
Source: FunctionCall.partialArgs of Vertex AI; paths are a small part of RFC 9535.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

from commitgate.backends.dialects.raw_slice import items_of, raw_value
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.json_value import JsonObject
from commitgate.tools.joining import MOST_HELD_BYTES

_DEEPEST = 64
"""Most steps of a path: no contract nests deeper."""

_STEP = re.compile(r"""\.([^\W\d][\w-]*)|\[([0-9]{1,9})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]""")
_KINDS = ("stringValue", "numberValue", "boolValue", "nullValue")


@dataclass(slots=True)
class _Text:
    pieces: list[str] = field(default_factory=list[str])


_Node: TypeAlias = "dict[str, _Node] | list[_Node] | _Text | bytes"


class ArgumentPieces:
    """Hold the arguments of one call while their pieces arrive."""

    __slots__ = ("_open", "_root", "_size_bytes")

    def __init__(self) -> None:
        self._root: dict[str, _Node] = {}
        self._open: tuple[str, _Text] | None = None
        self._size_bytes = 0

    def feed(self, pieces: list[JsonObject], raw: bytes) -> None:
        """Take the pieces of one part.

        Args:
            pieces: ``partialArgs``.
            raw: the same as spelled.

        Raises:
            WireFaultError: they cannot be joined.
        """
        self._size_bytes += len(raw)
        if self._size_bytes > MOST_HELD_BYTES:
            raise WireFaultError("arguments_too_long", "the pieces of a call are more than an answer may hold")
        for piece, spelled in zip(pieces, items_of(raw), strict=True):
            self._take(piece, spelled)

    def join(self) -> bytes:
        """Return the arguments as one JSON text.

        Raises:
            WireFaultError: a text was not ended.
        """
        if self._open is not None:
            raise _fault("the call ended inside a text")
        return _spelled(self._root)

    def _take(self, piece: JsonObject, spelled: bytes) -> None:
        path = piece.get("jsonPath")
        kinds = [kind for kind in _KINDS if kind in piece]
        if not isinstance(path, str) or len(kinds) > 1:
            raise _fault("a piece says no place, or more than one value")
        goes_on = piece.get("willContinue") is True
        if self._open is not None:
            self._go_on(path, piece, kinds, goes_on=goes_on)
        elif kinds == ["stringValue"]:
            text = _Text([_text(piece)])
            self._put(path, text)
            self._open = (path, text) if goes_on else None
        elif kinds and not goes_on:
            self._put(path, _scalar(kinds[0], piece, spelled))
        else:
            raise _fault("a piece has no value, or one that is no text and goes on")

    def _go_on(self, path: str, piece: JsonObject, kinds: list[str], *, goes_on: bool) -> None:
        assert self._open is not None, "asked only inside a text"
        place, text = self._open
        if path != place or kinds not in ([], ["stringValue"]):
            raise _fault("another value came inside a text")
        if kinds:
            text.pieces.append(_text(piece))
        if not goes_on:
            self._open = None

    def _put(self, path: str, value: _Node) -> None:
        steps = _steps(path)
        holder: _Node = self._root
        for step, following in pairwise(steps):
            empty: _Node = [] if isinstance(following, int) else {}
            holder = _entered(holder, step, empty, is_last=False)
        _entered(holder, steps[-1], value, is_last=True)


def _entered(holder: _Node, step: str | int, child: _Node, *, is_last: bool) -> _Node:
    """Return what stands at one step of a path; what is given where nothing does."""
    if isinstance(holder, dict) and isinstance(step, str):
        if step not in holder:
            holder[step] = child
            return child
        found = holder[step]
    elif isinstance(holder, list) and isinstance(step, int) and step <= len(holder):
        if step == len(holder):
            holder.append(child)
            return child
        found = holder[step]
    else:
        raise _fault("a place lies in what has no such places")
    if is_last:
        raise _fault("a place has two values")
    return found


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1
    while at < len(path) and len(steps) <= _DEEPEST:
        found = _STEP.match(path, at)
        if found is None:
            break
        name, position, single, double = found.groups()
        steps.append(int(position) if position is not None else name or single or double or "")
        at = found.end()
    if not path.startswith("$") or at < len(path) or not steps or len(steps) > _DEEPEST:
        raise _fault("a piece has a path of another kind")
    return steps


def _text(piece: JsonObject) -> str:
    value = piece["stringValue"]
    if not isinstance(value, str):
        raise _fault("a text is none")
    return value


def _scalar(kind: str, piece: JsonObject, spelled: bytes) -> bytes:
    value = piece[kind]
    if kind == "nullValue":
        return b"null"
    wanted = (bool,) if kind == "boolValue" else (int, float, Decimal)
    if not isinstance(value, wanted) or (kind == "numberValue" and isinstance(value, bool)):
        raise _fault("a value is of another type than its piece says")
    return raw_value(spelled, [kind])


def _spelled(node: _Node) -> bytes:
    match node:
        case dict():
            return b"{%s}" % b",".join(_quoted(key) + b":" + _spelled(child) for key, child in node.items())
        case list():
            return b"[%s]" % b",".join(map(_spelled, node))
        case _Text():
            return _quoted("".join(node.pieces))
        case _:
            return node


def _quoted(text: str) -> bytes:
    # A character may come as two halves in two pieces; a half alone stays what it is and is no UTF-8.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return json.dumps(joined, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _fault(message: str) -> WireFaultError:
    return WireFaultError("partial_args", f"arguments that came in pieces cannot be joined: {message}")


__all__ = ["ArgumentPieces"]
