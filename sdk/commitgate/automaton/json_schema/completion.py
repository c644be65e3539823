"""Decide whether an array or an object can be finished, given which nodes can hold a value at all.

Both the emptiness of a schema and the liveness of a state while a text is read are asked here, so they agree.

Source: design, "The automaton" (emptiness with cardinality).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TypeAlias

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.nodes import Node, meet_nodes
from commitgate.automaton.json_schema.shapes import MAX_NAMED_KEYS, ArrayShape, KeyClass, ObjectShape, Property, Some
from commitgate.automaton.json_schema.text_sets import common_texts, few_texts, holds_text
from commitgate.automaton.text_language import ANY_TEXT

MAX_BRINGING = 8
"""Most keys that bring others along of which every choice is looked at."""

MAX_NEEDING = 300
"""Most keys that need others of which it is asked, for each state, whether those can still come with their number."""

MAX_STEPS = 5_000
"""Most items that are looked at one by one where several ``contains`` meet; past that no dead end is looked for."""

Fits: TypeAlias = "Callable[[Node], bool]"
"""Says whether a node can hold a value."""


def next_counts(shape: ArrayShape, counts: tuple[int, ...], added: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the counts of ``contains`` after an item; None where one passes its upper bound.

    What no bound can tell apart any more is not counted on.
    """
    found: list[int] = []
    for counted, count, more in zip(shape.contains, counts, added, strict=True):
        total = count + more
        if counted.most is None:
            total = min(total, counted.least)
        elif total > counted.most:
            return None
        found.append(total)
    return tuple(found)


def has_enough(shape: ArrayShape, counts: tuple[int, ...]) -> bool:
    """Return whether every ``contains`` has its fewest items."""
    return all(count >= counted.least for counted, count in zip(shape.contains, counts, strict=True))


def _uniform_can_finish(shape: ArrayShape, index: int, count: int, options: list[tuple[int, ...]]) -> bool:
    """Return whether an array whose further items are all judged alike can be finished, ``count`` of them counted."""
    counted = shape.contains[0]
    missing = max(counted.least - count, 0)
    further = max(shape.least - index, missing)
    if shape.most is not None and index + further > shape.most:
        return False
    if further == 0:
        return True
    if (0,) in options:
        return missing == 0 or (1,) in options
    return (1,) in options and (counted.most is None or count + further <= counted.most)


def array_can_finish(shape: ArrayShape, fits: Fits, index: int = 0, counts: tuple[int, ...] | None = None) -> bool:
    """Return whether an array with ``index`` items read, and counted so, can still be finished."""
    states = {counts if counts is not None else (0,) * len(shape.contains)}
    while True:
        if index >= shape.least and any(has_enough(shape, each) for each in states):
            return True
        if shape.most is not None and index >= shape.most:
            return False
        options = [added for node, added in shape.options(index) if fits(node)]
        if index >= shape.uniform_from and len(shape.contains) == 1:
            return any(_uniform_can_finish(shape, index, count, options) for (count,) in states)
        if index > MAX_STEPS:
            return True
        following = {next_counts(shape, each, added) for each in states for added in options} - {None}
        if index >= shape.uniform_from and following == states:
            # Further items change nothing but the length, for which only the bounds of the shape matter.
            return any(has_enough(shape, each) for each in states)
        states = {each for each in following if each is not None}
        if not states:
            return False
        index += 1


@dataclass(frozen=True, slots=True)
class Way:
    """Say in which way a key can be judged.

    Attributes:
        node: what it must hold.
        found: bit n says that it is what the n-th ``some`` asks for.
    """

    node: Node
    found: int


def ways_of(some: tuple[Some, ...], entry: Property | KeyClass) -> Iterator[Way]:
    """Yield each way to judge a declared key, or an undeclared one of a class."""
    choices: list[tuple[tuple[Node, int], ...]] = []
    for number, asked in enumerate(some):
        if speaks_of(asked, entry):
            choices.append((((), 0), (asked.node, 1 << number)))
    for choice in product(*choices):
        node, found = entry.node, 0
        for part, bit in choice:
            node, found = meet_nodes(node, part), found | bit
        yield Way(node, found)


def speaks_of(asked: Some, entry: Property | KeyClass) -> bool:
    """Return whether a key, or some key of a class, is one of those of which ``asked`` wants one."""
    if isinstance(entry, Property):
        return holds_text(asked.texts, entry.name)
    return common_texts(asked.texts, entry.texts) is not None


def closed_needs(shape: ObjectShape, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each name the bits of all keys that its presence requires, in the end."""
    positions = {name: index for index, name in enumerate(names)}
    direct = [0] * len(names)
    for name, others in shape.needs:
        direct[positions[name]] |= sum(1 << positions[other] for other in dict.fromkeys(others))
    closed, has_changed = list(direct), any(direct)
    order = _needed_first(direct) if has_changed else []
    # One round does but for keys that need each other in circles.
    while has_changed:
        has_changed = False
        for index in order:
            wider = closed[index]
            for other in bits_of(direct[index]):
                wider |= closed[other]
            has_changed |= wider != closed[index]
            closed[index] = wider
    return tuple(closed)


def _needed_first(direct: list[int]) -> list[int]:
    """Return the positions such that each comes behind those that it needs, circles apart."""
    order: list[int] = []
    left = sum(1 << index for index, needed in enumerate(direct) if needed)
    while left:
        path = [left.bit_length() - 1]
        left &= ~(1 << path[0])
        while path:
            following = direct[path[-1]] & left
            if following:
                path.append(following.bit_length() - 1)
                left &= ~(1 << path[-1])
            else:
                order.append(path.pop())
    return order


def bits_of(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Hold what is known of the keys of one object shape, whatever their nodes turn out to hold.

    Attributes:
        shape: the shape.
        names: every key that the shape speaks of by name.
        nodes: what each of them must hold where no ``some`` is asked of it.
        ways: for each of them the ways to judge it; none where no ``some`` is asked.
        classes: the classes of undeclared keys, split by ``some``, that are more than a few known by name.
        needs: for each name, the bits of those that its presence requires, in the end.
        required: bit n says that the n-th must be there, in the end.
    """

    shape: ObjectShape
    names: tuple[str, ...]
    nodes: tuple[Node, ...]
    ways: tuple[tuple[Way, ...], ...]
    classes: tuple[KeyClass, ...]
    needs: tuple[int, ...]
    required: int

    @staticmethod
    def of(shape: ObjectShape, names: tuple[str, ...]) -> Asked:
        """Return what is known of the keys of ``shape``, its names in the order given."""
        entries = [shape.entry(name) for name in names]
        needs = closed_needs(shape, names)
        positions = {name: index for index, name in enumerate(names)}
        required = 0
        for name in shape.required:
            required |= 1 << positions[name] | needs[positions[name]]
        return Asked(
            shape,
            names,
            tuple(entry.node for entry in entries),
            tuple(tuple(ways_of(shape.some, entry)) for entry in entries) if shape.some else (),
            tuple(
                keys
                for keys in shape.split_classes()
                if keys.texts == ANY_TEXT or few_texts(keys.texts, MAX_NAMED_KEYS) is None
            ),
            needs,
            required,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Hold the keys of one object shape, given which nodes can hold a value.

    Attributes:
        names: every key that the shape speaks of by name.
        required: bit n says that the n-th must be there, in the end.
        possible: bit n says that the n-th can be there.
        needs: for each name, the bits of those that its presence requires.
        classes: classes of undeclared keys that can hold a value, split by ``some``.
        capacity: how many undeclared keys there are, up to ``least`` and a bit more.
        witnesses: for each ``some``, the bits of the names that can be what it asks for.
        together: for each name, the sets of ``some`` for which it can be it at once, as bits.
        has_other_witness: for each ``some``, whether an undeclared key can be.
        least: fewest keys.
        most: most keys; None has no bound.
        is_strict: what is not sure to be finished counts as lost: for ``generate``.
        is_plain: no key depends on another, nor on how many there are.
        needing: bit n says that the presence of the n-th name requires others.
    """

    names: tuple[str, ...]
    required: int
    possible: int
    needs: tuple[int, ...]
    classes: tuple[KeyClass, ...]
    capacity: int
    witnesses: tuple[int, ...]
    together: tuple[tuple[int, ...], ...]
    has_other_witness: tuple[bool, ...]
    least: int
    most: int | None
    is_strict: bool
    is_plain: bool = field(init=False)
    needing: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "needing", sum(1 << index for index, needed in enumerate(self.needs) if needed))
        is_plain = not (self.least or self.witnesses or self.most is not None or self.needing)
        object.__setattr__(self, "is_plain", is_plain)

    @staticmethod
    def of(shape: ObjectShape, fits: Fits, names: tuple[str, ...], *, is_strict: bool = False) -> Keys:
        """Return the keys of ``shape``, its names in the order given."""
        return Keys.among(Asked.of(shape, names), fits, is_strict=is_strict)

    @staticmethod
    def among(asked: Asked, fits: Fits, *, is_strict: bool = False) -> Keys:
        """Return the keys that there can be where ``fits`` says which nodes can hold a value."""
        shape, names, needs = asked.shape, asked.names, asked.needs
        possible = sum(1 << index for index, node in enumerate(asked.nodes) if fits(node))
        possible = sum(1 << index for index in bits_of(possible) if needs[index] & ~possible == 0)
        classes = tuple(keys for keys in asked.classes if fits(keys.node))
        capacity = sum(_undeclared(keys, names, shape.least) for keys in classes) if shape.least else 0
        together = tuple(tuple(way.found for way in ways if way.found and fits(way.node)) for ways in asked.ways)
        witnesses = tuple(
            sum(1 << index for index in bits_of(possible) if any(way >> number & 1 for way in together[index]))
            for number in range(len(shape.some))
        )
        others = tuple(
            any(speaks_of(some, keys) and fits(meet_nodes(keys.node, some.node)) for keys in classes)
            for some in shape.some
        )
        return Keys(
            names,
            asked.required,
            possible,
            needs,
            classes,
            capacity,
            witnesses,
            together,
            others,
            shape.least,
            shape.most,
            is_strict,
        )

    def wanted(self, declared: int) -> int:
        """Return the bits of the names that must be there once those of ``declared`` are."""
        found = self.required
        for index in bits_of(declared & self.needing):
            found |= self.needs[index]
        return found

    def can_finish(
        self,
        declared: int,
        others: int,
        found: int,
        ahead: int,
        *,
        is_open: bool = True,
        wanted: int | None = None,
    ) -> bool:
        """Return whether an object can still be finished.

        Args:
            declared: bits of the names that were read.
            others: number of undeclared keys that were read.
            found: bits of the ``some`` that have what they ask for.
            ahead: bits of the names that may still come.
            is_open: undeclared keys may still come.
            wanted: what ``wanted(declared)`` gives, where that is known.
        """
        needed = (self.wanted(declared) if wanted is None else wanted) & ~declared
        ahead &= self.possible & ~declared
        if needed & ~ahead:
            return False
        if self.is_plain:
            return True
        count, outstanding = declared.bit_count() + others, needed.bit_count()
        if self.most is not None and count + outstanding > self.most:
            return False
        if not self.least and not self.witnesses:
            return True
        takable, needing = ahead, ahead & self.needing
        is_looked_at = needing.bit_count() <= MAX_NEEDING
        # A possible key needs none but possible ones, so where all of these can still come there is nothing to ask.
        if is_looked_at and self.possible & ~(declared | ahead):
            for index in bits_of(needing):
                if self.needs[index] & ~(declared | ahead):
                    takable &= ~(1 << index)
        free = max(self.capacity - others, 0) if is_open else 0
        if count + takable.bit_count() + free < self.least:
            return False
        is_bounded = is_looked_at and self.most is not None and self.least > 0 and takable & self.needing != 0
        if is_bounded and not self._may_fit(declared, needed, takable, others, free):
            return False
        missing = [number for number in range(len(self.witnesses)) if not found >> number & 1]
        if not missing:
            return True
        if self.most is not None and count + outstanding >= self.most:
            # Only one is asked for where keys are bounded, and a key that must come anyway has to be it.
            return bool(self.witnesses[missing[0]] & needed)
        return self._are_found(missing, takable, is_open=is_open)

    def _may_fit(self, declared: int, needed: int, takable: int, others: int, free: int) -> bool:
        """Return whether the fewest keys can be reached without passing the most, where keys bring others along.

        With few such keys every choice is looked at. With many, those that bring the fewest are taken first; where
        that does not do, another choice might: who writes must not rely on it, who reads must not refuse it.
        """
        taken, bringing = declared | needed, takable & self.needing & ~needed
        alone = takable & ~self.needing
        if bringing.bit_count() <= MAX_BRINGING:
            chosen = {taken}
            for index in bits_of(bringing):
                chosen |= {bits | self.needs[index] | 1 << index for bits in chosen}
            return any(self._fits_with(bits, alone, others, free) for bits in chosen)
        while not self._fits_with(taken, alone, others, free):
            brought = [self.needs[index] | 1 << index for index in bits_of(bringing & ~taken)]
            if not brought:
                return not self.is_strict
            taken |= min(brought, key=lambda bits: (bits & ~taken).bit_count())
        return True

    def _fits_with(self, taken: int, alone: int, others: int, free: int) -> bool:
        """Return whether the keys taken, and as many as it takes of those that bring none, are neither few nor many."""
        assert self.most is not None
        count = taken.bit_count() + others
        return count <= self.most and (taken | alone).bit_count() + others + free >= self.least

    def _are_found(self, missing: list[int], takable: int, *, is_open: bool) -> bool:
        """Return whether keys of their own, or one for several, can be what each missing ``some`` asks for."""
        wanted = [number for number in missing if not (is_open and self.has_other_witness[number])]
        return self._assigned(wanted, takable)

    def _assigned(self, wanted: list[int], takable: int) -> bool:
        if not wanted:
            return True
        number, rest = wanted[0], wanted[1:]
        # So few are wanted that looking at as many candidates for each is enough.
        for index in islice(bits_of(self.witnesses[number] & takable), len(wanted)):
            for together in self.together[index]:
                if together >> number & 1:
                    left = [other for other in rest if not together >> other & 1]
                    if self._assigned(left, takable & ~(1 << index)):
                        return True
        return False


def _undeclared(keys: KeyClass, names: tuple[str, ...], least: int) -> int:
    """Return how many keys a class has that are not declared, up to ``least`` and a bit more."""
    wanted = least + len(names) + 1
    try:
        count = keys.texts.count(wanted)
    except TooManyStates:
        return wanted
    return max(count - sum(map(keys.texts.contains, names)), 0)


def object_can_finish(asked: Asked, fits: Fits) -> bool:
    """Return whether some object has the shape of which it is asked."""
    keys = Keys.among(asked, fits)
    return keys.can_finish(0, 0, 0, (1 << len(keys.names)) - 1)


__all__ = [
    "Asked",
    "Fits",
    "Keys",
    "Way",
    "array_can_finish",
    "bits_of",
    "closed_needs",
    "has_enough",
    "next_counts",
    "object_can_finish",
    "speaks_of",
    "ways_of",
]
