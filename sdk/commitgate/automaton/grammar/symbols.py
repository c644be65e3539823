"""Hold a grammar as symbols and productions, without what can never come to an end.

What refers to no recursive rule is a ``Terminal``: one term, whatever its size in words. A ``Nonterminal`` has
productions. A ``Repetition`` of what is not regular has one, its item and one round fewer, which is made when it is
asked for: counts are never unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from commitgate.automaton.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """Stand for the texts of a term, which is not the empty one."""

    term: Term


@dataclass(slots=True, eq=False)
class Nonterminal:
    """Stand for the texts of any of its productions.

    Attributes:
        name: the rule, or where in one it stands; for people.
        productions: each a row of symbols; empty for the empty text.
        nullable: the empty text is among its texts.
        has_text: a text that is not empty is among them.
    """

    name: str
    productions: list[tuple[Symbol, ...]] = field(default_factory=list["tuple[Symbol, ...]"])
    nullable: bool = False
    has_text: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Repetition:
    """Stand for ``item`` from ``least`` to ``most`` times; ``most`` is None or at least 1."""

    item: Nonterminal
    least: int
    most: int | None


Symbol: TypeAlias = Terminal | Nonterminal | Repetition
Production: TypeAlias = "tuple[Symbol, ...]"


def is_nullable(symbol: Symbol) -> bool:
    """Return whether the empty text is among a symbol's texts."""
    match symbol:
        case Terminal(term):
            return term.nullable
        case Nonterminal():
            return symbol.nullable
        case Repetition(item, least):
            return least == 0 or item.nullable


def has_text(symbol: Symbol) -> bool:
    """Return whether a text that is not empty is among a symbol's texts."""
    match symbol:
        case Terminal(term):
            return term is not term.arena.epsilon
        case Nonterminal():
            return symbol.has_text
        case Repetition(item):
            return item.has_text


def prune(nonterminals: Iterable[Nonterminal]) -> None:
    """Find which symbols have which texts, and drop every production that can never come to an end.

    It is the least fixpoint over the productions: each is looked at again only when a symbol in it has changed, so the
    whole takes time in proportion to the grammar.
    """
    known = list(nonterminals)
    users: dict[int, list[tuple[Nonterminal, Production]]] = {}
    waiting: list[tuple[Nonterminal, Production]] = []
    for owner in known:
        for production in owner.productions:
            waiting.append((owner, production))
            for part in {id(part): part for part in map(_nonterminal_of, production) if part is not None}.values():
                users.setdefault(id(part), []).append((owner, production))
    waiting.reverse()
    while waiting:
        owner, production = waiting.pop()
        if (owner.nullable and owner.has_text) or not _ends(production):
            continue
        nullable = owner.nullable or all(map(is_nullable, production))
        some = owner.has_text or any(map(has_text, production))
        if (nullable, some) != (owner.nullable, owner.has_text):
            owner.nullable, owner.has_text = nullable, some
            waiting.extend(users.get(id(owner), ()))
    for owner in known:
        owner.productions = list(dict.fromkeys(filter(_ends, owner.productions)))


def _nonterminal_of(symbol: Symbol) -> Nonterminal | None:
    match symbol:
        case Terminal():
            return None
        case Nonterminal():
            return symbol
        case Repetition(item):
            return item


def _ends(production: Production) -> bool:
    return all(is_nullable(symbol) or has_text(symbol) for symbol in production)


def beginnings(production: Production) -> Iterator[tuple[Symbol, Production]]:
    """Yield each symbol with which a text of a production may begin, and what stands behind it."""
    for index, symbol in enumerate(production):
        if has_text(symbol):
            yield symbol, production[index + 1 :]
        if not is_nullable(symbol):
            return


__all__ = [
    "Nonterminal",
    "Production",
    "Repetition",
    "Symbol",
    "Terminal",
    "beginnings",
    "has_text",
    "is_nullable",
    "prune",
]
