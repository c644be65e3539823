"""Hold the terms that automata are made of: a state is the language that remains.

A term denotes a set of byte strings. ``step(byte)`` gives its Brzozowski derivative: what may follow that byte.
``nullable`` says that the text may end here (the accept state). ``Arena.empty`` is the language without any text
(the dead state); constructors remove empty parts, so every other term can be finished.

Terms are hash-consed: one arena makes equal terms once, so identity is equality and derivatives are memoised on the
term. Derivatives are taken once per *byte class*, not per byte: a term's ``Partition`` maps each byte to a class, and
class 0 is dead. Walking a text is then two table look-ups a byte. A term that has met one byte alone, as most have
when a text is read for the first time, needs no partition.

Alternatives that begin alike are kept as one beginning and the alternatives behind it, so that a text which takes long
to tell them apart is not walked once for each.

An arena may be used from several threads: its tables only grow, by single atomic operations, and two threads that
race derive the same term.

Source: Brzozowski, "Derivatives of Regular Expressions", 1964; Owens, Reppy and Turon, "Regular-expression
derivatives re-examined", 2009 (byte classes, hash-consing).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import abc
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import ClassVar, TypeVar

from commitgate.automaton.partition import Partition
from commitgate.errors import LimitExceededError

TermT = TypeVar("TermT", bound="Term")

_ALTERNATIVES_OF_A_STATE = 4
"""Alternatives that count as one state more: they take about as much memory."""

_LOOKS_OF_A_PRODUCT = 32
"""Looks at alternatives that take about as long as refining two partitions."""

_SHOWN_ALTERNATIVES = 8
"""How many ways on are named in words."""

_SHOWN_TEXTS = 5
"""How many of several texts are named in words."""

_JOINED_DEPTH = 16
"""How deep alternatives are joined at once; deeper ones are joined when a text reaches them. It bounds recursion."""


class Arena:
    """Make terms, each once.

    Args:
        max_states: most terms to make; one more raises ``LimitExceededError``. A term with many alternatives counts
            once for every 4 of them, so that the bound holds for memory too.
        max_alternatives: most alternatives of one term; one more raises ``LimitExceededError``.
        max_step_work: most alternatives to look at in one step; see ``begin_step``.

    Attributes:
        work: alternatives looked at so far; it grows with the time that derivatives take.
    """

    def __init__(
        self, *, max_states: int = 1_000_000, max_alternatives: int = 10_000, max_step_work: int = 4_000_000
    ) -> None:
        self.work = 0
        self._terms: dict[Hashable, Term] = {}
        self._partitions: dict[bytes, Partition] = {}
        self._products: dict[tuple[Partition, Partition], Partition] = {}
        self._singles: dict[Partition, Partition] = {}
        self._texts: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
        self._max_states = max_states
        self._max_alternatives = max_alternatives
        self._max_step_work = max_step_work
        self._allowed_work: int | None = None
        self._alternatives = 0
        self.empty: Term = _Empty(self)
        self.epsilon: Term = _Epsilon(self)

    def __len__(self) -> int:
        """Return the number of terms made, one with many alternatives counted as ``Arena`` says."""
        return len(self._terms) + self._alternatives // _ALTERNATIVES_OF_A_STATE

    def intern(self, key: Hashable, make: Callable[[], TermT]) -> TermT:
        """Return the term of this key, made on first use."""
        found = self._terms.get(key)
        if found is None:
            if len(self._terms) + self._alternatives // _ALTERNATIVES_OF_A_STATE >= self._max_states:
                raise LimitExceededError(
                    f"the contract needs more than {self._max_states} automaton states; make it smaller or raise "
                    "Limits.states",
                    limit_name="states",
                    limit=self._max_states,
                    found=self._max_states + 1,
                )
            found = self._terms.setdefault(key, make())
        return found  # pyright: ignore[reportReturnType] - a key names its term's kind

    def partition(self, partition: Partition) -> Partition:
        """Return the arena's own copy of an equal partition."""
        return self._partitions.setdefault(partition.class_of, partition)

    def product(self, first: Partition, second: Partition) -> Partition:
        """Return the coarsest partition that both refine to."""
        found = self._products.get((first, second))
        if found is None:
            self.spend(_LOOKS_OF_A_PRODUCT)
            pairs = list(zip(first.class_of, second.class_of, strict=True))
            numbers = {pair: number for number, pair in enumerate(dict.fromkeys(((0, 0), *pairs)))}
            found = self.partition(Partition(bytes(map(numbers.__getitem__, pairs))))
            self._products[first, second] = found
        return found

    def single_bytes(self, partition: Partition) -> Partition:
        """Return the partition with the same dead bytes in which every other byte is a class of its own."""
        found = self._singles.get(partition)
        if found is None:
            live = [byte for byte in range(256) if partition.class_of[byte]]
            found = self._singles[partition] = self.partition(Partition.of({byte: byte for byte in live}))
        return found

    def literal(self, data: bytes, offset: int = 0) -> Term:
        """Return the term of exactly ``data[offset:]``."""
        if offset == len(data):
            return self.epsilon
        return self.intern((Literal, data, offset), lambda: Literal(self, data, offset))

    def literal_set(self, texts: tuple[bytes, ...]) -> Term:
        """Return the term of any one of ``texts``; they must be sorted and distinct."""
        return self.literal_range(self._texts.setdefault(texts, texts), 0, len(texts), 0)

    def literal_range(self, texts: tuple[bytes, ...], low: int, high: int, offset: int) -> Term:
        """Return the term of any one of ``texts[low:high]``, each without its first ``offset`` bytes."""
        if low == high:
            return self.empty
        if high - low == 1:
            return self.literal(texts[low], offset)
        key = (LiteralSet, id(texts), low, high, offset)
        return self.intern(key, lambda: LiteralSet(self, texts, low, high, offset))

    def run(self, members: int, least: int = 0, most: int | None = None) -> Term:
        """Return the term of ``least`` to ``most`` bytes of the set ``members`` (bit n stands for byte n)."""
        if most == 0:
            return self.epsilon
        return self.intern((Run, members, least, most), lambda: Run(self, members, least, most))

    def sequence(self, head: Term, rest: Term) -> Term:
        """Return the term of a text of ``head`` followed by one of ``rest``."""
        if head is self.empty or rest is self.empty:
            return self.empty
        if head is self.epsilon:
            return rest
        if rest is self.epsilon:
            return head
        if rest.may_fuse and (fused := rest.preceded_by(head)) is not None:
            return fused
        if type(head) is Sequence:
            return self._behind(head, rest)
        if head.may_fuse and (fused := head.followed_by(rest)) is not None:
            return fused
        if head.is_transient or rest.is_transient:
            return Sequence(self, head, rest)
        return self.intern((Sequence, id(head), id(rest)), lambda: Sequence(self, head, rest))

    def _behind(self, spine: Sequence, rest: Term) -> Term:
        """Return a sequence with ``rest`` behind it; a loop, since sequences may be long."""
        heads: list[Term] = []
        term: Term = spine
        while type(term) is Sequence:
            heads.append(term.head)
            term = term.rest
        return self.chain(*heads, term, rest)

    def chain(self, *parts: Term) -> Term:
        """Return the sequence of all parts."""
        result = self.epsilon
        for part in reversed(parts):
            result = self.sequence(part, result)
        return result

    def located(self, inner: Term, place: str) -> Term:
        """Return ``inner`` with the JSON pointer of the schema that it comes from."""
        if inner is self.empty or inner is self.epsilon:
            return inner
        return self.intern((Located, id(inner), place), lambda: Located(self, inner, place))

    def choice(self, options: Iterable[Term], *, is_transient: bool = False, depth: int = 0) -> Term:
        """Return the union of all options; those that begin alike are joined behind their common beginning.

        Args:
            options: the terms.
            is_transient: the union belongs to one text alone, even if some options are kept.
            depth: unions around this one that are being made.
        """
        flat: dict[int, Term] = {}
        for option in options:
            if type(option) is Choice:
                for member in option.options:
                    flat[id(member)] = member
            elif option is not self.empty:
                flat[id(option)] = option
        self.spend(len(flat))
        if len(flat) > 1:
            if depth < _JOINED_DEPTH:
                flat = self._joined(flat, depth + 1)
            flat = self._without_epsilon(flat)
        if not flat:
            return self.empty
        members = tuple(flat.values())
        if len(members) == 1:
            return members[0]
        if len(members) > self._max_alternatives:
            raise self._too_many_alternatives(len(members))
        if is_transient or all(member.is_transient for member in members):
            return Choice(self, members, is_transient=True)
        # One that is kept bounds how many there are: texts that go on as a declared key are few.
        return self.intern((Choice, frozenset(flat)), lambda: self._new_choice(members))

    def disjoined(self, members: tuple[Term, ...]) -> Term:
        """Return the union of two or more terms of one beginning that cannot be joined."""
        return self.intern((Choice, frozenset(map(id, members))), lambda: self._new_choice(members))

    def _new_choice(self, members: tuple[Term, ...]) -> Choice:
        self._alternatives += len(members)
        return Choice(self, members)

    def _without_epsilon(self, options: dict[int, Term]) -> dict[int, Term]:
        """Return the same options without the empty text, where another one may be empty, or can be made so."""
        if id(self.epsilon) not in options:
            return options
        others = [option for option in options.values() if option is not self.epsilon]
        if any(option.nullable for option in others):
            return {id(option): option for option in others}
        for index, option in enumerate(others):
            if option.may_fuse and (fused := option.or_empty()) is not None:
                others[index] = fused
                return {id(option): option for option in others}
        return options

    def begin_step(self) -> None:
        """Begin the work of one step: reading a piece of text, or working out which tokens may follow a state.

        Looking at more alternatives than a step may raises ``LimitExceededError``. Threads that share an arena
        share what they are allowed, which no call makes less; the limit is far beyond what a step takes.
        """
        allowed = self.work + self._max_step_work
        self._allowed_work = allowed if self._allowed_work is None else max(self._allowed_work, allowed)

    def keep(self, entries: int) -> None:
        """Count entries of tables that live as long as the arena; they take the memory of as many alternatives."""
        self._alternatives += entries

    def spend(self, looks: int) -> None:
        """Count looks at alternatives.

        Raises:
            LimitExceededError: the step that began last has taken more than ``max_step_work``.
        """
        self.work += looks
        if self._allowed_work is not None and self.work > self._allowed_work:
            raise self._refuse_work()

    def _refuse_work(self) -> LimitExceededError:
        return LimitExceededError(
            f"one step takes more than {self._max_step_work} looks at alternatives; make the contract less ambiguous "
            "or raise Limits.step_work",
            limit_name="step_work",
            limit=self._max_step_work,
            found=self._max_step_work + 1,
        )

    def _too_many_alternatives(self, found: int) -> LimitExceededError:
        return LimitExceededError(
            f"the text can go on in more than {self._max_alternatives} ways at once; make the contract less ambiguous "
            "or raise Limits.alternatives",
            limit_name="alternatives",
            limit=self._max_alternatives,
            found=found,
        )

    def _joined(self, options: dict[int, Term], depth: int) -> dict[int, Term]:
        """Return the same options, by their ids, with those that have one beginning joined."""
        groups: dict[Hashable, list[Term]] = {}
        for number, option in options.items():
            # A beginning may be the id of another option, so the option's own id must not look like one.
            groups.setdefault(-number if option.beginning is None else option.beginning, []).append(option)
        if len(groups) == len(options):
            return options
        joined = (group[0] if len(group) == 1 else group[0].joined(group, depth) for group in groups.values())
        return {id(option): option for option in joined}


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

    def joined(self, terms: abc.Sequence[Term], depth: int) -> Term:
        """Return the union of terms of this one's kind and beginning, this one among them.

        Args:
            terms: the terms.
            depth: as in ``Arena.choice``.
        """
        del depth
        return Choice(self.arena, tuple(terms), is_transient=all(term.is_transient for term in terms))

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


def _set_partition(members: int) -> Partition:
    return Partition(bytes(members >> byte & 1 for byte in range(256)))


def _one_of(ways: Iterable[str]) -> str:
    """Return the words for several ways on, each once."""
    words = list(dict.fromkeys(ways))
    shown = words[:_SHOWN_ALTERNATIVES]
    more = len(words) - len(shown)
    return " or ".join(shown) + (f" or {more} more" if more else "")


def _printable(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace"))


class _Empty(Term):
    """Denote no text at all: the dead state."""

    __slots__ = ()

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena, nullable=False)

    def describe(self) -> str:
        return "nothing: the text cannot be continued"

    def _partition(self) -> Partition:
        return Partition(bytes(256))

    def _derive(self, byte: int) -> Term:
        return self


class _Epsilon(Term):
    """Denote the empty text alone: nothing but the end can follow."""

    __slots__ = ()

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena, nullable=True)

    def describe(self) -> str:
        return "the end of the text"

    def ways_on(self) -> Iterator[str]:
        return iter(())

    def _partition(self) -> Partition:
        return Partition(bytes(256))

    def _derive(self, byte: int) -> Term:
        return self.arena.empty


class Literal(Term):
    """Denote exactly ``data[offset:]``."""

    __slots__ = ("data", "offset")

    derives_any_byte = True

    def __init__(self, arena: Arena, data: bytes, offset: int) -> None:
        super().__init__(arena, nullable=False)
        self.data = data
        self.offset = offset

    @property
    def least_bytes(self) -> int:
        return len(self.data) - self.offset

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        return _printable(self.data[self.offset :])

    def _partition(self) -> Partition:
        return Partition.of({self.data[self.offset]: True})

    def _derive(self, byte: int) -> Term:
        if byte != self.data[self.offset]:
            return self.arena.empty
        return self.arena.literal(self.data, self.offset + 1)


class LiteralSet(Term):
    """Denote one of ``texts[low:high]``, each without its first ``offset`` bytes, which all of them share.

    One term stands for a whole range of the sorted array, so a large enum costs one object and not a chain of nodes.
    """

    __slots__ = ("high", "low", "offset", "texts")

    derives_any_byte = True

    def __init__(self, arena: Arena, texts: tuple[bytes, ...], low: int, high: int, offset: int) -> None:
        super().__init__(arena, nullable=len(texts[low]) == offset)
        self.texts = texts
        self.low = low
        self.high = high
        self.offset = offset

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        first = self._first()
        shown = [_printable(text[self.offset :]) for text in self.texts[first : min(self.high, first + _SHOWN_TEXTS)]]
        if self.high - first == 1:
            return shown[0]
        more = self.high - first - len(shown)
        return "one of " + ", ".join(shown) + (f" and {more} more" if more else "")

    def _first(self) -> int:
        return self.low + 1 if self.nullable else self.low

    def _partition(self) -> Partition:
        found: dict[int, int] = {}
        at = self._first()
        while at < self.high:
            byte = self.texts[at][self.offset]
            found[byte] = byte
            at = self._end_of(byte, at)
        return Partition.of(found)

    def _end_of(self, byte: int, start: int) -> int:
        return bisect_left(self.texts, byte + 1, start, self.high, key=lambda text: text[self.offset])

    def _derive(self, byte: int) -> Term:
        start = bisect_left(self.texts, byte, self._first(), self.high, key=lambda text: text[self.offset])
        end = self._end_of(byte, start)
        return self.arena.literal_range(self.texts, start, end, self.offset + 1)


class Run(Term):
    """Denote ``least`` to ``most`` bytes out of a set; ``most`` None has no upper bound."""

    __slots__ = ("least", "members", "most")

    derives_any_byte = True

    def __init__(self, arena: Arena, members: int, least: int, most: int | None) -> None:
        super().__init__(arena, nullable=least == 0)
        self.members = members
        self.least = least
        self.most = most

    def saturated(self, reach: int) -> Term:
        least = min(self.least, reach + 1)
        most = None if self.most is None or self.most > reach else self.most
        return self.arena.run(self.members, least, most)

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        shown = bytes(byte for byte in range(256) if self.members >> byte & 1)
        names = {b"\t\n\r ": "white space", b"0123456789": "digits", b"123456789": "a digit from 1 to 9"}
        return names.get(shown) or f"bytes of {_printable(shown[:16])}"

    def _partition(self) -> Partition:
        return _set_partition(self.members)

    def _derive(self, byte: int) -> Term:
        if not self.members >> byte & 1:
            return self.arena.empty
        most = None if self.most is None else self.most - 1
        return self.arena.run(self.members, max(self.least - 1, 0), most)


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


__all__ = [
    "Arena",
    "Choice",
    "Literal",
    "LiteralSet",
    "Located",
    "Run",
    "Sequence",
    "Term",
]
