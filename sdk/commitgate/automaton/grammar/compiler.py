"""Turn the rules of a text into one term.

What holds no recursion becomes terms at once: words, classes, rows, choices and counted repetition of these, and the
rules that are made of them, where they are small. All other rules become symbols, which ``LeftCorners`` turns into
terms when a text reaches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.grammar.expression import (
    Characters,
    Either,
    Embedded,
    Expression,
    Named,
    Regular,
    Row,
    Rules,
    Times,
    Word,
    Words,
)
from commitgate.automaton.grammar.flattening import flattened, parts_of
from commitgate.automaton.grammar.left_corner import LeftCorners
from commitgate.automaton.grammar.meaning import TextMeaning
from commitgate.automaton.grammar.symbols import Nonterminal, Production, Repetition, Symbol, Terminal, prune
from commitgate.automaton.json_schema import Dialect
from commitgate.automaton.raw_text import OneCharacter, Repeat, Standing, spellable
from commitgate.automaton.terms import Arena, Term
from commitgate.automaton.text_language import TextLanguage, over_characters
from commitgate.errors import LimitExceededError
from commitgate.style import Style

if TYPE_CHECKING:
    from commitgate.contract import Contract

MAX_INLINED = 500
"""Most words, classes and groups of a rule, those of the rules that it names counted, that stands where it is named."""

MAX_INLINED_DEPTH = 48
"""Most levels within such a rule, those of the rules that it names counted: a derivative goes down all of them."""


def text_term(
    meaning: TextMeaning, arena: Arena, dialect: Dialect, alphabet: bytes | None, style: Style | None = None
) -> Term:
    """Return the term of the whole texts of a contract that is no JSON.

    Args:
        meaning: its rules.
        arena: where terms are made.
        dialect: how JSON within is read; the text around it is the same in both.
        alphabet: the bytes that can be written, sorted and distinct; None for all 256.
        style: how JSON within is written; None for the default.

    Returns:
        The empty term where no text can be written.

    Raises:
        LimitExceededError: it needs more states than ``Limits.states``, or a pattern's automaton is too large.
    """
    return rules_term(meaning.rules, arena, dialect, alphabet, style)


def rules_term(
    rules: Rules, arena: Arena, dialect: Dialect, alphabet: bytes | None, style: Style | None = None
) -> Term:
    """Return the term of a text of the rules; arguments and errors as of ``text_term``."""
    return _Compiler(rules.rules, arena, dialect, alphabet, style).start(rules.start)


class _Compiler:
    def __init__(
        self,
        rules: Mapping[str, Expression],
        arena: Arena,
        dialect: Dialect,
        alphabet: bytes | None,
        style: Style | None,
    ) -> None:
        self._rules = flattened(rules)
        self._arena = arena
        self._dialect: Dialect = dialect
        self._alphabet = alphabet
        self._style = style or Style()
        self._bytes = None if alphabet is None else frozenset(alphabet)
        self._writable = spellable(alphabet)
        self._is_open = self._writable.complement().is_empty
        self._weights: dict[str, _Weight | None] = {}
        self._inlined: dict[str, Term] = {}
        self._contracts: dict[int, Term] = {}
        self._symbols: dict[str, Nonterminal] = {}
        self._terminals: dict[int, Terminal] = {}
        self._nonterminals: list[Nonterminal] = []

    def start(self, name: str) -> Term:
        """Return the term of a rule."""
        self._inline(name)
        if self._is_regular(self._rules[name]):
            return self._term(self._rules[name])
        # Every rule that can be reached was weighed.
        self._symbols = {rule: self._new(rule) for rule in self._weights if rule not in self._inlined}
        for rule, symbol in self._symbols.items():
            symbol.productions = list(self._productions(self._rules[rule], rule))
        prune(self._nonterminals)
        return LeftCorners(self._arena).term(self._symbols[name])

    def _new(self, name: str) -> Nonterminal:
        found = Nonterminal(name)
        self._nonterminals.append(found)
        return found

    def _inline(self, start: str) -> None:
        """Make the terms of the rules that are small and not recursive, each after those that it names."""
        weights = self._weights
        waiting = [(start, iter(dict.fromkeys(_names(self._rules[start]))))]
        weights[start] = None
        while waiting:
            rule, names = waiting[-1]
            following = next((name for name in names if name not in weights), None)
            if following is not None:
                # Until it is done it counts as recursive: who names it meanwhile is part of a circle.
                weights[following] = None
                waiting.append((following, iter(dict.fromkeys(_names(self._rules[following])))))
                continue
            waiting.pop()
            weight = _weight(self._rules[rule], weights)
            if weight is not None and weight.count <= MAX_INLINED and weight.depth <= MAX_INLINED_DEPTH:
                weights[rule] = weight
                self._inlined[rule] = self._term(self._rules[rule])

    def _is_regular(self, expression: Expression) -> bool:
        weight = _weight(expression, self._weights)
        return weight is not None and weight.depth <= MAX_INLINED_DEPTH

    def _productions(self, expression: Expression, owner: str) -> Iterator[Production]:
        if isinstance(expression, Either) and not self._is_regular(expression):
            # What is regular among the options is one term, so that many words are told apart at once.
            regular: list[Expression] = []
            others: list[Expression] = []
            for option in expression.options:
                (regular if self._is_regular(option) else others).append(option)
            term = self._either(regular)
            if term is not self._arena.empty:
                yield (self._terminal(term),)
            for option in others:
                yield from self._productions(option, owner)
        elif isinstance(expression, Row):
            yield from self._production(expression.parts, owner)
        else:
            yield from self._production([expression], owner)

    def _production(self, parts: Iterable[Expression], owner: str) -> Iterator[Production]:
        """Yield the production of the parts in a row; none where one of them holds no text."""
        symbols: list[Symbol] = []
        terms: list[Term] = []
        for part in parts:
            symbol = self._symbol(part, owner)
            if symbol is None:
                return
            if isinstance(symbol, Terminal):
                terms.append(symbol.term)
                continue
            self._end_terminal(symbols, terms)
            symbols.append(symbol)
        self._end_terminal(symbols, terms)
        yield tuple(symbols)

    def _end_terminal(self, symbols: list[Symbol], terms: list[Term]) -> None:
        """Add the terms that stand in a row as one terminal."""
        term = self._arena.chain(*terms)
        terms.clear()
        if term is not self._arena.epsilon:
            symbols.append(self._terminal(term))

    def _symbol(self, expression: Expression, owner: str) -> Symbol | None:
        """Return the symbol of an expression; None where it holds no text."""
        if self._is_regular(expression):
            term = self._term(expression)
            return None if term is self._arena.empty else self._terminal(term)
        match expression:
            case Named(name):
                return self._symbols[name]
            case Times(item, least, most):
                return Repetition(self._nonterminal(item, owner), least, most)
            case _:
                return self._nonterminal(expression, owner)

    def _nonterminal(self, expression: Expression, owner: str) -> Nonterminal:
        if isinstance(expression, Named) and expression.name in self._symbols:
            return self._symbols[expression.name]
        found = self._new(owner)
        found.productions = list(self._productions(expression, owner))
        return found

    def _terminal(self, term: Term) -> Terminal:
        return self._terminals.setdefault(id(term), Terminal(term))

    def _term(self, expression: Expression) -> Term:
        """Return the term of an expression that names inlined rules alone."""
        arena = self._arena
        match expression:
            case Word(text):
                return self._words((text,))
            case Words(texts):
                return self._words(texts)
            case Characters(members):
                return OneCharacter.make(arena, members if self._is_open else members.intersection(self._writable))
            case Row(parts):
                return arena.chain(*map(self._term, parts))
            case Either(options):
                return self._either(options)
            case Times(item, least, most):
                return Repeat.make(self._term(item), least, most)
            case Named(name):
                return self._inlined[name]
            case Regular(language):
                return self._regular(language)
            case Embedded(contract):
                return self._embedded(contract)
            case _:
                assert_never(expression)

    def _embedded(self, contract: Contract[object]) -> Term:
        from commitgate.automaton.automaton import start_of

        found = self._contracts.get(id(contract))
        if found is None:
            found = start_of(contract, self._arena, self._dialect, self._alphabet, self._style)
            self._contracts[id(contract)] = found
        return found

    def _either(self, options: Iterable[Expression]) -> Term:
        words: list[str] = []
        others: list[Term] = []
        for option in options:
            if isinstance(option, Word):
                words.append(option.text)
            else:
                others.append(self._term(option))
        return self._arena.choice([self._words(words), *others])

    def _words(self, texts: Iterable[str]) -> Term:
        spelled = {text.encode() for text in texts}
        if self._bytes is not None:
            spelled = {data for data in spelled if self._bytes.issuperset(data)}
        return self._arena.literal_set(tuple(sorted(spelled)))

    def _regular(self, language: TextLanguage) -> Term:
        found: TextLanguage | None = language
        if not self._is_open:
            try:
                found = over_characters(self._writable)
                found = None if found is None else language.meet(found)
            except TooManyStates as error:
                raise LimitExceededError(
                    f"with this vocabulary a pattern needs {error}; make it smaller",
                    limit_name="pattern_states",
                    limit=error.limit,
                    found=error.limit + 1,
                    keyword="regex",
                ) from error
        return self._arena.empty if found is None else Standing.make(self._arena, found.state())


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names of the rules that an expression refers to, again for each time that it does."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Named):
            yield part.name
        waiting.extend(reversed(parts_of(part)))


@dataclass(frozen=True, slots=True)
class _Weight:
    """Hold how large an expression is.

    Attributes:
        count: its words, classes and groups.
        depth: levels of rows, choices and repetition within one another.
    """

    count: int
    depth: int


def _weight(expression: Expression, weights: Mapping[str, _Weight | None]) -> _Weight | None:
    """Return how large an expression is, the rules that it names counted; None where one is not to be inlined."""
    count, deepest = 0, 0
    waiting = [(expression, 0)]
    while waiting:
        part, depth = waiting.pop()
        inner = weights[part.name] if isinstance(part, Named) else _Weight(1, 0)
        if inner is None:
            return None
        count += inner.count
        deepest = max(deepest, depth + inner.depth)
        waiting.extend((each, depth + 1) for each in parts_of(part))
    return _Weight(count, deepest)


__all__ = ["MAX_INLINED", "MAX_INLINED_DEPTH", "rules_term", "text_term"]
