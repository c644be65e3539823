"""Cut deep expressions into rules, so that nothing that follows recurs deeper than a few levels.

The parsers bound how deep groups may nest, but not so low that Python's own stack would bear every later step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from commitgate.automaton.counts import counts_of_counts
from commitgate.automaton.grammar.expression import (
    Characters,
    Either,
    Embedded,
    Expression,
    Named,
    Regular,
    Row,
    Times,
    Word,
    Words,
)

MAX_DEPTH = 16
"""Most levels of rows, choices and repetition in one rule."""


def flattened(rules: Mapping[str, Expression]) -> dict[str, Expression]:
    """Return the same rules, none deeper than ``MAX_DEPTH``; what stood deeper has rules of its own behind them."""
    found = dict(rules)
    for name, expression in rules.items():
        if not _is_flat(expression):
            found[name] = _Flattening(name, found).flat(expression)
    return found


def _is_flat(root: Expression) -> bool:
    """Return whether an expression is no deeper than the bound and repeats no repetition."""
    waiting = [(root, 0)]
    while waiting:
        expression, depth = waiting.pop()
        if depth > MAX_DEPTH or (isinstance(expression, Times) and isinstance(expression.item, Times)):
            return False
        waiting.extend((part, depth + 1) for part in parts_of(expression))
    return True


class _Flattening:
    def __init__(self, owner: str, rules: dict[str, Expression]) -> None:
        self._owner = owner
        self._rules = rules
        self._made = 0

    def flat(self, root: Expression) -> Expression:
        """Return an expression no deeper than the bound; a loop, from the innermost parts outwards."""
        waiting: list[tuple[Expression, bool]] = [(root, False)]
        done: list[tuple[Expression, int]] = []
        while waiting:
            expression, is_entered = waiting.pop()
            parts = parts_of(expression)
            if parts and not is_entered:
                waiting.append((expression, True))
                waiting.extend((part, False) for part in reversed(parts))
                continue
            first = len(done) - len(parts)
            inner = done[first:]
            del done[first:]
            done.append(self._rebuilt(expression, inner))
        return done[0][0]

    def _rebuilt(self, expression: Expression, inner: list[tuple[Expression, int]]) -> tuple[Expression, int]:
        """Return the expression made of its flat parts, and its depth."""
        depth = max((depth for _, depth in inner), default=-1) + 1
        if depth > MAX_DEPTH:
            inner = [self._named(part) if depth == MAX_DEPTH else (part, depth) for part, depth in inner]
            depth = max(depth for _, depth in inner) + 1
        parts = tuple(part for part, _ in inner)
        match expression:
            case Row():
                return Row(parts), depth
            case Either():
                return Either(parts), depth
            case Times(_, least, most):
                return _times(parts[0], depth, least, most)
            case Word() | Words() | Characters() | Named() | Regular() | Embedded():
                return expression, 0
            case _:
                assert_never(expression)

    def _named(self, expression: Expression) -> tuple[Expression, int]:
        name = f"{self._owner}\N{MIDDLE DOT}{self._made}"
        self._made += 1
        while name in self._rules:
            name += "\N{MIDDLE DOT}"
        self._rules[name] = expression
        return Named(name), 0


def _times(item: Expression, depth: int, least: int, most: int | None) -> tuple[Expression, int]:
    """Return the repetition of an item, and its depth; one of a repetition is one itself, where its counts allow."""
    if isinstance(item, Times):
        counts = counts_of_counts((item.least, item.most), (least, most))
        if counts is not None:
            return Times(item.item, *counts), depth - 1
    return Times(item, least, most), depth


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is made of."""
    match expression:
        case Row(parts) | Either(parts):
            return parts
        case Times(item):
            return (item,)
        case Word() | Words() | Characters() | Named() | Regular() | Embedded():
            return ()
        case _:
            assert_never(expression)


__all__ = ["MAX_DEPTH", "flattened", "parts_of"]
