"""Build the tree of what is shown from events and from the open string's tail."""

from __future__ import annotations

from collections.abc import Iterable

from commitgate.json_value import JsonScalar
from commitgate.preview.atomic import Places
from commitgate.preview.events import Event
from commitgate.preview.tree import Container, Node, Text


class _Frame:
    """Keep what is needed while one container is open."""

    __slots__ = ("container", "name", "names", "places")

    def __init__(self, container: Container, places: Places | None) -> None:
        self.container = container
        self.places = places
        self.name: str | None = None
        self.names: set[str] = set()


class TreeBuilder:
    """Append to the tree. Every call takes the stamp of the chunk that it works for.

    Args:
        places: says which strings are held until they are closed; None where none is.

    Attributes:
        document: holds the root value, once there is one, as its only item.
    """

    __slots__ = ("_frames", "_places", "_text", "document")

    def __init__(self, places: Places | None) -> None:
        self.document = Container(is_object=False)
        self._places = places
        self._frames: list[_Frame] = []
        self._text: Text | None = None

    def extend_text(self, piece: str, stamp: int) -> None:
        """Add to the string that is being streamed."""
        if self._text is not None:
            self._text.append(piece, stamp)

    def open_text(self, piece: str, stamp: int) -> bool:
        """Begin to stream a string value; return False, and show nothing, where it has to be held until closed."""
        places = self._places_of_next()
        if places is not None and places.is_atomic:
            return False
        self._text = Text()
        self._text.append(piece, stamp)
        self._attach(self._text, stamp)
        return True

    def apply(self, events: Iterable[Event], stamp: int) -> int | None:
        """Take events in, up to a key that its object has already.

        Returns:
            How many keys stand before that key among the events, or None where there is no such key.
        """
        keys = 0
        for name, value in events:
            match name:
                case "map_key":
                    if not self._take_key(str(value)):
                        return keys
                    keys += 1
                case "start_map" | "start_array":
                    self._nest(stamp, is_object=name == "start_map")
                case "end_map" | "end_array":
                    self._frames.pop().container.closed_at = stamp
                case _:
                    self._take_scalar(value, stamp)
        return None

    def _take_key(self, name: str) -> bool:
        frame = self._frames[-1]
        if name in frame.names:
            return False
        frame.names.add(name)
        frame.name = name
        return True

    def _take_scalar(self, value: JsonScalar, stamp: int) -> None:
        if self._text is None:
            self._attach(value, stamp)
        else:
            # The string that was streamed has ended; the event's own text is the empty one that stands for it.
            self._text.closed_at = stamp
            self._text = None

    def _nest(self, stamp: int, *, is_object: bool) -> None:
        places = self._places_of_next()
        container = Container(is_object=is_object)
        self._attach(container, stamp)
        self._frames.append(_Frame(container, places))

    def _attach(self, node: Node, stamp: int) -> None:
        if self._frames:
            frame = self._frames[-1]
            frame.container.append(node, stamp, frame.name)
        else:
            self.document.append(node, stamp)

    def _places_of_next(self) -> Places | None:
        if not self._frames:
            return self._places
        frame = self._frames[-1]
        if frame.places is None:
            return None
        if frame.name is not None:
            return frame.places.of_member(frame.name)
        return frame.places.of_item(len(frame.container))


__all__ = ["TreeBuilder"]
