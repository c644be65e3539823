"""Hold the term of a few bytes, each with a continuation of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term


class Branching(Term):
    """Denote one byte out of a few, each followed by a term of its own; all are found at once, when first asked for."""

    __slots__ = ("_after",)

    def __init__(self, arena: Arena, *, nullable: bool) -> None:
        super().__init__(arena, nullable=nullable)
        self._after: dict[int, Term] = {}

    @abstractmethod
    def _following(self) -> Iterator[tuple[int, Term]]:
        """Yield each byte that the grammar allows next with the term after it, which may be empty."""

    @property
    def comes_apart(self) -> bool:
        return True

    def _partition(self) -> Partition:
        empty = self.arena.empty
        self._after = {byte: term for byte, term in self._following() if term is not empty}
        return Partition.of({byte: id(term) for byte, term in self._after.items()})

    def _derive(self, byte: int) -> Term:
        return self._after[byte]


__all__ = ["Branching"]
