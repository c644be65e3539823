"""Hold terms whose continuation is known only when a text reaches it: recursion, and what depends on the text read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term


class Deferred(Term):
    """Stand for a term that is built only when a text reaches it; so recursion costs nothing ahead of time."""

    __slots__ = ("_expansion",)

    derives_any_byte = True

    def __init__(self, arena: Arena, *, nullable: bool, is_transient: bool = False) -> None:
        super().__init__(arena, nullable=nullable, is_transient=is_transient)
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

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        return self.expansion.describe()

    def ways_on(self) -> Iterator[str]:
        return self.expansion.ways_on()

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

    derives_any_byte = True

    def __init__(self, arena: Arena, head: Term, captured: bytes, follow: Follow) -> None:
        super().__init__(arena, nullable=False, is_transient=follow.is_transient)
        self.beginning = (id(head), captured, follow.is_transient, follow.longest_bytes)
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

    @property
    def comes_apart(self) -> bool:
        return True

    def joined(self, terms: Sequence[Term], depth: int) -> Term:
        del depth
        follows = [term.follow for term in terms if type(term) is Capture]
        return Capture.make(self.arena, self.head, self.captured, AnyFollow.of(follows))

    def describe(self) -> str:
        return self.head.describe()

    def ways_on(self) -> Iterator[str]:
        return self.head.ways_on()

    @property
    def place(self) -> str | None:
        return self.follow.place

    def _partition(self) -> Partition:
        # Every byte that continues the head has its own derivative, because the captured text differs.
        return self.arena.single_bytes(self.head.partition)

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

    @property
    def opening(self) -> bytes:
        """Return bytes that follow every captured text, none of which is forbidden; no bytes where it is not known."""
        return b""

    @abstractmethod
    def after(self, arena: Arena, captured: bytes) -> Term:
        """Return the term that follows; the empty term where the captured text is forbidden."""


class AnyFollow(Follow):
    """Say that any one of several may follow; all of them have bounds and transience in common."""

    __slots__ = ("_hash", "follows")

    def __init__(self, follows: tuple[Follow, ...]) -> None:
        self.follows = follows
        # Alternatives can be hundreds, and the hash is asked for at every byte.
        self._hash = hash(follows)

    @staticmethod
    def of(follows: Iterable[Follow]) -> Follow:
        """Return what says that any one of these may follow."""
        flat: dict[Follow, None] = {}
        for follow in follows:
            flat.update(dict.fromkeys(follow.follows if isinstance(follow, AnyFollow) else (follow,)))
        found = tuple(flat)
        return found[0] if len(found) == 1 else AnyFollow(found)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, AnyFollow) and self.follows == other.follows)

    @property
    def is_transient(self) -> bool:
        return self.follows[0].is_transient

    @property
    def longest_bytes(self) -> int:
        return self.follows[0].longest_bytes

    @property
    def place(self) -> str | None:
        places = {follow.place for follow in self.follows}
        return places.pop() if len(places) == 1 else None

    @property
    def opening(self) -> bytes:
        openings = {follow.opening for follow in self.follows}
        return openings.pop() if len(openings) == 1 else b""

    def after(self, arena: Arena, captured: bytes) -> Term:
        return arena.choice(follow.after(arena, captured) for follow in self.follows)


__all__ = ["AnyFollow", "Capture", "Deferred", "Follow"]
