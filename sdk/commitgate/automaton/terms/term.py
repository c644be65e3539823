"""Take derivatives of one term: what remains of a language after a byte, by classes of bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from commitgate.automaton.partition import Partition

if TYPE_CHECKING:
    from commitgate.automaton.terms.arena import Arena


class Term(ABC):
    """Denote a set of byte strings. Made by an arena alone; compare by identity.

    Attributes:
        arena: where it was made.
        nullable: the empty text belongs to it.
        is_transient: it belongs to one text alone, so neither it nor its derivatives are kept.
        beginning: equal for terms that ``joined`` can join, in one arena; None for a term that is never joined.
    """

    __slots__ = ("_class_of", "_classes", "_met", "_next", "arena", "beginning", "is_transient", "nullable")

    derives_any_byte: ClassVar[bool] = False
    """``_derive`` takes dead bytes too, and costs less than a partition."""

    may_fuse: ClassVar[bool] = False
    """``followed_by``, ``preceded_by`` or ``or_empty`` may find one term for two."""

    def __init__(self, arena: Arena, *, nullable: bool, is_transient: bool = False) -> None:
        self.arena = arena
        self.nullable = nullable
        self.is_transient = is_transient
        self._classes: Partition | None = None
        self._class_of: bytes = b""
        self._next: list[Term | None] | None = None
        self._met: tuple[int, Term] | None = None
        self.beginning: Hashable | None = None

    def step(self, byte: int) -> Term:
        """Return what may follow ``byte``; the empty term where nothing may."""
        successors = self._next
        if successors is None:
            first = self._met
            if first is not None:
                if first[0] == byte:
                    return first[1]
            elif self.derives_any_byte or self.is_transient:
                return self._step_first(byte)
            successors = self._prepare()
        number = self._class_of[byte]
        found = successors[number]
        if found is None:
            found = successors[number] = self._derive(byte)
        return found

    def _step_first(self, byte: int) -> Term:
        """Return what may follow, without a partition; a term that is kept remembers this one byte."""
        found = self._derive(byte)
        if not self.is_transient:
            self._met = (byte, found)
        return found

    def preceded_by(self, head: Term) -> Term | None:
        """Return one term for ``head`` and this one behind it, where both together are one of this kind."""
        del head
        return None

    def or_empty(self) -> Term | None:
        """Return the term for this one or the empty text, where it is one of this kind."""
        return None

    def followed_by(self, rest: Term) -> Term | None:
        """Return one term for this one and ``rest`` behind it, where both together are one of this kind."""
        del rest
        return None

    @property
    def least_bytes(self) -> int:
        """Return a lower bound of the size of every text of the term."""
        return 0 if self.nullable else 1

    def joined(self, terms: Sequence[Term], depth: int) -> Term:
        """Return the union of terms of this one's kind and beginning, this one among them.

        Args:
            terms: the terms.
            depth: as in ``Arena.choice``.
        """
        del depth
        return self.arena.disjoined(tuple(terms))

    def walk(self, data: bytes) -> Term:
        """Return what may follow all of ``data``."""
        term = self
        for byte in data:
            # What ``step`` does first, without the call: most texts go where texts went before.
            successors = term._next
            following = None if successors is None else successors[term._class_of[byte]]
            term = term.step(byte) if following is None else following
        return term

    @property
    def partition(self) -> Partition:
        """Return the byte classes of this term."""
        found = self._classes
        if found is None:
            found = self._classes = self.arena.partition(self._partition())
        return found

    @property
    def has_partition(self) -> bool:
        """Return whether the byte classes were worked out already."""
        return self._classes is not None

    def successors(self) -> Iterator[tuple[bytes, Term]]:
        """Yield each set of bytes with the live term that follows any of them."""
        partition = self.partition
        for number in range(1, partition.count):
            following = self.step(partition.representatives[number])
            if following is not self.arena.empty:
                members = bytes(byte for byte in range(256) if partition.class_of[byte] == number)
                yield members, following

    def saturated(self, reach: int) -> Term:
        """Return a term, shared by many, that agrees with this one on all texts' first ``reach`` bytes.

        Agreement means: for every text of at most ``reach`` bytes, both are dead after it or neither is, and both are
        nullable after it or neither is. Counters too large to matter are dropped, so that states which no single
        token can tell apart are one.
        """
        del reach
        return self

    @property
    def comes_apart(self) -> bool:
        """Return whether walking many texts by its parts costs little: few of them are read in several ways."""
        return False

    @property
    def shared_key(self) -> Hashable | None:
        """Return a key that is equal for the same language in any arena, or None where sharing does not pay.

        Terms that have one are self-contained leaves whose walk over a vocabulary is long (the inside of a string).
        """
        return None

    def describe(self) -> str:
        """Say in words what may come next."""
        return "more text"

    def ways_on(self) -> Iterator[str]:
        """Yield the words for each way on but the end of the text; the same words may come again."""
        yield self.describe()

    @property
    def place(self) -> str | None:
        """Return the JSON pointer, in the schema, of what may come next; None where the term does not know it."""
        return None

    def _prepare(self) -> list[Term | None]:
        partition = self.partition
        self._class_of = partition.class_of
        successors: list[Term | None] = [None] * partition.count
        successors[0] = self.arena.empty
        if self._met is not None:
            byte, following = self._met
            successors[partition.class_of[byte]] = following
        self._next = successors
        return successors

    @abstractmethod
    def _partition(self) -> Partition:
        """Return byte classes such that bytes of one class have the same derivative, and class 0 is dead."""

    @abstractmethod
    def _derive(self, byte: int) -> Term:
        """Return the derivative by a byte of a class other than 0; by any where ``derives_any_byte``, or transient."""


__all__ = ["Term"]
