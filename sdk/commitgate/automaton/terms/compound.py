"""Denote languages that are made of others: one behind another, any of several, one with its place in the schema."""

from __future__ import annotations

from collections import abc
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

from commitgate.automaton.terms.term import Term

if TYPE_CHECKING:
    from commitgate.automaton.partition import Partition
    from commitgate.automaton.terms.arena import Arena

_SHOWN_ALTERNATIVES = 8
"""How many ways on are named in words."""


class Located(Term):
    """Denote the same as ``inner``, and know the place in the schema that it comes from.

    Terms themselves know no place, so that equal parts of a schema share their states whatever place they stand at.
    """

    __slots__ = ("_place", "inner")

    derives_any_byte = True

    def __init__(self, arena: Arena, inner: Term, place: str) -> None:
        super().__init__(arena, nullable=inner.nullable)
        self.inner = inner
        self._place = place

    @property
    def comes_apart(self) -> bool:
        return self.inner.comes_apart

    @property
    def place(self) -> str | None:
        return self._place

    @property
    def shared_key(self) -> Hashable | None:
        return self.inner.shared_key

    def saturated(self, reach: int) -> Term:
        return self.inner.saturated(reach)

    def describe(self) -> str:
        return self.inner.describe()

    def ways_on(self) -> Iterator[str]:
        return self.inner.ways_on()

    def _partition(self) -> Partition:
        return self.inner.partition

    def _derive(self, byte: int) -> Term:
        return self.arena.located(self.inner.step(byte), self._place)


class Sequence(Term):
    """Denote a text of ``head`` followed by one of ``rest``. ``head`` is never itself a sequence."""

    __slots__ = ("head", "rest")

    derives_any_byte = True

    def __init__(self, arena: Arena, head: Term, rest: Term) -> None:
        is_transient = head.is_transient or rest.is_transient
        super().__init__(arena, nullable=head.nullable and rest.nullable, is_transient=is_transient)
        self.head = head
        self.rest = rest
        self.beginning = id(head)

    @property
    def comes_apart(self) -> bool:
        return self.head.comes_apart

    def joined(self, terms: abc.Sequence[Term], depth: int) -> Term:
        heads = [self.head]
        rests = [term.rest for term in terms if type(term) is Sequence]
        # A loop, since open arrays and objects that are alike would cost a recursion for each level.
        while (first := _common_head(rests)) is not None:
            heads.append(first)
            rests = [rest.rest for rest in rests if type(rest) is Sequence]
        return self.arena.chain(*heads, self.arena.choice(rests, depth=depth))

    def saturated(self, reach: int) -> Term:
        return self.arena.saturated(self, reach, self._saturated)

    def _saturated(self, reach: int) -> Term:
        # What no text of that size reaches is left out, so that a deep stack is the same as one a little less deep.
        parts: list[Term] = []
        term: Term = self
        size = 0
        is_same = True
        while type(term) is Sequence and size <= reach:
            head = term.head
            parts.append(head.saturated(reach))
            is_same = is_same and parts[-1] is head
            size += head.least_bytes
            term = term.rest
        if size <= reach:
            parts.append(term.saturated(reach))
            if is_same and parts[-1] is term:
                return self
        return self.arena.chain(*parts)

    def describe(self) -> str:
        return _one_of(self.ways_on())

    def ways_on(self) -> Iterator[str]:
        for head in self._openers():
            yield from head.ways_on()

    @property
    def place(self) -> str | None:
        term: Term = self
        while type(term) is Sequence:
            if term.head.place is not None:
                return term.head.place
            term = term.rest
        return term.place

    def _partition(self) -> Partition:
        result, *others = dict.fromkeys(head.partition for head in self._openers())
        for other in others:
            result = self.arena.product(result, other)
        return result

    def _openers(self) -> Iterator[Term]:
        """Yield each part that the text may go on with; a loop, since many parts in a row may be empty."""
        term: Term = self
        while type(term) is Sequence:
            yield term.head
            if not term.head.nullable:
                return
            term = term.rest
        yield term

    def _derive(self, byte: int) -> Term:
        if not self.head.nullable:
            return self._derive_head(byte)
        # A loop, since many heads in a row may be empty.
        options: list[Term] = []
        term: Term = self
        while type(term) is Sequence:
            options.append(term._derive_head(byte))
            if not term.head.nullable:
                return self.arena.choice(options)
            term = term.rest
        self.arena.spend(len(options))
        return self.arena.choice((*options, term.step(byte)))

    def _derive_head(self, byte: int) -> Term:
        following = self.head.step(byte)
        # The inside of a string leads to itself, and a transient sequence would be made anew for each byte.
        return self if following is self.head else self.arena.sequence(following, self.rest)


def _common_head(terms: list[Term]) -> Term | None:
    """Return the head of all terms, None where they have not the same."""
    first = terms[0]
    if type(first) is not Sequence:
        return None
    return first.head if all(type(term) is Sequence and term.head is first.head for term in terms) else None


class Choice(Term):
    """Denote the union of two or more terms."""

    __slots__ = ("options",)

    derives_any_byte = True

    def __init__(self, arena: Arena, options: tuple[Term, ...], *, is_transient: bool = False) -> None:
        super().__init__(arena, nullable=any(option.nullable for option in options), is_transient=is_transient)
        self.options = options

    @property
    def comes_apart(self) -> bool:
        return all(option.comes_apart for option in self.options)

    def saturated(self, reach: int) -> Term:
        return self.arena.saturated(self, reach, self._saturated)

    def _saturated(self, reach: int) -> Term:
        parts = [option.saturated(reach) for option in self.options]
        is_same = all(part is option for part, option in zip(parts, self.options, strict=True))
        return self if is_same else self.arena.choice(parts)

    def describe(self) -> str:
        return _one_of(self.ways_on())

    def ways_on(self) -> Iterator[str]:
        for option in self.options:
            yield from option.ways_on()

    @property
    def place(self) -> str | None:
        places = {option.place for option in self.options}
        return places.pop() if len(places) == 1 else None

    def _partition(self) -> Partition:
        result, *others = dict.fromkeys(option.partition for option in self.options)
        for other in others:
            result = self.arena.product(result, other)
        return result

    def _derive(self, byte: int) -> Term:
        self.arena.spend(len(self.options))
        return self.arena.choice(option.step(byte) for option in self.options)


def _one_of(ways: Iterable[str]) -> str:
    """Return the words for several ways on, each once."""
    words = list(dict.fromkeys(ways))
    shown = words[:_SHOWN_ALTERNATIVES]
    more = len(words) - len(shown)
    return " or ".join(shown) + (f" or {more} more" if more else "")


__all__ = ["Choice", "Located", "Sequence"]
