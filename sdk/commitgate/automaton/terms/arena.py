"""Make terms, each once, within bounds of memory and work."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from commitgate.automaton.partition import Partition
from commitgate.automaton.terms.compound import Choice, Located, Sequence
from commitgate.automaton.terms.literal import Empty, Epsilon, Literal, LiteralSet, Run
from commitgate.automaton.terms.term import Term
from commitgate.errors import LimitExceededError

TermT = TypeVar("TermT", bound="Term")

_ALTERNATIVES_OF_A_STATE = 4
"""Alternatives that count as one state more: they take about as much memory."""

_LOOKS_OF_A_PRODUCT = 32
"""Looks at alternatives that take about as long as refining two partitions."""

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
        self._saturated: dict[int, dict[Term, Term]] = {}
        self._partitions: dict[bytes, Partition] = {}
        self._products: dict[tuple[Partition, Partition], Partition] = {}
        self._singles: dict[Partition, Partition] = {}
        self._texts: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
        self._max_states = max_states
        self._max_alternatives = max_alternatives
        self._max_step_work = max_step_work
        self._allowed_work: int | None = None
        self._alternatives = 0
        self.empty: Term = Empty(self)
        self.epsilon: Term = Epsilon(self)

    def __len__(self) -> int:
        """Return the number of terms made, one with many alternatives counted as ``Arena`` says."""
        return len(self._terms) + self._alternatives // _ALTERNATIVES_OF_A_STATE

    def intern(self, key: Hashable, make: Callable[[], TermT]) -> TermT:
        """Return the term of this key, made on first use.

        Keys are best made of numbers, texts and ids alone: the garbage collector then need not look at them again,
        and there are as many as there are terms.
        """
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

    def saturated(self, term: Term, reach: int, work_out: Callable[[int], Term]) -> Term:
        """Return what a term is saturated to, worked out once: terms share parts, and each would be gone through again.

        Args:
            term: a term of this arena.
            reach: see ``Term.saturated``.
            work_out: finds it, given the reach.
        """
        known = self._saturated.setdefault(reach, {})
        found = known.get(term)
        if found is None:
            self.spend(1)
            found = known[term] = work_out(reach)
        return found

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
        key = ("literal", data, offset)
        return self._terms.get(key) or self.intern(key, lambda: Literal(self, data, offset))

    def literal_set(self, texts: tuple[bytes, ...]) -> Term:
        """Return the term of any one of ``texts``; they must be sorted and distinct."""
        return self.literal_range(self._texts.setdefault(texts, texts), 0, len(texts), 0)

    def literal_range(self, texts: tuple[bytes, ...], low: int, high: int, offset: int) -> Term:
        """Return the term of any one of ``texts[low:high]``, each without its first ``offset`` bytes."""
        if low == high:
            return self.empty
        if high - low == 1:
            return self.literal(texts[low], offset)
        key = ("literal set", id(texts), low, high, offset)
        return self.intern(key, lambda: LiteralSet(self, texts, low, high, offset))

    def run(self, members: int, least: int = 0, most: int | None = None) -> Term:
        """Return the term of ``least`` to ``most`` bytes of the set ``members`` (bit n stands for byte n)."""
        if most == 0:
            return self.epsilon
        return self.intern(("run", members, least, most), lambda: Run(self, members, least, most))

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
        key = ("sequence", id(head), id(rest))
        return self._terms.get(key) or self.intern(key, lambda: Sequence(self, head, rest))

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
        key = ("located", id(inner), place)
        return self._terms.get(key) or self.intern(key, lambda: Located(self, inner, place))

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


__all__ = ["Arena"]
