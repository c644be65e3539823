"""Hand out the items of one array, each once it is finished and only once.

A cursor reads the text behind the previews on its own, from where it read last: it keeps no item that it handed out,
and neither does it make the values beside the array.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from commitgate.argument import check_pointer
from commitgate.errors import MisuseError
from commitgate.json_value import JsonScalar, JsonValue
from commitgate.pointer import child, tokens_of
from commitgate.preview.document import Document
from commitgate.preview.events import Event, EventSource
from commitgate.preview.preview import Preview
from commitgate.preview.text_growth import TextMoment
from commitgate.preview.values import ValueBuilder


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Hold one finished item of an array. Like a preview it is for display, and proves nothing.

    Attributes:
        index: its place in the array, from 0.
        pointer: its JSON pointer in the whole value.
        value: what it is, read-only like a preview's value; it can not change any more.
    """

    index: int
    pointer: str
    value: JsonValue = field(repr=False)


class ItemCursor:
    """Take the finished items of one array out of the previews of one text.

    Args:
        pointer: JSON pointer (RFC 6901) of the array; ``""`` is the root.

    Raises:
        MisuseError: the pointer is no JSON pointer.
    """

    __slots__ = ("_document", "_events", "_position", "_search")

    def __init__(self, pointer: str = "") -> None:
        check_pointer("pointer", pointer)
        self._document: Document | None = None
        self._position = 0
        self._search = _Search(pointer)
        self._events = EventSource(self._search)

    def take(self, preview: Preview) -> list[Item]:
        """Return the items that were finished since the last call, in their order.

        While the array is not there yet there are none; nor where it never comes, or where null stands in its place.
        Calls may skip previews. An older preview than the last has nothing new.

        Raises:
            MisuseError: in the array's place stands something else, the text is no JSON, or the preview belongs to
                another text than the ones before (an attempt was dropped: begin with a new cursor). Raised again by
                each later call.
        """
        moment, search = preview.moment, self._search
        if isinstance(moment, TextMoment):
            raise MisuseError(f"pointer {search.pointer!r} must name an array, found a text that is no JSON")
        if self._document is None:
            self._document = moment.document
        if self._document is not moment.document:
            raise MisuseError("this preview belongs to another text: make a new ItemCursor for each")
        if not search.is_over and moment.tokens_to > self._position:
            start, self._position = self._position, moment.tokens_to
            self._events.feed(bytes(moment.document.text[start : self._position]))
        found, search.found = search.found, []
        if search.other_kind:
            raise MisuseError(f"pointer {search.pointer!r} must name an array, found {search.other_kind}")
        return found


class _Search:
    """Follow a pointer through events to an array, and build its items.

    Attributes:
        found: items, for whoever takes them.
        is_over: nothing more can be found.
        pointer: the array's place.
        other_kind: what stands in the array's place, where that is no array.
    """

    __slots__ = (
        "_builder",
        "_count",
        "_is_inside",
        "_path",
        "_skipped",
        "_tokens",
        "found",
        "is_over",
        "other_kind",
        "pointer",
    )

    def __init__(self, pointer: str) -> None:
        self.pointer = pointer
        self.found: list[Item] = []
        self.is_over = False
        self.other_kind = ""
        self._tokens = tokens_of(pointer)
        # The open containers on the way: the key, or how many items came before.
        self._path: list[str | int] = []
        self._skipped = 0
        self._is_inside = False
        self._builder = ValueBuilder()
        self._count = 0

    def send(self, event: Event) -> None:
        """Take one event in."""
        name, value = event
        if self.is_over:
            return
        if self._skipped:
            self._skipped += _nesting(name)
        elif self._is_inside:
            self._build(event)
        elif name == "map_key":
            self._path[-1] = str(value)
        elif name in ("end_map", "end_array"):
            # Keys are unique, so what was not found inside comes nowhere else.
            self.is_over = True
        else:
            self._visit(name, value)

    def _build(self, event: Event) -> None:
        name, _ = event
        if name == "end_array" and not self._builder.depth:
            self.is_over = True
            return
        self._builder.send(event)
        if not self._builder.depth:
            pointer = child(self.pointer, self._count)
            self.found.append(Item(index=self._count, pointer=pointer, value=self._builder.take_root()))
            self._count += 1

    def _visit(self, name: str, value: JsonScalar) -> None:
        """Go into a value, pass it, or find that it is where the pointer ends."""
        if not self._leads_on():
            self._skipped = _nesting(name)
        elif len(self._path) < len(self._tokens):
            self.is_over = not _nesting(name)
            self._path.append("" if name == "start_map" else -1)
        elif name == "start_array":
            self._is_inside = True
        else:
            self.is_over = True
            self.other_kind = _kind(name, value)

    def _leads_on(self) -> bool:
        """Return whether the value that comes is on the way; counts it, in an array."""
        if not self._path:
            return True
        step = self._path[-1]
        if isinstance(step, int):
            step = self._path[-1] = step + 1
        return self._tokens[len(self._path) - 1] == str(step)


def _nesting(name: str) -> int:
    return (name in ("start_map", "start_array")) - (name in ("end_map", "end_array"))


def _kind(name: str, value: JsonScalar) -> str:
    """Return a word for what an event begins; an empty one for null, which many schemas allow in an array's place."""
    if name == "start_map":
        return "an object"
    if isinstance(value, bool):
        return "a boolean"
    return {"string": "a string", "null": ""}.get(name, "a number")


__all__ = ["Item", "ItemCursor"]
