"""Draw a growing object for a terminal: what is final and what is still open look different, in colour and without.

Every string passes through ``harmless`` and ends up in a ``rich.text.Text``; none is ever read as markup.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from rich.text import Text

from commitgate.harmless import harmless
from commitgate.json_value import JsonValue
from commitgate.pointer import child

FINAL_STYLE = "green"
OPEN_STYLE = "italic yellow"
KEY_STYLE = "bold"
OPEN_MARK = "…"
_BAR_CELLS = 10
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class _Place:
    """Say where a value stands: its pointer, what stands before and after it on its line, and if it is final."""

    pointer: str
    head: Text
    tail: str
    depth: int
    is_final: bool


def draw_value(value: JsonValue, final_paths: Collection[str]) -> list[Text]:
    """Return the lines of a value.

    Args:
        value: what has been read so far.
        final_paths: JSON pointers of the parts that will not change; a part below such a pointer is final too.
    """
    is_final = "" in final_paths
    return list(_lines(value, _Place("", Text(), "", 0, is_final), final_paths))


def draw_bar(share: float | None) -> Text:
    """Return a share in [0, 1] as a small bar with its number; None where it is not known."""
    if share is None:
        return Text("legal mass " + "·" * _BAR_CELLS, style="dim")
    full = max(0, min(_BAR_CELLS, round(share * _BAR_CELLS)))
    style = "green" if share >= 0.5 else "yellow" if share >= 0.1 else "red"
    return Text.assemble(
        ("legal mass ", "dim"), ("█" * full, style), ("░" * (_BAR_CELLS - full), "dim"), (f" {share:.2f}", style)
    )


def draw_stage(stage: str, part: float) -> Text:
    """Return what is being done before there is text, with the part that is done, in [0, 1]."""
    full = max(0, min(_BAR_CELLS, round(part * _BAR_CELLS)))
    return Text("█" * full + "░" * (_BAR_CELLS - full) + f" {harmless(stage)}", style="dim")


def _lines(value: JsonValue, place: _Place, final_paths: Collection[str]) -> Iterator[Text]:
    style = FINAL_STYLE if place.is_final else OPEN_STYLE
    if not isinstance(value, (dict, list)) or not value:
        yield Text.assemble(place.head, (_leaf(value, is_final=place.is_final), style), place.tail)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield Text.assemble(place.head, (opening, style))
    entries = list(value.items()) if isinstance(value, dict) else [(str(i), item) for i, item in enumerate(value)]
    for number, (key, item) in enumerate(entries):
        pointer = child(place.pointer, key)
        head = Text(_INDENT * (place.depth + 1))
        if isinstance(value, dict):
            head.append(_quoted(key), KEY_STYLE).append(": ")
        tail = "," if number + 1 < len(entries) else ""
        is_final = place.is_final or pointer in final_paths
        yield from _lines(item, _Place(pointer, head, tail, place.depth + 1, is_final), final_paths)
    yield Text.assemble(_INDENT * place.depth, (closing if place.is_final else OPEN_MARK, style), place.tail)


def _leaf(value: JsonValue, *, is_final: bool) -> str:
    if isinstance(value, str):
        text = _quoted(value)
        return text if is_final else text[:-1] + OPEN_MARK
    text = str(value) if isinstance(value, (dict, list, Decimal)) else json.dumps(value)
    return text if is_final else text + OPEN_MARK


def _quoted(text: str) -> str:
    return harmless(json.dumps(text, ensure_ascii=False))


__all__ = ["FINAL_STYLE", "OPEN_MARK", "OPEN_STYLE", "draw_bar", "draw_stage", "draw_value"]
