"""Collect what one group of a GBNF grammar is made of.

A group's parts pass into the group around it without a look at each, and no expression within it is hashed: work stays
linear however deep groups stand within one another. What comes out is as ``row`` and ``either`` would make it, but that
of equal options only words, classes and names are joined, and only those of the same group.
"""

from __future__ import annotations

from commitgate.automaton.grammar.expression import EMPTY_TEXT, Either, Expression, Row, Word, times


class Leaves:
    """Keep words, classes and names, so that equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[Expression, Expression] = {}

    def of(self, leaf: Expression) -> Expression:
        """Return the one object that equals ``leaf``; a word without characters is the empty text."""
        if isinstance(leaf, Word) and not leaf.text:
            return EMPTY_TEXT
        return self._known.setdefault(leaf, leaf)


class Group:
    """Collect the options of a group, or of a whole rule.

    Args:
        opened: where it begins, in characters.
        leaves: keeps the leaves of the grammar.

    Attributes:
        last: what was read last and may still be repeated; None at the beginning of an option.
        last_height: how many groups and repeated repetitions stand within ``last``, itself counted where it is one.
        is_repeatable: whether something is left of ``last``: an empty word and what stands ``{0}`` times are nothing.
    """

    def __init__(self, opened: int, leaves: Leaves) -> None:
        self.opened = opened
        self.last: Expression | None = None
        self.last_height = 0
        self.is_repeatable = False
        self._is_repeated = False
        self._leaves = leaves
        self._height = 0
        self._options: list[Expression] = []
        self._seen: set[int] = set()
        self._parts: list[Expression] = []
        self._words: list[str] = []

    @property
    def is_empty_option(self) -> bool:
        """Return whether nothing was put into the option that is being read."""
        return self.last is None and not self._parts and not self._words

    def put(self, part: Expression, height: int = 0) -> None:
        """Add a part behind all others."""
        self._settle()
        self.last = part
        self.last_height = height
        self.is_repeatable = height > 0 or part != EMPTY_TEXT

    def repeat(self, least: int, most: int | None) -> None:
        """Repeat the last part."""
        assert self.last is not None
        self.last_height += self._is_repeated
        self._is_repeated = True
        self.is_repeatable = most != 0
        self.last = EMPTY_TEXT if self.last == EMPTY_TEXT else times(self.last, least, most)

    def end_option(self) -> None:
        """End an option; what comes is another."""
        self._settle()
        self._flush()
        parts = self._parts
        option = EMPTY_TEXT if not parts else parts[0] if len(parts) == 1 else Row(tuple(parts))
        if parts:
            self._parts = []
        if isinstance(option, Either):
            self._options.extend(option.options)
        elif id(option) not in self._seen:
            self._seen.add(id(option))
            self._options.append(option)

    def finished(self) -> tuple[Expression, int]:
        """Return what the group denotes, and its height."""
        self.end_option()
        options = self._options
        return (options[0] if len(options) == 1 else Either(tuple(options))), self._height

    def _settle(self) -> None:
        """Place the last part, which nothing repeats any more."""
        part = self.last
        if part is None:
            return
        self.last = None
        self._height = max(self._height, self.last_height)
        self.last_height = 0
        self._is_repeated = False
        if isinstance(part, Word):
            self._words.append(part.text)
        elif isinstance(part, Row):
            self._open(part)
        else:
            self._flush()
            self._parts.append(part)

    def _open(self, inner: Row) -> None:
        parts = inner.parts
        if parts and isinstance(first := parts[0], Word):
            self._words.append(first.text)
            parts = parts[1:]
        if parts:
            self._flush()
            self._parts.extend(parts)
            if isinstance(last := self._parts[-1], Word):
                self._words.append(last.text)
                self._parts.pop()

    def _flush(self) -> None:
        """Join the words that met."""
        if self._words:
            self._parts.append(self._leaves.of(Word("".join(self._words))))
            self._words = []


__all__ = ["Group", "Leaves"]
