"""Take one byte order mark off the beginning of a body. It says nothing in UTF-8, and some servers write it."""

from __future__ import annotations

from codecs import BOM_UTF8


class MarkRemover:
    """Take the mark off a body that arrives piece by piece."""

    __slots__ = ("_held", "is_past")

    def __init__(self) -> None:
        self._held = b""
        self.is_past = False
        """Whether there is a mark was decided; pieces need not come here any more."""

    def feed(self, data: bytes) -> bytes:
        """Return what of the body is certain to be no mark."""
        if self.is_past:
            return data
        head = self._held + data
        if len(head) < len(BOM_UTF8) and BOM_UTF8.startswith(head):
            self._held = head
            return b""
        self.is_past = True
        return head.removeprefix(BOM_UTF8)

    def finish(self) -> bytes:
        """Return what was held back: a body that ended within a mark."""
        self.is_past = True
        return self._held


__all__ = ["MarkRemover"]
