"""Hold terms whose continuation is known only when a text reaches it: recursion, and what depends on the text read."""

from __future__ import annotations

from abc import ABC, abstractmethod

from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term


class Deferred(Term):
    """Stand for a term that is built only when a text reaches it; so recursion costs nothing ahead of time."""

    __slots__ = ("_expansion",)

    def __init__(self, arena: Arena, *, nullable: bool) -> None:
        super().__init__(arena, nullable=nullable)
        self._expansion: Term | None = None

    @property
    def expansion(self) -> Term:
        """Return the term that this one stands for."""
        found = self._expansion
        if found is None:
            found = self._expansion = self._expand()
        return found

    @abstractmethod
    def _expand(self) -> Term:
        """Build the term; its ``nullable`` must be the one given to ``__init__``."""

    def describe(self) -> str:
        return self.expansion.describe()

    def _partition(self) -> Partition:
        return self.expansion.partition

    def _derive(self, byte: int) -> Term:
        return self.expansion.step(byte)


class Capture(Term):
    """Denote a text of ``head`` followed by what depends on that text, as an object's next keys on those seen.

    ``head`` must be a language in which no text is the beginning of another (a string with its closing quote).

    Attributes:
        head: what remains of the captured language.
        captured: bytes of it read so far.
        follow: gives the term that follows the whole captured text; the empty term where that text is forbidden.
    """

    __slots__ = ("captured", "follow", "head")

    def __init__(self, arena: Arena, head: Term, captured: bytes, follow: Follow) -> None:
        super().__init__(arena, nullable=False, is_transient=follow.is_transient)
        self.head = head
        self.captured = captured
        self.follow = follow

    @staticmethod
    def make(arena: Arena, head: Term, captured: bytes, follow: Follow) -> Term:
        """Return the capture, or what follows it where ``head`` is finished."""
        if head is arena.empty:
            return head
        if len(captured) > follow.longest_bytes:
            return arena.empty
        if head is arena.epsilon:
            return follow.after(arena, captured)
        if follow.is_transient:
            return Capture(arena, head, captured, follow)
        key = (Capture, id(head), captured, follow)
        return arena.intern(key, lambda: Capture(arena, head, captured, follow))

    def describe(self) -> str:
        return self.head.describe()

    @property
    def place(self) -> str | None:
        return self.follow.place

    def _partition(self) -> Partition:
        # Every byte that continues the head has its own derivative, because the captured text differs.
        inside = self.head.partition.class_of
        return Partition.of({byte: byte for byte, number in enumerate(inside) if number})

    def _derive(self, byte: int) -> Term:
        return Capture.make(self.arena, self.head.step(byte), self.captured + bytes((byte,)), self.follow)


class Follow(ABC):
    """Say what follows a captured text. Hashable, and equal where it says the same."""

    @property
    @abstractmethod
    def is_transient(self) -> bool:
        """Return whether the captured texts are too many to keep a term for each of their beginnings."""

    @property
    @abstractmethod
    def longest_bytes(self) -> int:
        """Return the size of the longest captured text, in bytes as it is spelled, its end included."""

    @property
    @abstractmethod
    def place(self) -> str | None:
        """Return the JSON pointer, in the schema, of the captured text."""

    @abstractmethod
    def after(self, arena: Arena, captured: bytes) -> Term:
        """Return the term that follows; the empty term where the captured text is forbidden."""


__all__ = ["Capture", "Deferred", "Follow"]
